package plan

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// hasTwins reports whether averages are made of twins: the sums of x - l and u - x, which one
// person moves by u - l together. With Laplace noise k averages of them have, at the same price,
// variances in proportion to k^2, and those of k sums around the middle and one count that they
// share to (k+1)^2/2 (see tree.Query.TwinSensitivity): up to two averages, and nothing else that is
// paid for, are better off. Cells of streams are counts, so a dataset that has some keeps to these.
func (pl *placer) hasTwins() bool {
	ds := pl.in.env.dataset
	if !ds.Budget.Pure() || ds.Neighbours != dp.AddRemove || !pl.in.rows.Single() || len(pl.out.measures) > 0 ||
		len(pl.out.quantiles) > 0 || pl.people != nil || len(ds.Streams) > 0 {
		return false
	}
	averages := 0
	for _, d := range pl.out.stats {
		switch {
		case d.Kind == tree.AverageStat:
			t := d.Of.Type()
			if averages++; averages > 2 || new(big.Int).Sub(t.Hi, t.Lo).Cmp(maxReach) > 0 {
				return false
			}
		case !d.Kind.Exact():
			return false
		}
	}
	return averages > 0
}

// placeTwins makes an average of twins.
func (pl *placer) placeTwins(d *draft) error {
	t := d.Of.Type()
	up := d.Of
	if t.Lo.Sign() != 0 {
		moved, err := expr.NewArith(tree.Sub, d.Of, expr.FromValue(t.Lo, t), -1)
		if err != nil {
			return err
		}
		up = pl.in.env.normal(moved)
	}
	down, err := expr.NewArith(tree.Sub, expr.FromValue(t.Hi, t), d.Of, -1)
	if err != nil {
		return err
	}
	d.measure = pl.out.addMeasure(tree.Measure{Kind: tree.Sum, Arg: up})
	d.count = pl.out.addMeasure(tree.Measure{Kind: tree.Sum, Arg: pl.in.env.normal(down)})
	d.Center, d.Twin = t.Lo, true
	return nil
}
