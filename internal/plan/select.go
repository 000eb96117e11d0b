package plan

import (
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
		format(b, c, noOutside)
	}
	b.WriteString(" from ")
	s.From.format(b)
	if s.Where != nil {
		b.WriteString(" where ")
		format(b, s.Where, noOutside)
	}
	b.WriteByte(')')
}
