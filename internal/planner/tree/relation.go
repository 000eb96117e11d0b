package tree

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Relation is where rows come from. The tree is closed: [Scan], [Join], [Union], [Select],
// [Persons], [Window] and [Cut], and an engine prints each of them and nothing else.
//
// Every row of a private relation belongs to one person, and the relation knows whose it
// is: Unit is the field that says so. It is found by what a column is, not by what it is
// called, and no expression can make one.
type Relation interface {
	// Fields are the columns of a row. Expressions name them by their place.
	Fields() []Field
	// Unit is the field that says whose a row is; -1 in a public relation.
	Unit() int
	// Single says that nobody has more than one row.
	Single() bool

	// rows is how many rows of one person count at most in one group, and groups in how many
	// groups. Any numbers would be private: noise is calibrated to them and rows are cut to
	// them. These are the ones at which an honest policy cuts nothing.
	PersonRows() int64
	PersonGroups() int64
	// tables adds the policy's tables below.
	EachTable(add func(*policy.Table))
	format(*strings.Builder)
}

type Field struct {
	Name     string // what analysts call it; empty where they cannot
	Type     Type
	Nullable bool
	// Source is the policy's column that this is, as declared; nil where it was computed.
	Source *policy.Column
	// Public names the public table that Source is a column of; empty for a private one.
	Public string
	// Identity says what the values of the field name: the unit, as in "customers.cid", a row of
	// another table, as in "orders.oid", or a row of its own. Fields with the same Identity are
	// equal exactly where they mean the same person, or the same row. It is empty for all others.
	Identity string
	// Key says that no two rows of the field's table have the same Identity.
	Key bool
	// Serial says that the field numbers the rows of each person, from 1 on: no two rows of a
	// person have the same number, but the largest that there can be, which stands for all above.
	Serial bool
	// Derived says that the field was computed from one that has an Identity.
	Derived bool
	// Twin is how far the field of kind [Identity], as it is stored, stands from a listed column
	// that has one; a declared column may be clamped, and two people be one in it.
	Twin int
}

// Raw reports whether the field is an identity as it is stored, which can be joined on and
// counted, and nothing else.
func (f Field) Raw() bool { return f.Type.Kind == Identity }

// format spells a field by what it is and not by what an analyst calls it: the policy's column, the
// identity, or nothing where it was computed, which the relation's own spelling says.
func (f Field) format() string {
	switch {
	case f.Source != nil && f.Public != "":
		return strconv.Quote(f.Public) + "." + strconv.Quote(f.Source.Name)
	case f.Source != nil:
		return strconv.Quote(f.Source.Name)
	}
	return strconv.Quote(f.Identity)
}

// Derived returns a column that says who or what a row is about, where an expression is computed
// from one. That two rows of a subquery are one person's is not what the expression computes.
func Derived(e Expr) *Column {
	var found *Column
	Walk(e, func(x Expr) {
		if c, ok := x.(*Column); ok && (c.Field.Derived || c.Field.Identity != "" && (!c.Field.Raw() || x == e)) {
			found = c
		}
	})
	return found
}

// Private reports whether a relation has rows of people.
func Private(r Relation) bool { return r.Unit() >= 0 }

// MostRows keeps products of limits in the range that a policy allows for one of them.
const MostRows = 1_000_000

func AtMost(n int64) int64 { return max(1, min(n, MostRows)) }

func FormatRelation(r Relation) string {
	var b strings.Builder
	r.format(&b)
	return b.String()
}

// Scan is the rows of one table of the policy: its listed columns as declared, and then, as they
// are stored, the columns that say whose a row is and what else it is a part of.
type Scan struct {
	Table *policy.Table

	Row       []Field
	UnitField int
}

func (s *Scan) Fields() []Field { return s.Row }
func (s *Scan) Unit() int       { return s.UnitField }

func (s *Scan) Single() bool {
	return s.Table.UnitKind == policy.Row || s.Table.UnitKind == policy.Unique
}

