package pricing

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/root"
	"github.com/discreet-dp/discreet/mech"
)

// Noise is how one measure is released: noise on the vector of all groups, or quantiles for each
// group.
type Noise struct {
	mech.Mechanism                 // nil for quantiles
	Quantiles      *mech.Quantiles // nil for counts and sums
	Running        *mech.Running   // how a sequence is released of which running totals are made, or nil
	touched        int64           // how many groups one person can change, for quantiles
	twin           bool            // it is paid for with the other of a pair
	// Decides says that the number is released with the private keys, which it decides, and that
	// they are what pays for it.
	Decides bool
}

// newNoise calibrates the release of a measure to its share.
//
// Counts and sums: one vector over all groups, at its sensitivity (tree.Query.Sensitivity).
//
// Quantiles: each group has a release of its own, at a price e. Between neighbours the values of at
// most T groups differ, and each of these differs by the values of one person, so the releases of
// all other groups have the same law, and those of the T groups together cost T e (composition; the
// draws are independent). Under add-remove a person is in at most MaxGroups groups, so T is that.
// Under substitution one person's groups go and another's come, so T is up to twice that, and never
// more than there are groups. The charge is T e, and e is the share over T.
func newNoise(q *tree.Query, m tree.Measure, c Currency, share dp.Amount, mechanism string) (Noise, error) {
	if m.Kind == tree.Quantile {
		return newQuantiles(q, m, c, share)
	}
	var n mech.Mechanism
	var err error
	switch {
	case c.Pure:
		n, err = mech.NewLaplace(q.Sensitivity(m, dp.L1), share)
	case mechanism == "laplace":
		n, err = laplaceFor(q.Sensitivity(m, dp.L1), share)
	default:
		n, err = mech.NewGaussian(q.Sensitivity(m, dp.L2), share)
	}
	return Noise{Mechanism: n}, err
}

// newTwins calibrates the release of two sums that share what one person moves, as one vector, to
// the shares of both. Only noise that adds up what a vector moves by is the better for it: see
// tree.Query.TwinSensitivity.
func (p *Priced) newTwins(b *Purchase, shares []dp.Amount) error {
	if p.Settings.Error != nil || !p.Currency.Pure && p.Settings.Mechanism != "laplace" {
		return nil
	}
	for _, pair := range b.Query.Twins() {
		share := shares[pair[0]].Add(shares[pair[1]])
		var n mech.Mechanism
		var err error
		if p.Currency.Pure {
			n, err = mech.NewLaplace(b.Query.TwinSensitivity(pair), share)
		} else {
			n, err = laplaceFor(b.Query.TwinSensitivity(pair), share)
		}
		if err != nil {
			return err
		}
		first, second := min(pair[0], pair[1]), max(pair[0], pair[1])
		b.Twins = append(b.Twins, [2]int{first, second})
		b.Noise[first], b.Noise[second] = Noise{Mechanism: n}, Noise{Mechanism: n, twin: true}
	}
	return nil
}

func newQuantiles(q *tree.Query, m tree.Measure, c Currency, share dp.Amount) (Noise, error) {
	low, high, ok := tree.QuantileRange(m.Arg)
	if !ok {
		return Noise{}, mech.ErrQuantiles // which the plan has refused
	}
	touched := touchedGroups(q)
	each, err := mech.NewQuantiles(mech.QuantileQuery{At: m.At, Low: low, High: high, PerUnit: q.MaxRows(), Neighbours: q.Neighbours},
		c.budget(), share/dp.Amount(touched))
	return Noise{Quantiles: each, touched: touched}, err
}

// touchedGroups is in how many groups neighbours can differ.
func touchedGroups(q *tree.Query) int64 {
	t := q.MaxGroups()
	if q.Neighbours == dp.Substitute {
		t *= 2
	}
	if len(q.PrivateKeys()) == 0 {
		t = min(t, int64(q.Groups()))
	}
	return t
}

// laplaceFor returns Laplace noise at the largest epsilon whose rho is within a share. It starts
// from the epsilon at which any pure mechanism is, and goes on from there, because on a lattice
// Laplace noise costs a little less.
func laplaceFor(s dp.Sensitivity, rho dp.Amount) (mech.Mechanism, error) {
	low := Largest(0, 2*rho+4*dp.One, func(e dp.Amount) bool {
		r, err := dp.CeilFloat(dp.RhoOfPure(e.Float()))
		return err == nil && r <= rho
	})
	best, err := mech.NewLaplace(s, low)
	if err != nil {
		return nil, err
	}
	// Steps below a part in ten thousand are not worth their time.
	for at, step := low, low/2; step > low>>14; step /= 2 {
		if n, err := mech.NewLaplace(s, at+step); err == nil && n.Cost().Rho <= rho {
			at, best = at+step, n
		}
	}
	return best, nil
}

// Largest returns the largest amount above low and below high that fits, where all smaller ones do;
// low where none does.
func Largest(low, high dp.Amount, fits func(dp.Amount) bool) dp.Amount {
	low, _ = root.Whole(low, high, fits)
	return low
}

func (n Noise) cost() dp.Cost {
	switch {
	case n.Decides || n.twin:
		return dp.Cost{}
	case n.Quantiles == nil:
		return n.Cost()
	}
	c := n.Quantiles.Cost()
	return dp.Cost{Epsilon: c.Epsilon.Mul(uint64(n.touched)), Rho: c.Rho.Mul(uint64(n.touched)), Delta: c.Delta.Mul(uint64(n.touched))}
}

func (n Noise) spelling() string {
	if n.Decides {
		return "with its keys:"
	}
	if n.Running != nil {
		return n.Running.Spelling()
	}
	if n.twin {
		return "in one vector"
	}
	if n.Quantiles == nil {
		return n.Name() + "(" + n.Parameter().RatString() + ")"
	}
	var at []string
	for _, p := range n.Quantiles.Parameters() {
		at = append(at, p.RatString())
	}
	return fmt.Sprintf("quantiles(%s) x%d", strings.Join(at, ", "), n.touched)
}
