package plan

import (
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// mostShown is how long it may take to compute what is shown of all groups once they are released.
// That is paid for by then, so it is bounded before.
const mostShown = meter.MostTime

// privateGroups is for how many groups that is where nobody knows how many there are.
const privateGroups = 10_000

// showable refuses a plan whose columns, HAVING and ORDER BY take too long to compute.
func showable(p *tree.Plan, targets []*pg.Node) error {
	groups, longest := p.Query.Groups(), maxShown
	for _, k := range p.Query.Keys {
		if k.Private {
			groups = max(groups, privateGroups)
		}
		for _, v := range k.Values {
			longest = max(longest, len(v.Text))
		}
	}
	each := shownTime(p.Having, longest)
	for _, c := range p.Columns {
		each += shownTime(c.Expr, longest)
	}
	for _, o := range p.Order {
		each += shownTime(o.By, longest)
	}
	if each > mostShown/time.Duration(max(1, groups)) { // a product could be too large for a number
		return syntax.Refuse(first(targets), "ask for fewer groups, or for the keys as they are",
			"it takes too long to compute the columns of so many groups")
	}
	return nil
}

// maxShown is how many bytes a text has that is computed of others.
const maxShown = 4000

// shownTime is how long it takes at most to compute an expression over texts of at most so many
// bytes.
func shownTime(e tree.Expr, longest int) (d time.Duration) {
	if e == nil {
		return 0
	}
	tree.Walk(e, func(x tree.Expr) {
		d += meter.Computed
		switch x := x.(type) {
		case *tree.In:
			d += time.Duration(len(x.List)) * meter.Computed
		case *tree.Like:
			d += time.Duration(textBytes(x.X, longest)*len(x.Pattern)) * meter.Liked
		case *tree.Call:
			d += 3 * meter.Computed
			for _, a := range x.Args {
				d += time.Duration(textBytes(a, longest)/16) * meter.Computed
			}
			if l, ok := x.Args[len(x.Args)-1].(*tree.Literal); ok && x.Fn == "matches" {
				d += time.Duration(textBytes(x.Args[0], longest)*len(*l.Text)) * meter.Matched
			}
		}
	})
	return d
}

// textBytes is how many bytes a text has at most, where it is one.
func textBytes(e tree.Expr, longest int) int {
	t := e.Type()
	switch {
	case t.Kind != tree.Text:
		return 0
	case t.MaxLength > 0:
		return min(4*t.MaxLength, longest)
	}
	return longest
}
