package verify

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// persons derives the rows of a subquery that is grouped by the unit, and perhaps by more.
func (c *relationChecker) persons(p *tree.Persons) rows {
	from := c.relation(p.From)
	c.must(from.unit >= 0, "rows of nobody are grouped by the person")
	c.must(p.Limit() >= 1 && p.Limit() <= from.limit, "of one person %d rows count, and at most %d may", p.Limit(), from.limit)
	in := from.scope(p.From)
	c.exprs.checkCondition(in, p.Where)
	whose := from.fields[from.unit]
	whose.key, whose.serial = len(p.Keys) == 0, false
	out := rows{fields: []field{whose}, single: true, limit: 1, groups: 1, private: from.private}
	if len(p.Keys) > 0 { // of each person's rows there may be as many groups
		out.single, out.limit, out.groups = false, from.limit, from.groups
	}
	for _, e := range p.Keys {
		f := field{fact: c.exprs.expr(in, e)}
		c.must(f.kind != tree.Real && f.kind != tree.Identity, "rows are grouped by %v", f.kind)
		if col, ok := e.(*tree.Column); ok {
			f.source, f.public = from.fields[col.Index].source, from.fields[col.Index].public
		}
		out.fields = append(out.fields, f)
	}
	for _, part := range p.Parts {
		f := field{fact: c.part(in, part, p.Limit())}
		// What all rows of a person come to is a value like others, but the extreme is one of them.
		f.derived = f.derived && (part.Kind == tree.PartMin || part.Kind == tree.PartMax)
		out.fields = append(out.fields, f)
	}
	out.cuts = []int{len(out.fields)}
	return out
}

// part derives an aggregate of one person's rows, of which a number counts.
func (c *relationChecker) part(in *scope, p tree.Part, limit int64) fact {
	if p.Uncut {
		limit = mostUncut
	}
	if p.Kind == tree.PartRows {
		c.must(p.Arg == nil, "rows are counted, and there is an argument")
		return integers(0, limit)
	}
	arg := c.exprs.expr(in, p.Arg)
	switch p.Kind {
	case tree.PartValues:
		return integers(0, limit)
	case tree.PartDistinct:
		c.must(arg.kind != tree.Real && arg.kind != tree.Identity, "different values of %v are counted", arg.kind)
		return integers(0, limit)
	case tree.PartSum:
		out := c.sum(arg, limit)
		out.derived = arg.derived
		return out
	case tree.PartMin, tree.PartMax:
		c.must(arg.kind != tree.Boolean && arg.kind != tree.Identity, "the extreme of %v", arg.kind)
		return arg
	case tree.PartAny, tree.PartAll:
		c.must(arg.kind == tree.Boolean, "the truth of %v", arg.kind)
		return arg
	}
	c.fail("no aggregate that is known here")
	return fact{}
}

// mostUncut is how many rows of one person there are at most: a sum of so many still fits.
const mostUncut = 1 << 40

// window derives the rows of a subquery with windows. No window sees rows of two people: they are
// told apart by the unit before anything else. And no two rows that can be told apart above are
// left to an engine to put into an order, because it would go by where they are stored, which is
// about everybody.
func (c *relationChecker) window(w *tree.Window) rows {
	from := c.relation(w.From)
	c.must(from.unit >= 0, "windows over rows of nobody")
	c.must(w.Whose == from.unit, "a window sees rows of several people: they are told apart by field %d, and field %d says whose they are",
		w.Whose, from.unit)
	c.must(w.Limit() >= 1 && w.Limit() <= from.limit, "of one person %d rows count, and at most %d may", w.Limit(), from.limit)
	in := from.scope(w.From)
	c.exprs.checkCondition(in, w.Where)
	out := rows{fields: slices.Clone(from.fields), unit: from.unit, single: from.single, limit: from.limit, groups: from.groups,
		private: from.private}
	tied := func(i int) bool { return i == from.unit || slices.Contains(w.Ties, i) }
	c.must(!slices.ContainsFunc(w.Ties, func(i int) bool { return i < 0 || i >= len(from.fields) || from.fields[i].lost }),
		"rows are put into an order by something that they do not have")
	for i := range out.fields {
		out.fields[i].lost = out.fields[i].lost || !tied(i)
	}
	in.fields = slices.Clone(out.fields) // what a window looks at decides too
	for _, o := range w.Calls {
		c.locate("a window", func() { out.fields = append(out.fields, c.over(in, o, w.Limit())) })
	}
	out.cuts = []int{len(out.fields)}
	return out
}

func (c *relationChecker) over(in *scope, o tree.Over, limit int64) (out field) {
	for _, e := range o.By {
		f := c.exprs.expr(in, e)
		c.must(f.kind != tree.Real && f.kind != tree.Identity, "rows are told apart by %v", f.kind)
	}
	for _, by := range o.Order {
		c.must(c.exprs.expr(in, by.By).kind != tree.Identity, "rows are ordered by an identity")
	}
	c.must(o.N >= 0 && o.N <= mostRows, "a row at a distance of %d", o.N)
	c.must(o.Frame.Start.At >= -mostRows && o.Frame.Start.At <= mostRows && o.Frame.End.At >= -mostRows && o.Frame.End.At <= mostRows,
		"a frame of too many rows")
	c.must(o.Otherwise == nil || o.Kind == tree.PartLag || o.Kind == tree.PartLead, "a default for what has none")
	c.must(!o.Uncut || o.Kind <= tree.PartMax, "a number of all rows")
	switch o.Kind {
	case tree.PartNumber:
		out.fact = integers(1, max(2, limit))
		out.serial = len(o.By) == 0
	case tree.PartRank, tree.PartDense:
		out.fact = integers(1, limit)
	case tree.PartTile:
		c.must(o.N >= 1, "rows in %d parts", o.N)
		out.fact = integers(1, o.N)
	case tree.PartFirst, tree.PartLast, tree.PartNth, tree.PartLag, tree.PartLead:
		c.must(!o.Frame.Peers && (o.Kind != tree.PartNth || o.N >= 1), "a frame that does not say which row it is")
		return c.otherRow(in, o)
	case tree.PartDistinct:
		c.fail("different values over a frame")
	default:
		out.fact = c.part(in, o.Part, limit)
		return out
	}
	c.must(o.Arg == nil, "rows are numbered, and there is an argument")
	return out
}

// otherRow derives a value of another row, which is one that the column has.
func (c *relationChecker) otherRow(in *scope, o tree.Over) (out field) {
	out.fact = c.exprs.expr(in, o.Arg)
	c.must(out.kind != tree.Identity, "an identity is computed with")
	if o.Otherwise != nil {
		out.fact = c.hull([]fact{out.fact, c.exprs.expr(in, o.Otherwise)})
		return out
	}
	if col, ok := o.Arg.(*tree.Column); ok {
		out.source, out.public = in.fields[col.Index].source, in.fields[col.Index].public
	}
	return out
}
