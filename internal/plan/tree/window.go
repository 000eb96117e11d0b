package tree

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

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

// Everything is the frame of all rows.
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

// Format writes the window in one canonical spelling.
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
		format(b, o.Otherwise, NoOutside)
	}
	for _, e := range o.By {
		b.WriteString(" by ")
		format(b, e, NoOutside)
	}
	for _, by := range o.Order {
		fmt.Fprintf(b, " order %t %t ", by.Descending, by.NullsFirst)
		format(b, by.By, NoOutside)
	}
	if o.Framed() {
		fmt.Fprintf(b, " frame %v", o.Frame)
	}
}
