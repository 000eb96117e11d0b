package dialect

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Declared prints a stored column as the policy declares it, for every stored value:
// cast, rounded to the lattice, clamped to the bounds, or NULL.
func (t *Table) Declared(name string) string { return t.total(name, t.bounded(name)) }

// total prints what is made of a stored column so that no value makes it fail, as everything that
// is computed from a row. Nothing is made of an integer or a text but what cannot.
func (t *Table) total(name, text string) string {
	if t.Cast(name) == t.Raw(name) || t.isNarrow(name) {
		return text
	}
	return t.Try(text)
}

// isNarrow reports whether a column holds whole numbers of 64 bits or less, and is declared so.
func (t *Table) isNarrow(name string) bool {
	c := t.Columns[name]
	return c.Type == policy.Integer && c.Granularity.Cmp(one) == 0 && t.Narrow(t.Stored[name].Type)
}

// bounded prints a stored column as it is declared.
func (t *Table) bounded(name string) string {
	c := t.Columns[name]
	if c.Bounds == nil {
		return t.Cast(name)
	}
	// Where a database's statistics prove that nothing is outside, one condition is left of this
	// that is false, and not two as in clamp. Where they do not it takes as long.
	x, lo, hi := t.Cast(name), c.Bounds.LoSteps, c.Bounds.HiSteps
	return fmt.Sprintf("CASE WHEN %s < %d OR %s > %d THEN CASE WHEN %s < %d THEN %d ELSE %d END ELSE %s END", x, lo, x, hi, x, lo, lo,
		hi, x)
}

// Raw prints a stored column. A text column of a database may have a collation, under which texts
// that differ are one: two people, or a key and something else. It is compared by its bytes, as
// every text is. To say so costs time, so it is said only where it is needed.
func (t *Table) Raw(name string) string {
	c := t.Stored[name]
	if t.Collated && c.Type == t.Text {
		return t.Binary(QuoteName(c.Name))
	}
	return QuoteName(c.Name)
}

// Cast prints a stored column in its declared type and on its lattice, or NULL.
func (t *Table) Cast(name string) string {
	typ, raw, c := t.Stored[name].Type, t.Raw(name), t.Columns[name]
	switch c.Type {
	case policy.Text:
		return t.ReadText(raw, typ)
	case policy.Boolean:
		return t.TryCast(raw, t.Bool)
	case policy.Date:
		return t.ReadDate(raw, typ)
	case policy.Timestamp:
		return t.ReadTimestamp(raw, typ)
	}
	if t.OnLattice[name] && typ == t.Int64 && name != t.UnitColumn {
		return raw // on its lattice already
	}
	if c.Granularity == nil { // a decimal that can only be compared
		real := t.TryCast(raw, t.Float64)
		return "CASE WHEN " + t.Finite(real) + " THEN " + real + " END"
	}
	return t.steps(raw, typ, c)
}

// steps prints how many steps of its lattice a stored number is.
func (t *Table) steps(raw, typ string, c *policy.Column) string {
	steps := raw
	if c.Type == policy.Decimal || c.Granularity.Cmp(one) != 0 {
		// Rounding to the lattice happens for each row by itself, so its
		// floating point can move a person by no more than a step, inside the clamp.
		steps = t.TryCast(raw, t.Float64)
		if d := c.Granularity.Denom(); d.Cmp(one.Num()) != 0 {
			steps += " * " + t.Double(d.String())
		}
		if n := c.Granularity.Num(); n.Cmp(one.Num()) != 0 {
			steps += " / " + t.Double(n.String())
		}
	}
	switch {
	case steps == raw && typ == t.Int64:
		return steps
	case steps == raw && t.Narrow(typ):
		// It cannot fail, and DuckDB sees through it: where the bounds hold for all stored values
		// it drops the clamp.
		return "CAST(" + steps + " AS " + t.Int64 + ")"
	case steps == raw:
		return t.TryCast(steps, t.Int64)
	}
	return t.Nearest(steps)
}

// lattice prints a number's column on its lattice: as it is stored where that is an integer of
// up to 64 bits already, so that nothing has to be cast.
func (t *Table) lattice(name string) string {
	if t.isNarrow(name) {
		return t.Raw(name)
	}
	return t.total(name, t.Cast(name))
}

// rowIdentity prints who a row is where each is a person: which row, and what is in it. What a
// person is cut to is chosen by the second. The first depends on how many rows come before, which
// are other people.
func (t *Table) rowIdentity() string {
	columns := []string{"0"}
	for _, name := range t.Needed() {
		columns = append(columns, t.Raw(name))
	}
	// Rows of two tables are two people, at the same place and with the same values too.
	return t.Row(t.Name, t.RowID, t.Hash(columns...))
}

// QuoteText writes a string constant. It is used for paths and names of the
// policy only; texts of a question are parameters.
func QuoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// QuoteName writes an identifier.
func QuoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

var one = big.NewRat(1, 1)

// clampTo prints the clamp of a number or a time to the interval of its type, where it has one.
func (d *Dialect) clampTo(x string, t tree.Type) string {
	if t.Lo == nil || t.Hi == nil {
		return x
	}
	return d.clamp(x, t.Lo, t.Hi)
}

// clamp prints the clamp of an integer. CASE is three times faster than least and
// greatest here.
func (d *Dialect) clamp(x string, lo, hi *big.Int) string {
	low, high := d.Whole(lo), d.Whole(hi)
	return fmt.Sprintf("CASE WHEN %s < %s THEN %s WHEN %s > %s THEN %s ELSE %s END", x, low, low, x, high, high, x)
}
