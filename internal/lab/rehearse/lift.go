package rehearse

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"sort"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// mostSteps is how far from 0 the widest bounds go: nothing is beyond them, and sums are rounded.
const mostSteps = 1 << 52

// lift measures the data, and makes the worlds in which nothing is cut. Limits and bounds become as
// large as the data needs and not larger: the sums of a person who might have a million rows would
// be rounded.
//
// All tables are measured, and not those alone that a question is from: there may be others in its
// conditions.
func (r *Rehearsal) lift(ctx context.Context) error {
	wide := world{r.exact.Dataset, r.exact.engine} // which was opened by the widest bounds
	r.unlimited = world{copied(r.asked.Dataset), r.asked.engine}
	r.exact = world{copied(r.asked.Dataset), r.exact.engine}
	for name, t := range r.asked.Tables {
		if t.Public {
			continue
		}
		r.tell("measuring " + name)
		if t.UnitKind == policy.Many {
			rows, err := wide.mostRows(ctx, t)
			if err != nil {
				return err
			}
			for _, w := range []world{r.unlimited, r.exact} {
				own := w.Tables[name]
				own.MaxRows, own.MaxGroups = max(t.MaxRows, rows), max(t.MaxGroups, rows)
				own.MaxJoined = min(policy.MostJoined, max(t.Joined(), rows))
			}
		}
		for column, c := range t.Columns {
			r.unlimited.Tables[name].Columns[column].MaxSum, r.exact.Tables[name].Columns[column].MaxSum = nil, nil
			if !hasNumbers(c) {
				continue
			}
			bounds, err := wide.boundsAround(ctx, t, c)
			if err != nil {
				return err
			}
			r.exact.Tables[name].Columns[column].Bounds = bounds
		}
	}
	return nil
}

// widest is a policy with bounds that nothing is beyond, for counting what is beyond others. All
// rows count in it.
func widest(ds *policy.Dataset) *policy.Dataset {
	out := copied(ds)
	for _, t := range out.Tables {
		if t.UnitKind == policy.Many {
			t.MaxRows = tree.MostRows
		}
		for _, c := range t.Columns {
			if !t.Public && hasNumbers(c) {
				c.Bounds = boundsOf(c, -mostSteps, mostSteps)
			}
		}
	}
	return out
}

// hasNumbers reports whether a column's values are numbers that are moved into bounds. The bounds
// of dates and times are kept: nothing adds them up.
func hasNumbers(c *policy.Column) bool {
	return c.Bounds != nil && (c.Type == policy.Integer || c.Type == policy.Decimal)
}

// copied is a copy of a policy, down to its columns. Tables that are stored by person are read from
// their source: what is stored was moved into the policy's bounds.
func copied(ds *policy.Dataset) *policy.Dataset {
	out := *ds
	out.Tables = maps.Clone(ds.Tables)
	for name, t := range out.Tables {
		own := *t
		own.Prepared, own.AutoRows, own.AutoGroups = "", false, false
		own.Columns = maps.Clone(t.Columns)
		for column, c := range own.Columns {
			one := *c
			own.Columns[column] = &one
		}
		out.Tables[name] = &own
	}
	return &out
}

// mostRows is how many rows one person has in a table at most, rounded up to a power of two: under
// smaller limits fewer rows count.
func (w world) mostRows(ctx context.Context, t *policy.Table) (most int64, failed error) {
	under := func(limit int64) int64 {
		limited := world{copied(w.Dataset), w.engine}
		limited.Tables[t.Name].MaxRows = limit
		n, err := limited.countRows(ctx, t, "true")
		if err != nil {
			failed = err
		}
		return n
	}
	all := under(tree.MostRows)
	doublings := sort.Search(20, func(k int) bool { return under(1<<k) == all })
	return min(tree.MostRows, int64(1)<<doublings), failed
}

// boundsAround are bounds that no value of a column is beyond: those of the policy, or ones that
// are wider on both sides, by as much, twice as much and so on.
func (w world) boundsAround(ctx context.Context, t *policy.Table, c *policy.Column) (*policy.Bounds, error) {
	lo, hi := c.Bounds.LoSteps, c.Bounds.HiSteps
	for width := hi - lo; ; width *= 2 {
		b, name := boundsOf(c, lo, hi), quoted(c.Name)
		n, err := w.countRows(ctx, t, fmt.Sprintf("%s < %s OR %s > %s", name, decimal(b.Lo), name, decimal(b.Hi)))
		if err != nil || n == 0 || hi-lo == 2*mostSteps {
			return b, err
		}
		lo, hi = max(-mostSteps, lo-width), min(mostSteps, hi+width)
	}
}

// boundsOf are bounds of a column between two points of its lattice.
func boundsOf(c *policy.Column, lo, hi int64) *policy.Bounds {
	at := func(steps int64) *big.Rat { return new(big.Rat).Mul(new(big.Rat).SetInt64(steps), c.Granularity) }
	return &policy.Bounds{Lo: at(lo), Hi: at(hi), LoSteps: lo, HiSteps: hi}
}

// countRows counts the rows of a table where a condition holds, exactly.
func (w world) countRows(ctx context.Context, t *policy.Table, where string) (int64, error) {
	p, err := w.price(ctx, api.Question{SQL: "SELECT COUNT(*) FROM " + quoted(t.Name) + " WHERE " + where})
	if err != nil {
		return 0, err
	}
	found, err := w.engine.Run(ctx, p.Purchases[0].Query)
	if err != nil {
		return 0, err
	}
	return found.Measures[0].Open()[0], nil
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// decimal writes a number as SQL reads it.
func decimal(n *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(n.FloatString(12), "0"), ".")
}
