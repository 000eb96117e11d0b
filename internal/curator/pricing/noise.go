package pricing

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Noise is how one measure is released: noise on the vector of all groups, or quantiles for each
// group.
type Noise struct {
	mech.Mechanism                     // nil for quantiles
	Quantiles      *mech.Quantiles     // nil for counts and sums
	Running        *mech.RunningTotals // how a sequence is released of which running totals are made, or nil
	touched        int64               // how many groups one person can change, for quantiles
	twin           bool                // it is paid for with the other of a pair
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

// laplaceFor returns Laplace noise at the largest epsilon, within a part in ten thousand, whose rho
// is within a share. That is at least the epsilon at which any pure mechanism is, and many times it
// where one person moves many numbers of a vector by a little: see [mech.NewLaplace].
func laplaceFor(s dp.Sensitivity, rho dp.Amount) (mech.Mechanism, error) {
	low := Largest(0, 2*rho+4*dp.One, func(e dp.Amount) bool {
		r, err := dp.CeilFloat(dp.RhoOfPure(e.Float()))
		return err == nil && r <= rho
	})
	best, err := mech.NewLaplace(s, low)
	if err != nil {
		return nil, err
	}
	within := func(e dp.Amount) bool {
		n, err := mech.NewLaplace(s, e)
		if err != nil || n.Cost().Rho > rho {
			return false
		}
		low, best = e, n
		return true
	}
	high := 2 * low
	for high < MostTariff && within(high) {
		high *= 2
	}
	for high-low > high>>14+1 {
		if e := low + (high-low)/2; !within(e) {
			high = e
		}
	}
	return best, nil
}

// Largest returns the largest amount above low and below high that fits, where all smaller ones do;
// low where none does.
func Largest(low, high dp.Amount, fits func(dp.Amount) bool) dp.Amount {
	low, _ = numeric.BisectWhole(low, high, fits)
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

// markRunning notes which measures of a purchase running totals are made of, where their noise may
// be chosen by that: on a budget that adds up rho, for a price, and not through a stream.
func (p *Priced) markRunning() {
	for i, one := range p.Statement.Plans {
		if b := p.Purchases[p.AnsweredBy[i]]; b.Cube == nil {
			b.running = append(b.running, one.Running...)
		}
	}
}

// runningNoise is the noise of a measure of which running totals are made: that of a factorisation
// where it makes the mean of their variances smaller, and plain otherwise.
func runningNoise(q *tree.Query, m tree.Measure, share dp.Amount, plain Noise) Noise {
	lo, hi := q.Interval(m)
	of := mech.RunningTotalsConfig{Len: q.Groups(), Low: lo, High: hi, Groups: q.MaxGroups(), Neighbours: q.Neighbours}
	r, err := mech.NewRunningTotals(of, share)
	// The mean running total is the sum of half of the numbers and one half more.
	if err != nil || r.MeanVariance() >= mech.Variance(plain.Mechanism)*float64(of.Len+1)/2 {
		return plain
	}
	return Noise{Mechanism: r.TermNoise(), Running: r}
}

// isRunning reports whether running totals are made of a measure.
func (b *Purchase) isRunning(measure int) bool { return slices.Contains(b.running, measure) }

// sayRunning says how exact running totals are.
func (n Noise) sayRunning(beta, step float64) string {
	return fmt.Sprintf("the noise nearly cancels in running totals, each of which is within %.6g; a single number has more noise "+
		"than it would have otherwise", float64(n.Running.TotalNoise().HalfWidth(beta))*step)
}

// selection is how the best groups are chosen, where a question asks for nothing else.
type selection struct {
	Top *mech.TopK
	why string
}

// mostScores is how many scores a choice may look at: each round looks at all groups that are left.
const mostScores = 1 << 22

// newChoice calibrates a choice to its share, which its rounds have in equal parts.
func newChoice(q *tree.Query, c Currency, share dp.Amount) (*selection, error) {
	if q.Choice.K > mostScores/q.Groups() {
		return nil, syntax.Refuse(syntax.TooComplex, -1,
			"select the aggregate too, which releases all groups at one price, or choose fewer",
			"to choose %d of %d groups one by one takes too long", q.Choice.K, q.Groups())
	}
	s, err := scoring(q)
	if err != nil {
		return nil, err
	}
	each, why, err := mech.ChooseSelector(c.budget(), share/dp.Amount(q.Choice.K), s)
	if err != nil {
		return nil, err
	}
	top, err := mech.NewTopK(q.Choice.K, each)
	return &selection{top, why}, err
}

// scoring says how far one person moves a score. The score of a group is its measure times a public
// weight. A person adds to each group a number from [lo, hi], which holds 0 (tree.Query.Interval).
// Added or removed it moves the measure by at most M = max(-lo, hi); replaced by another person's
// it moves it by at most hi - lo; and the score by that times the largest weight. Scores all move
// the same way where a person is added or removed, nobody adds numbers of both signs, and no two
// weights have different signs.
func scoring(q *tree.Query) (mech.Scoring, error) {
	lo, hi := q.Interval(q.Measures[0])
	move := new(big.Int).Neg(lo)
	if move.Cmp(hi) < 0 {
		move.Set(hi)
	}
	if q.Neighbours == dp.Substitute {
		move.Sub(hi, lo)
	}
	most, positive, negative := int64(1), q.Choice.Weights == nil, false
	for _, w := range q.Choice.Weights {
		most = max(most, w, -w)
		positive, negative = positive || w > 0, negative || w < 0
	}
	move.Mul(move, big.NewInt(most))
	if move.Sign() == 0 {
		move.SetInt64(1)
	}
	if !move.IsInt64() || move.BitLen() > 61 {
		return mech.Scoring{}, syntax.Refuse(syntax.TooComplex, -1, "multiply by smaller numbers, or ask the owner for narrower bounds",
			"one person could move these scores by more than 2^61")
	}
	monotone := q.Neighbours == dp.AddRemove && !(positive && negative) && (lo.Sign() == 0 || hi.Sign() == 0)
	return mech.Scoring{Sensitivity: move.Int64(), Monotone: monotone}, nil
}

func (s *selection) spelling() string {
	return s.Top.Name() + "(" + s.Top.Selector().Parameter().RatString() + ")"
}

// Steps is an error in whole steps of a measure.
func Steps(e *big.Rat, m tree.Measure) int64 {
	q := new(big.Rat).Quo(e, m.Step())
	k := new(big.Int).Quo(q.Num(), q.Denom())
	if !k.IsInt64() {
		return math.MaxInt64
	}
	return k.Int64()
}

// Scaled is a number of steps in units of the answer.
func Scaled(n *big.Int, step *big.Rat) float64 {
	f, _ := new(big.Rat).Mul(new(big.Rat).SetInt(n), step).Float64()
	return f
}

// Decimals returns how many digits after the point multiples of a step need, at
// most 12: a step of a third has no end.
func Decimals(step *big.Rat) int {
	x := new(big.Rat).Set(step)
	for n := range 12 {
		if x.IsInt() {
			return n
		}
		x.Mul(x, big.NewRat(10, 1))
	}
	return 12
}
