package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Cut is at most Rows rows of each person, and no rows of nobody. It stands where a person's rows
// are about to be multiplied, so that the work of a join is bounded by a public number and not by
// the one person with the most rows; see [work].
//
// Which rows are kept depends on that person's rows alone. So whatever is above it moves no further
// between neighbours than it did without. An engine chooses by all fields of From, so none of them
// may be left to where a row is stored: a Cut stands below a [Window] and not on it.
type Cut struct {
	From Relation
	Rows int64
	// Sorted says that it stands there only because a person's rows are put into an order above. An
	// engine that does without may leave it out. It follows from the question, and is no part of
	// its spelling.
	Sorted bool
}

func (c *Cut) Fields() []Field                   { return c.From.Fields() }
func (c *Cut) Unit() int                         { return c.From.Unit() }
func (c *Cut) Single() bool                      { return c.From.Single() }
func (c *Cut) PersonRows() int64                 { return c.From.PersonRows() }
func (c *Cut) PersonGroups() int64               { return c.From.PersonGroups() }
func (c *Cut) EachTable(add func(*policy.Table)) { c.From.EachTable(add) }

// Salt makes the order in which rows are kept another one for other rows. It is public.
func (c *Cut) Salt() string {
	h := sha256.Sum256([]byte(FormatRelation(c)))
	return hex.EncodeToString(h[:])
}

func (c *Cut) format(b *strings.Builder) {
	fmt.Fprintf(b, "(cut %d ", c.Rows)
	c.From.format(b)
	b.WriteByte(')')
}

// Joined is how many rows of one person are there at most before they are joined with others of the
// same person or with public ones, at the place where that is least; 0 where nobody is cut.
func (q *Query) Joined() int64 {
	if c := leastCut(q.From, q.expressions()); c != nil {
		return c.Rows
	}
	return 0
}

// MaxJoined is what the policy says for the rows that [Query.Joined] counts, of which that follows;
// 0 where nobody is cut.
func (q *Query) MaxJoined() int64 {
	if c := leastCut(q.From, q.expressions()); c != nil {
		return Joinable(c.From)
	}
	return 0
}

// Joined is what [Query] has of the same name.
func (t *Table) Joined() int64 { return t.AsQuery().Joined() }

// expressions are all that are computed for the rows of a query.
func (q *Query) expressions() []Expr {
	var out []Expr
	if q.Where != nil {
		out = append(out, q.Where)
	}
	for _, k := range q.Keys {
		out = append(out, k.Expr)
	}
	for _, m := range q.Measures {
		if m.Arg != nil {
			out = append(out, m.Arg)
		}
	}
	return out
}

// leastCut is the smallest cut in a relation and in expressions over it; nil where there is none.
func leastCut(r Relation, over []Expr) *Cut {
	var found *Cut
	take := func(c *Cut) {
		if c != nil && (found == nil || c.Rows < found.Rows) {
			found = c
		}
	}
	switch r := r.(type) {
	case *Cut:
		take(r)
		take(leastCut(r.From, nil))
	case *Join:
		take(leastCut(r.L, nil))
		take(leastCut(r.R, []Expr{r.On}))
	case *Select:
		take(leastCut(r.From, append([]Expr{r.Where}, r.Columns...)))
	case *Union:
		for _, p := range r.Parts {
			take(leastCut(p, nil))
		}
	case *Persons:
		take(leastCut(r.From, append([]Expr{r.Where}, arguments(r)...)))
	case *Window:
		over := []Expr{r.Where}
		for _, o := range r.Calls {
			over = append(over, o.Expressions()...)
		}
		take(leastCut(r.From, over))
	}
	for _, e := range over {
		if e == nil {
			continue
		}
		Walk(e, func(x Expr) {
			if inner, ok := x.(*Exists); ok {
				take(leastCut(inner.From, nil))
			}
		})
	}
	return found
}

// arguments are what the parts of a subquery by person are computed from.
func arguments(p *Persons) []Expr {
	out := slices.Clone(p.Keys)
	for _, part := range p.Parts {
		if part.Arg != nil {
			out = append(out, part.Arg)
		}
	}
	return out
}

// Joinable is how many rows of one person the tables of a relation may have in a join.
func Joinable(r Relation) int64 {
	n := int64(policy.MostJoined)
	r.EachTable(func(t *policy.Table) {
		if !t.Public {
			n = min(n, t.Joined())
		}
	})
	return n
}

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
	limit := p.Limit()
	if len(p.Parts) == 1 && p.Parts[0].Kind == PartRows && p.Parts[0].Uncut {
		limit = 0 // it changes nothing: a profile stays when the owner changes max_rows
	}
	fmt.Fprintf(b, "(persons %d", limit)
	for _, part := range p.Parts {
		part.format(b)
	}
	for _, key := range p.Keys {
		b.WriteString(" by ")
		format(b, key)
	}
	formatFrom(b, p.From, p.Where)
}

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
		format(b, p.Arg)
	}
}

