package plan

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Select is a subquery without aggregates: some rows of a relation, with other columns. The last fields are
// the identities that it passes on, the unit among them.
type Select struct {
	From    Relation
	Where   Expr   // over From's fields; nil stands for true
	Columns []Expr // over From's fields, one for each of Fields

	fields []Field
	unit   int
}

func (s *Select) Fields() []Field { return s.fields }
func (s *Select) Unit() int       { return s.unit }
func (s *Select) Single() bool    { return s.From.Single() }
func (s *Select) rows() int64     { return s.From.rows() }
func (s *Select) groups() int64   { return s.From.groups() }

func (s *Select) tables(add func(*policy.Table)) { s.From.tables(add) }

// newSelect makes a subquery from named columns over a relation's fields.
func newSelect(from Relation, where Expr, names []string, columns []Expr) *Select {
	s := &Select{From: from, Where: where, unit: -1}
	for i, e := range columns {
		f := Field{Name: names[i], Type: e.Type(), Nullable: nullable(e), Once: once(e), Derived: derived(e) != nil}
		if c, ok := e.(*Column); ok {
			f = c.Field
			f.Name = names[i]
		}
		s.Columns, s.fields = append(s.Columns, e), append(s.fields, f)
	}
	for i, e := range columns {
		if c, ok := e.(*Column); ok && c.Field.Identity != "" && !c.Field.raw() {
			s.fields[i].Twin = s.pass(c.Index+c.Field.Twin) - i
		}
	}
	if private(from) {
		s.unit = s.pass(from.Unit())
	}
	return s
}

// pass adds a field of From as it is, without a name, once.
func (s *Select) pass(field int) int {
	for i, e := range s.Columns {
		if c, ok := e.(*Column); ok && c.Index == field && s.fields[i].raw() && s.fields[i].Name == "" {
			return i
		}
	}
	return s.append(field)
}

// append adds a field of From as it is, without a name.
func (s *Select) append(field int) int {
	f := s.From.Fields()[field]
	f.Name = ""
	s.Columns, s.fields = append(s.Columns, columnOf(s.From, field)), append(s.fields, f)
	return len(s.fields) - 1
}

func (s *Select) format(b *strings.Builder) {
	b.WriteString("(select")
	for _, c := range s.Columns {
		b.WriteByte(' ')
		format(b, c)
	}
	b.WriteString(" from ")
	s.From.format(b)
	if s.Where != nil {
		b.WriteString(" where ")
		format(b, s.Where)
	}
	b.WriteByte(')')
}

// Union is UNION ALL: the rows of all parts. The parts have as many fields, of the same kinds and on the
// same lattices, in the same order; a field's interval holds those of all parts.
type Union struct {
	Parts []*Select

	fields []Field
	single bool
}

func (u *Union) Fields() []Field { return u.fields }
func (u *Union) Unit() int       { return u.Parts[0].Unit() }
func (u *Union) Single() bool    { return u.single }

func (u *Union) rows() int64 {
	if u.single {
		return 1
	}
	n := int64(0)
	for _, p := range u.Parts {
		n = atMost(n + p.rows())
	}
	return n
}

func (u *Union) groups() int64 {
	if u.single {
		return 1
	}
	n := int64(0)
	for _, p := range u.Parts {
		n = atMost(n + p.groups())
	}
	return n
}

func (u *Union) tables(add func(*policy.Table)) {
	for _, p := range u.Parts {
		p.tables(add)
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

// Persons is a subquery that is grouped by the unit: one row for each person who has a row in From. Its first field
// is the unit, then comes one for each of Parts.
type Persons struct {
	From  Relation
	Where Expr
	Parts []Part

	fields []Field
}

// Part is an aggregate of one person's rows. Its value is cut to its field's interval.
type Part struct {
	Kind PartKind
	Arg  Expr // over From's fields; nil for PartRows
}

// PartKind says what a Part computes.
type PartKind int

const (
	// PartRows counts the person's rows, up to the limit of rows.
	PartRows PartKind = iota
	// PartValues counts those where Arg is not NULL.
	PartValues
	// PartSum adds up Arg; NULL where there is no value.
	PartSum
	// PartMin is the smallest value of Arg.
	PartMin
	// PartMax is the largest.
	PartMax
)

func (p *Persons) Fields() []Field { return p.fields }
func (p *Persons) Unit() int       { return 0 }
func (p *Persons) Single() bool    { return true }
func (p *Persons) rows() int64     { return 1 }
func (p *Persons) groups() int64   { return 1 }

func (p *Persons) tables(add func(*policy.Table)) { p.From.tables(add) }

// Limit is how many rows of one person count.
func (p *Persons) Limit() int64 { return p.From.rows() }

func (p *Persons) format(b *strings.Builder) {
	fmt.Fprintf(b, "(persons %d", p.Limit())
	for _, part := range p.Parts {
		fmt.Fprintf(b, " %d", part.Kind)
		if part.Arg != nil {
			b.WriteByte(':')
			format(b, part.Arg)
		}
	}
	b.WriteString(" from ")
	p.From.format(b)
	if p.Where != nil {
		b.WriteString(" where ")
		format(b, p.Where)
	}
	b.WriteByte(')')
}