func (s *Scan) PersonRows() int64                 { return s.Table.MaxRows }
func (s *Scan) PersonGroups() int64               { return s.Table.MaxGroups }
func (s *Scan) EachTable(add func(*policy.Table)) { add(s.Table) }

// Stored returns the stored column of a field: the name of a listed one or of an identity. The unit
// of a table that leads to it by several steps is in no column of its own; the engine follows
// Table.Path. Nor is it where every row is a person. For both it is empty.
func (s *Scan) Stored(field int) string { return s.Row[field].Name }

// IdentityName names what a column's values name. Names may have dots in them, so that a.b.c could
// be a column of a or of a.b: rows of different people would be joined as one person's. Where there
// is such a dot the parts are quoted; no name has a quote.
func IdentityName(table, column string) string {
	if strings.ContainsRune(table+column, '.') {
		return fmt.Sprintf("%q.%q", table, column)
	}
	return table + "." + column
}

func (s *Scan) format(b *strings.Builder) {
	fmt.Fprintf(b, "%q", s.Table.Name)
	if !s.Table.Public {
		fmt.Fprintf(b, " unit %v %q", s.Table.UnitKind, s.Table.UnitColumn)
		for _, step := range s.Table.Path {
			fmt.Fprintf(b, " %q->%q.%q", step.Column, step.Table, step.Key)
		}
	}
}

// Select is a subquery without aggregates: some rows of a relation, with other columns. The last
// fields are the identities that it passes on, the unit among them.
type Select struct {
	From    Relation
	Where   Expr   // over From's fields; nil stands for true
	Columns []Expr // over From's fields, one for each of Fields
	// One says that Where leaves of each person's rows the one with a number: that a field with
	// Serial is a constant, below the largest that it can be.
	One bool

	Row       []Field
	UnitField int
}

func (s *Select) Fields() []Field                   { return s.Row }
func (s *Select) Unit() int                         { return s.UnitField }
func (s *Select) Single() bool                      { return s.One || s.From.Single() }
func (s *Select) EachTable(add func(*policy.Table)) { s.From.EachTable(add) }

func (s *Select) PersonRows() int64 {
	if s.One {
		return 1
	}
	return s.From.PersonRows()
}

func (s *Select) PersonGroups() int64 {
	if s.One {
		return 1
	}
	return s.From.PersonGroups()
}

func (s *Select) format(b *strings.Builder) {
	b.WriteString("(select")
	for _, c := range s.Columns {
		b.WriteByte(' ')
		format(b, c)
	}
	formatFrom(b, s.From, s.Where)
}

// formatFrom writes the end of a relation that is made of another one's rows.
func formatFrom(b *strings.Builder, from Relation, where Expr) {
	b.WriteString(" from ")
	from.format(b)
	if where != nil {
		b.WriteString(" where ")
		format(b, where)
	}
	b.WriteByte(')')
}

// Union is UNION ALL: the rows of all parts. The parts have as many fields, of the same kinds and
// on the same lattices, in the same order; a field's interval holds those of all parts.
type Union struct {
	Parts []*Select

	Row      []Field
	IsSingle bool
}

func (u *Union) Fields() []Field { return u.Row }
func (u *Union) Unit() int       { return u.Parts[0].Unit() }
func (u *Union) Single() bool    { return u.IsSingle }

func (u *Union) PersonRows() int64 {
	if u.IsSingle {
		return 1
	}
	n := int64(0)
	for _, p := range u.Parts {
		n = AtMost(n + p.PersonRows())
	}
	return n
}

func (u *Union) PersonGroups() int64 {
	if u.IsSingle {
		return 1
	}
	n := int64(0)
	for _, p := range u.Parts {
		n = AtMost(n + p.PersonGroups())
	}
	return n
}

func (u *Union) EachTable(add func(*policy.Table)) {
	for _, p := range u.Parts {
		p.EachTable(add)
	}
}

func (u *Union) format(b *strings.Builder) {
	b.WriteString("(union")
	for _, p := range u.Parts {
		b.WriteByte(' ')
		p.format(b)
	}
	b.WriteByte(')')
}

