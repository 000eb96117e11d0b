package duckdb

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// declared prints a stored column as the policy declares it, for every stored value:
// cast, rounded to the lattice, clamped to the bounds, or NULL.
func (t *table) declared(name string) string { return t.total(name, t.bounded(name)) }

// total prints what is made of a stored column so that no value makes it fail, as everything that is computed from a row. Nothing is
// made of an integer or a text but what cannot.
func (t *table) total(name, text string) string {
	typ := t.stored[name].typ
	if c := t.Columns[name]; t.cast(name) == t.raw(name) || c.Type == policy.Integer && c.Granularity.Cmp(one) == 0 && narrow(typ) {
		return text
	}
	return "TRY(" + text + ")"
}

// bounded prints a stored column as it is declared.
func (t *table) bounded(name string) string {
	c := t.Columns[name]
	if c.Bounds == nil {
		return t.cast(name)
	}
	// Where DuckDB's statistics prove that nothing is outside, one condition is left of this that is false,
	// and not two as in clamp. Where they do not it takes as long.
	x, lo, hi := t.cast(name), c.Bounds.LoSteps, c.Bounds.HiSteps
	return fmt.Sprintf("CASE WHEN %s < %d OR %s > %d THEN CASE WHEN %s < %d THEN %d ELSE %d END ELSE %s END", x, lo, x, hi, x, lo, lo, hi, x)
}

// raw prints a stored column. A text column of a database may have a collation, under
// which texts that differ are one: two people, or a key and something else. It
// is compared by its bytes, as every text is. To say so costs time, so it is said
// only where it is needed.
func (t *table) raw(name string) string {
	c := t.stored[name]
	if t.collated && c.typ == "VARCHAR" {
		return quoteName(c.name) + ` COLLATE "binary"`
	}
	return quoteName(c.name)
}

// cast prints a stored column in its declared type and on its lattice, or NULL.
func (t *table) cast(name string) string {
	stored := t.stored[name]
	raw := t.raw(name)
	c := t.Columns[name]
	switch c.Type {
	case policy.Text:
		if stored.typ == "VARCHAR" {
			return raw
		}
		return "TRY_CAST(" + raw + " AS VARCHAR)"
	case policy.Boolean:
		return "TRY_CAST(" + raw + " AS BOOLEAN)"
	case policy.Date:
		if strings.HasPrefix(stored.typ, "TIMESTAMP_") {
			// An infinite time of another unit fails on its way to a date, even in TRY_CAST.
			raw = "TRY_CAST(" + raw + " AS TIMESTAMP)"
		}
		day := "TRY_CAST(" + raw + " AS DATE)"
		return "CASE WHEN isfinite(" + day + ") THEN " + day + " - DATE '1970-01-01' END"
	}
	if c.Type == policy.Timestamp {
		moment := raw
		if stored.typ != "TIMESTAMP WITH TIME ZONE" { // which is in UTC, and has no other range
			moment = "TRY_CAST(" + raw + " AS TIMESTAMP)"
		}
		return "CASE WHEN isfinite(" + moment + ") THEN epoch_us(" + moment + ") END"
	}
	if _, ok := t.prepared[name]; ok && stored.typ == "BIGINT" && name != t.UnitColumn {
		return raw // on its lattice already
	}
	if c.Granularity == nil { // a decimal that can only be compared
		real := "TRY_CAST(" + raw + " AS DOUBLE)"
		return "CASE WHEN isfinite(" + real + ") THEN " + real + " END"
	}
	steps := raw
	if c.Type == policy.Decimal || c.Granularity.Cmp(one) != 0 {
		// Rounding to the lattice happens for each row by itself, so its
		// floating point can move a person by no more than a step, inside the clamp.
		steps = "TRY_CAST(" + raw + " AS DOUBLE)"
		if d := c.Granularity.Denom(); d.Cmp(one.Num()) != 0 {
			steps += " * " + d.String() + "::DOUBLE"
		}
		if n := c.Granularity.Num(); n.Cmp(one.Num()) != 0 {
			steps += " / " + n.String() + "::DOUBLE"
		}
	}
	switch {
	case steps == raw && stored.typ == "BIGINT":
	case steps == raw && narrow(stored.typ):
		// It cannot fail, and DuckDB sees through it: where the bounds hold for all stored values it drops the clamp.
		steps = "CAST(" + steps + " AS BIGINT)"
	default:
		steps = "TRY_CAST(" + steps + " AS BIGINT)"
	}
	return steps
}

// narrow reports whether every value of a type is a BIGINT.
func narrow(typ string) bool {
	switch typ {
	case "TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER":
		return true
	}
	return false
}

// onLattice prints a number's column on its lattice: as it is stored where that is an integer of
// up to 64 bits already, so that nothing has to be cast.
func (t *table) onLattice(name string) string {
	if c := t.Columns[name]; c.Type == policy.Integer && c.Granularity.Cmp(one) == 0 && narrow(t.stored[name].typ) {
		return t.raw(name)
	}
	return t.total(name, t.cast(name))
}

var one = big.NewRat(1, 1)

// clampTo prints the clamp of a number or a time to the interval of its type, where it has one.
func clampTo(x string, t tree.Type) string {
	if t.Lo == nil || t.Hi == nil {
		return x
	}
	return clamp(x, t.Lo, t.Hi)
}

// clamp prints the clamp of an integer. CASE is three times faster than least and
// greatest here.
func clamp(x string, lo, hi *big.Int) string {
	return fmt.Sprintf("CASE WHEN %s < %v THEN %v WHEN %s > %v THEN %v ELSE %s END", x, lo, lo, x, hi, hi, x)
}
