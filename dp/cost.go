package dp

import "fmt"

// Cost is what one mechanism, or several together, is proven to cost. The
// fields are two claims that hold at the same time, and share Delta:
//
//   - Epsilon and Delta: it is (Epsilon, Delta)-differentially private, which is
//     pure where Delta is 0; Epsilon is Unbounded where there is no such claim;
//   - Rho and Delta: it is Delta-approximately Rho-zero-concentrated
//     differentially private (Bun, Steinke 2016, Definition 8.1); Rho is
//     Unbounded where there is no such claim.
//
// An unbounded Delta claims nothing at all.
//
// Each claim adds up under adaptive composition, also when the next mechanism's parameters depend
// on earlier answers (sums of epsilon and delta: Rogers, Roth, Ullman, Vadhan 2016; sums of rho and
// delta: Whitehouse, Ramdas, Rogers, Wu 2023), so a filter can add any of them.
//
// Where Delta is above 0 and both claims are there, they are about the same event: the two outcomes
// are mixtures of one pair, with weight 1 - Delta, and of anything else, and that pair is both
// Epsilon-close and Rho-zero-concentrated. It is so where the rho is derived from the (Epsilon,
// Delta) claim (Kairouz, Oh, Viswanath 2015). A limit on either of the two sums rests on it: see
// Fits.
type Cost struct {
	Epsilon Amount `json:"epsilon"`
	Rho     Amount `json:"rho"`
	Delta   Amount `json:"delta"`
}

// Add returns the cost of both.
func (c Cost) Add(d Cost) Cost {
	return Cost{c.Epsilon.Add(d.Epsilon), c.Rho.Add(d.Rho), c.Delta.Add(d.Delta)}
}

// Sub returns what is left of c after d, never below zero.
func (c Cost) Sub(d Cost) Cost {
	return Cost{c.Epsilon.Sub(d.Epsilon), c.Rho.Sub(d.Rho), c.Delta.Sub(d.Delta)}
}

// Mul returns the cost of n of them.
func (c Cost) Mul(n uint64) Cost { return Cost{c.Epsilon.Mul(n), c.Rho.Mul(n), c.Delta.Mul(n)} }

// Within reports whether every claim of c is within the limit. An unbounded
// limit limits nothing; an unbounded cost is within no limit but that.
func (c Cost) Within(limit Cost) bool {
	return within(c.Epsilon, limit.Epsilon) && within(c.Rho, limit.Rho) && within(c.Delta, limit.Delta)
}

// Fits reports whether a budget of this limit admits c, all that was spent. Where the limit has an
// epsilon and a rho, it is enough to be within one of them; why that is a budget is said and proven
// at account.EitherFilter. Where it has one of the two, it is Within.
func (c Cost) Fits(limit Cost) bool {
	epsilon, rho := within(c.Epsilon, limit.Epsilon), within(c.Rho, limit.Rho)
	if limit.Epsilon == Unbounded || limit.Rho == Unbounded {
		return epsilon && rho && within(c.Delta, limit.Delta)
	}
	return (epsilon || rho) && within(c.Delta, limit.Delta)
}

// Part returns how much of a limit c takes, from 0 to 1: of its delta, and of its epsilon and its
// rho, where one of the two is enough, the smaller part.
func (c Cost) Part(limit Cost) float64 {
	epsilon, rho := part(c.Epsilon, limit.Epsilon), part(c.Rho, limit.Rho)
	side := max(epsilon, rho)
	if limit.Epsilon != Unbounded && limit.Rho != Unbounded {
		side = min(epsilon, rho)
	}
	return max(side, part(c.Delta, limit.Delta))
}

// ByEpsilon reports whether a limit of which c was spent is read by its epsilon: where it has no
// rho, or less of its epsilon is spent.
func (c Cost) ByEpsilon(limit Cost) bool {
	if limit.Rho == Unbounded || limit.Epsilon == Unbounded {
		return limit.Rho == Unbounded
	}
	epsilon, rho := part(c.Epsilon, limit.Epsilon), part(c.Rho, limit.Rho)
	return epsilon < rho || epsilon == rho && within(c.Epsilon, limit.Epsilon) && !within(c.Rho, limit.Rho)
}

func part(a, limit Amount) float64 {
	switch {
	case limit == Unbounded || a == 0:
		return 0
	case a >= limit:
		return 1
	}
	return a.Float() / limit.Float()
}

func within(a, limit Amount) bool { return limit == Unbounded || a <= limit }

func (c Cost) String() string {
	return fmt.Sprintf("epsilon %v, rho %v, delta %v", c.Epsilon, c.Rho, c.Delta)
}