// Join pairs rows. Two private relations are joined where both rows are one person's, or parts of
// one thing that is: On then has, among what it asks for, that two identities are equal. With a
// public relation On can be anything.
type Join struct {
	Left bool // LEFT JOIN: rows of L without a partner stay, with NULLs
	// Full is a FULL JOIN: rows of R without a partner stay too. It is Left as well. Both sides are
	// private, and On says that both rows are about one person and nothing else, so whether a row
	// has a partner depends on the rows of its person alone. The last field, after those of L and
	// R, is the person: that of the one side or, where it has no row, that of the other.
	Full bool
	L, R Relation
	On   Expr // over the fields of L and then those of R; nil stands for true

	Row       []Field
	UnitField int
	IsSingle  bool
	Many      int64
	Fans      int // how many joins, this one among them, multiply the rows of a person by those of the same person
}

func (j *Join) Fields() []Field   { return j.Row }
func (j *Join) Unit() int         { return j.UnitField }
func (j *Join) Single() bool      { return j.IsSingle }
func (j *Join) PersonRows() int64 { return j.Many }

func (j *Join) PersonGroups() int64 {
	switch {
	case j.IsSingle:
		return 1
	case !Private(j.L):
		return max(j.R.PersonGroups(), AtMost(j.L.PersonRows()))
	case !Private(j.R):
		return max(j.L.PersonGroups(), AtMost(j.R.PersonRows()))
	}
	return max(j.L.PersonGroups(), j.R.PersonGroups())
}

func (j *Join) EachTable(add func(*policy.Table)) {
	j.L.EachTable(add)
	j.R.EachTable(add)
}

func (j *Join) format(b *strings.Builder) {
	b.WriteString("(join")
	switch {
	case j.Full:
		b.WriteString(" full")
	case j.Left:
		b.WriteString(" left")
	}
	b.WriteByte(' ')
	j.L.format(b)
	b.WriteByte(' ')
	j.R.format(b)
	if j.On != nil {
		b.WriteString(" on ")
		format(b, j.On)
	}
	b.WriteByte(')')
}

// Hashable reports whether an engine finds the partners of a row by a table of hashes where there
// are equalities: each condition compares something of the one side with something of the other, or
// is about the right side alone. Otherwise it looks at every pair of rows there is.
func (j *Join) Hashable() bool { return hashable(j.On, len(j.L.Fields())) }

// Apart returns the conditions that are about the right side alone, and the others, of a join that
// has some; nil stands for none.
func (j *Join) Apart() (right, others Expr) {
	var lists [2][]Expr
	var add func(e Expr)
	add = func(e Expr) {
		if and, ok := e.(*Logic); ok && and.Op == And {
			for _, a := range and.Args {
				add(a)
			}
			return
		}
		at := 1
		if l, r := namedSides(e, len(j.L.Fields())); !l && r {
			at = 0
		}
		lists[at] = append(lists[at], e)
	}
	add(j.On)
	return conjunction(lists[0]), conjunction(lists[1])
}

func conjunction(all []Expr) Expr {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return &Logic{Op: And, Args: all}
}

func hashable(on Expr, n int) bool {
	if and, ok := on.(*Logic); ok && and.Op == And {
		for _, a := range and.Args {
			if !hashable(a, n) {
				return false
			}
		}
		return true
	}
	if l, r := namedSides(on, n); !l && r {
		return true
	}
	c, ok := on.(*Compare)
	if !ok {
		return false
	}
	l1, r1 := namedSides(c.L, n)
	l2, r2 := namedSides(c.R, n)
	return l1 && !r1 && !l2 && r2 || !l1 && r1 && l2 && !r2
}

// namedSides says whether an expression names fields of the left side of a join, and of the right.
func namedSides(e Expr, n int) (left, right bool) {
	Walk(e, func(x Expr) {
		if c, ok := x.(*Column); ok {
			left, right = left || c.Index < n, right || c.Index >= n
		}
	})
	return left, right
}
