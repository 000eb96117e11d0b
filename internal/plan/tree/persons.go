package tree

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Persons is a subquery that is grouped by the unit: one row for each person who has a row in From. Its first field
// is the unit, then comes one for each of Parts.
type Persons struct {
	From  Relation
	Where Expr
	Parts []Part

	Row []Field
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

func (p *Persons) Fields() []Field                   { return p.Row }
func (p *Persons) Unit() int                         { return 0 }
func (p *Persons) Single() bool                      { return true }
func (p *Persons) PersonRows() int64                 { return 1 }
func (p *Persons) PersonGroups() int64               { return 1 }
func (p *Persons) EachTable(add func(*policy.Table)) { p.From.EachTable(add) }

// Limit is how many rows of one person count.
func (p *Persons) Limit() int64 { return p.From.PersonRows() }

func (p *Persons) format(b *strings.Builder) {
	fmt.Fprintf(b, "(persons %d", p.Limit())
	for _, part := range p.Parts {
		fmt.Fprintf(b, " %d", part.Kind)
		if part.Arg != nil {
			b.WriteByte(':')
			format(b, part.Arg, NoOutside)
		}
	}
	b.WriteString(" from ")
	p.From.format(b)
	if p.Where != nil {
		b.WriteString(" where ")
		format(b, p.Where, NoOutside)
	}
	b.WriteByte(')')
}
