package tree

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Persons is a subquery that is grouped by the unit: one row for each person who has a row in From,
// or, where there are Keys, one for each person and combination of theirs. Its first field is the
// unit, then comes one for each of Keys, and then one for each of Parts.
type Persons struct {
	From  Relation
	Where Expr
	Keys  []Expr // over From's fields; NULL is a key like others
	Parts []Part

	Row []Field
}

// Part is an aggregate of one person's rows. Its value is cut to its field's interval.
type Part struct {
	Kind PartKind
	Arg  Expr // over From's fields; nil where nothing is computed from a row
	// Uncut says that rows beyond the limit count too, up to [MostUncut]: an average divides such
	// a sum by such a count.
	Uncut bool
}

// MostUncut is how many rows of one person there can be.
const MostUncut = 1 << 40

// PartKind says what a Part computes.
type PartKind int

// The numbers are part of how a question is spelt, and so of what is remembered: a new kind comes
// behind all others.
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
	// PartDistinct counts the different values of Arg.
	PartDistinct
	// PartAny is whether Arg is true in some row; NULL where it is NULL in all.
	PartAny
	// PartAll is whether Arg is false in none; NULL where it is NULL in all.
	PartAll

	// What follows is of a [Window] alone.

	// PartFirst, PartLast and PartNth are Arg in the first, the last and the N-th row of the frame.
	PartFirst
	PartLast
	PartNth
	// PartLag and PartLead are Arg in the row that stands N rows before, or after.
	PartLag
	PartLead
	// PartNumber is which row it is, from 1 on. PartRank and PartDense give rows that are equal in
	// the order one number.
	PartNumber
	PartRank
	PartDense
	// PartTile is in which of N parts of about the same size a row is.
	PartTile
)

// Counts reports whether it is a number of rows, or of a row, and is never NULL.
func (k PartKind) Counts() bool {
	switch k {
	case PartRows, PartValues, PartDistinct, PartNumber, PartRank, PartDense, PartTile:
		return true
	}
	return false
}

func (p *Persons) Fields() []Field                   { return p.Row }
func (p *Persons) Unit() int                         { return 0 }
func (p *Persons) Single() bool                      { return len(p.Keys) == 0 }
func (p *Persons) EachTable(add func(*policy.Table)) { p.From.EachTable(add) }

func (p *Persons) PersonRows() int64 {
	if p.Single() {
		return 1
	}
	return p.From.PersonRows()
}

func (p *Persons) PersonGroups() int64 {
	if p.Single() {
		return 1
	}
	return p.From.PersonGroups()
}

// First is the field of the first of Parts.
func (p *Persons) First() int { return 1 + len(p.Keys) }

// Limit is how many rows of one person count.
func (p *Persons) Limit() int64 { return p.From.PersonRows() }

func (p *Persons) format(b *strings.Builder) {
	fmt.Fprintf(b, "(persons %d", p.Limit())
	for _, part := range p.Parts {
		part.format(b)
	}
	for _, key := range p.Keys {
		b.WriteString(" by ")
		format(b, key, NoOutside)
	}
	formatFrom(b, p.From, p.Where)
}

// Format writes the part in one canonical spelling.
func (p Part) Format() string {
	var b strings.Builder
	p.format(&b)
	return b.String()
}

func (p Part) format(b *strings.Builder) {
	fmt.Fprintf(b, " %d", p.Kind)
	if p.Uncut {
		b.WriteByte('!')
	}
	if p.Arg != nil {
		b.WriteByte(':')
		format(b, p.Arg, NoOutside)
	}
}
