package tree

import (
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

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
		format(b, c, NoOutside)
	}
	formatFrom(b, s.From, s.Where)
}

// formatFrom writes the end of a relation that is made of another one's rows.
func formatFrom(b *strings.Builder, from Relation, where Expr) {
	b.WriteString(" from ")
	from.format(b)
	if where != nil {
		b.WriteString(" where ")
		format(b, where, NoOutside)
	}
	b.WriteByte(')')
}
