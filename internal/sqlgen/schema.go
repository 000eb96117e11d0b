package sqlgen

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Schema is how the tables of a dataset are stored, as far as statements depend on it.
type Schema struct {
	*Dialect
	Tables map[string]*Table
	Kinds  map[string]string // the type of each identity; see [Schema.FindKinds]
	ByRow  bool              // every row is a person
	// Keys are relations of public keys, as what follows IN, and Listed conditions that a key is
	// public, with %s where it stands. Columns that have none of them are compared with parameters.
	Keys   map[*policy.Column]string
	Listed map[*policy.Column]string
}

// NewSchema returns a schema to which tables have to be added, and kinds when all are.
func NewSchema(d *Dialect, ds *policy.Dataset) Schema {
	return Schema{Dialect: d, Tables: map[string]*Table{}, ByRow: ds.Unit.Row(), Keys: map[*policy.Column]string{},
		Listed: map[*policy.Column]string{}}
}

type Table struct {
	*policy.Table
	*Dialect
	From     string   // what follows FROM
	RowID    string   // what tells rows apart where each is a person; empty where nothing needs to
	Collated bool     // text columns may have a collation
	Convert  string   // how the owner stores columns in other types, where that takes more than to say which
	Paths    []string // the columns that paths use, which are compared as they are stored
	// Stored has the columns that a question can use, by the policy's name, and OnLattice those
	// that are on their lattice already.
	Stored    map[string]Column
	OnLattice map[string]bool
	// Codes names the columns that stand beside texts and have the place of each in a list, by the
	// policy's name of the text, and Number the one that numbers people in the order in which they
	// are stored, where there is one. Whoever prints them knows the lists.
	Codes  map[string]string
	Number string
	// Rows is about how many rows there are, in a number that everybody may know, or 0. Which side
	// of a join comes last follows from it; see [Printer].
	Rows int64
}

type Column struct {
	Name string // as stored
	Type string // as the database spells it
}

// Needed names the columns that a question can use.
func (t *Table) Needed() []string {
	names := t.ColumnNames()
	for _, name := range t.Paths {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Identities are compared as they are stored, because a cast to what the policy declares could make
// two people one. The other way round, somebody who is stored as DOUBLE 7.5 in one table and as
// DECIMAL 7.50 in another must not be two people, of whom each counts. So the columns of an
// identity have to be alike, which is decided when the data is opened, from their types and from no
// row: whole numbers of any width, texts, or one type. Alike means that a person has one spelling
// in all of them.

type bearer struct {
	table  *Table
	column string
}

func (b bearer) typ() string    { return b.table.Stored[b.column].Type }
func (b bearer) String() string { return b.table.Name + "." + b.column }

// FindKinds decides the type of each identity: the stored one where all columns have the same, 64
// bits where all are integers that fit, and otherwise text. It refuses columns that are not alike.
func (s *Schema) FindKinds(ds *policy.Dataset) error {
	bearers := map[string][]bearer{}
	var order []string // so that the same data has the same error
	add := func(identity, table, column string) {
		t := s.Tables[table]
		if t == nil || column == "" {
			return
		}
		if _, ok := t.Stored[column]; !ok {
			return
		}
		if bearers[identity] == nil {
			order = append(order, identity)
		}
		bearers[identity] = append(bearers[identity], bearer{t, column})
	}
	add(tree.IdentityName(ds.Unit.Table, ds.Unit.Column), ds.Unit.Table, ds.Unit.Column)
	for _, name := range ds.TableNames() {
		t := ds.Tables[name]
		add(tree.IdentityName(ds.Unit.Table, ds.Unit.Column), name, t.UnitColumn)
		if len(t.Path) > 1 {
			step := t.Path[0]
			add(StepIdentity(step), step.Table, step.Key)
			add(StepIdentity(step), name, step.Column)
		}
	}
	s.Kinds = map[string]string{}
	for _, identity := range order {
		var types []string
		for _, b := range bearers[identity] {
			if first := bearers[identity][0]; s.Likeness(b.typ()) != s.Likeness(first.typ()) {
				return unlike(first, b)
			}
			types = append(types, b.typ())
		}
		s.Kinds[identity] = s.Common(types)
	}
	return nil
}

// unlike says what is wrong with two columns, and what to do.
func unlike(a, b bearer) error {
	hint := "store both in the same type, such as BIGINT or VARCHAR"
	if convert := cmp.Or(a.table.Convert, b.table.Convert); convert != "" {
		hint += "; " + convert
	}
	return fmt.Errorf("%v is %s and %v is %s, and both identify the person: a person written in two ways would be two people, and "+
		"count twice; %s", a, a.typ(), b, b.typ(), hint)
}

// Identity prints a stored column in the type of an identity. No value makes it fail.
func (s *Schema) Identity(t *Table, column, identity string) string {
	raw, typ := t.Raw(column), s.Kinds[identity]
	if typ == "" || typ == t.Stored[column].Type {
		return raw
	}
	return s.TryCast(raw, typ)
}

// StepIdentity names what a step of a path leads to, as package planner does.
func StepIdentity(s policy.Step) string { return tree.IdentityName(s.Table, s.Key) }

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

func QuoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

var one = big.NewRat(1, 1)

// clampTo prints the clamp of a number or a time to the interval of its type, where it has one.
func (d *Dialect) clampTo(x string, t tree.Type) string {
	if t.Lo == nil || t.Hi == nil {
		return x
	}
	return d.clamp(x, t.Lo, t.Hi)
}

// clamp prints the clamp of an integer. CASE is three times faster than least and greatest here.
func (d *Dialect) clamp(x string, lo, hi *big.Int) string {
	low, high := d.Whole(lo), d.Whole(hi)
	return fmt.Sprintf("CASE WHEN %s < %s THEN %s WHEN %s > %s THEN %s ELSE %s END", x, low, low, x, high, high, x)
}