// Window is a subquery with windows: the rows of From that are somebody's, and beside each what is
// computed from it and the other rows of the same person. Its fields are those of From, and then
// one for each of Calls.
//
// A person's rows come out as a function of that person's rows. So no choice among them may be an
// engine's: rows that are equal in the order of a call are ordered by Ties, and of From's fields
// only these, and the unit, may be named above, and no [Cut], which goes by all fields, may stand
// on it where there are others. Rows that are equal in all of them cannot be told apart there.
type Window struct {
	From  Relation
	Where Expr
	Whose int   // the field of From that says whose a row is: no call sees rows of two
	Ties  []int // fields of From
	Calls []Over

	Row []Field
}

// Over is one window: a Part over rows of one person, of which each row has its own. A value that
// is a number or a time is cut to its field's interval.
type Over struct {
	Part
	N         int64  // of PartNth, PartLag, PartLead and PartTile
	Otherwise Expr   // of PartLag and PartLead, where there is no such row; nil stands for NULL
	By        []Expr // rows that differ in these do not see each other; NULL is a value like others
	Order     []Order
	// Frame is which rows of the same person, and equal in By, count.
	Frame Frame
}

// Frame is a stretch of rows, in their order, around one of them. Where it goes by Peers the row
// stands for all that are equal to it in the order.
type Frame struct {
	Peers      bool
	Start, End Edge
}

// Edge is an end of a Frame: open, or so many rows after the one that it is about, or before it
// where that is negative.
type Edge struct {
	Open bool
	At   int64
}

var Everything = Frame{Start: Edge{Open: true}, End: Edge{Open: true}}

// Ordered reports whether it matters which of the rows that are equal in the order comes first.
func (o Over) Ordered() bool {
	switch o.Kind {
	case PartRank, PartDense:
		return false
	case PartFirst, PartLast, PartNth, PartLag, PartLead, PartNumber, PartTile:
		return true
	}
	return !o.Frame.Peers && o.Frame != Everything
}

// Numbered reports whether rows that are equal in all of Ties have to be numbered before some of
// the windows are computed. One may put them into any order, because no one can tell which is
// which. Two may not do so each in its own way: that the first by the one is the last by the other
// can be told.
func (w *Window) Numbered(some func(call int) bool) bool {
	n := 0
	for i, o := range w.Calls {
		if o.Ordered() && some(i) {
			n++
		}
	}
	return n > 1
}

// Framed reports whether the frame matters.
func (o Over) Framed() bool { return o.Kind < PartLag }

func (w *Window) Fields() []Field                   { return w.Row }
func (w *Window) Unit() int                         { return w.Whose }
func (w *Window) Single() bool                      { return w.From.Single() }
func (w *Window) PersonRows() int64                 { return w.From.PersonRows() }
func (w *Window) PersonGroups() int64               { return w.From.PersonGroups() }
func (w *Window) EachTable(add func(*policy.Table)) { w.From.EachTable(add) }

// Limit is how many rows of one person count.
func (w *Window) Limit() int64 { return w.From.PersonRows() }

// Expressions are all that are computed for a row of From.
func (o Over) Expressions() []Expr {
	var out []Expr
	for _, e := range []Expr{o.Arg, o.Otherwise} {
		if e != nil {
			out = append(out, e)
		}
	}
	out = append(out, o.By...)
	for _, by := range o.Order {
		out = append(out, by.By)
	}
	return out
}

func (w *Window) format(b *strings.Builder) {
	fmt.Fprintf(b, "(window %d of %d", w.Limit(), w.Whose)
	for _, o := range w.Calls {
		b.WriteString(" (")
		o.format(b)
		b.WriteByte(')')
	}
	fmt.Fprintf(b, " ties %v", w.Ties)
	formatFrom(b, w.From, w.Where)
}

func (o Over) Format() string {
	var b strings.Builder
	o.format(&b)
	return b.String()
}

func (o Over) format(b *strings.Builder) {
	o.Part.format(b)
	fmt.Fprintf(b, " %d", o.N)
	if o.Otherwise != nil {
		b.WriteString(" or ")
		format(b, o.Otherwise)
	}
	for _, e := range o.By {
		b.WriteString(" by ")
		format(b, e)
	}
	for _, by := range o.Order {
		fmt.Fprintf(b, " order %t %t ", by.Descending, by.NullsFirst)
		format(b, by.By)
	}
	if o.Framed() {
		fmt.Fprintf(b, " frame %v", o.Frame)
	}
}
