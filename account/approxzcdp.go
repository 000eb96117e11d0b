package account

// ApproxZCDP is delta-approximate rho-zCDP (Bun, Steinke 2016, Definition 8.1):
// outside of an event of probability delta, rho-zCDP.
type ApproxZCDP struct {
	Rho   float64 `json:"rho"`
	Delta float64 `json:"delta"`
}

// Validate refuses what is no claim.
func (z ApproxZCDP) Validate() error {
	if err := nonNegative("rho", z.Rho); err != nil {
		return err
	}
	return probability("delta", z.Delta)
}

// EpsilonAt returns the epsilon of rho at what is left of delta: outside of the
// event the mechanism is (epsilon, x)-private, so altogether it is (epsilon, d + (1-d)
// x)-private (Bun, Steinke 2016, Lemma 8.8, with the tight conversion of [ZCDP]).
func (z ApproxZCDP) EpsilonAt(delta float64) (float64, error) {
	if err := z.Validate(); err != nil {
		return 0, err
	}
	if err := askedDelta(delta); err != nil {
		return 0, err
	}
	x, err := unreveal(delta, z.Delta)
	if err != nil {
		return 0, err
	}
	if x.lo == 0 && z.Delta > 0 && z.Rho > 0 {
		return 0, ErrDeltaTooSmall
	}
	return ZCDP{z.Rho}.EpsilonAt(x.lo)
}

// DeltaAt returns the delta of the same conversion at epsilon.
func (z ApproxZCDP) DeltaAt(epsilon float64) (float64, error) {
	if err := z.Validate(); err != nil {
		return 0, err
	}
	x, err := ZCDP{z.Rho}.DeltaAt(epsilon)
	if err != nil {
		return 0, err
	}
	if x == 0 {
		return z.Delta, nil
	}
	return Approx{Delta: z.Delta}.reveal(exactly(x)).atMost(1).hi, nil
}

// Approx returns the claim at delta; see EpsilonAt.
func (z ApproxZCDP) Approx(delta float64) (Approx, error) { return approxAt(z, delta) }

// Compose returns the claim of all mechanisms together: the sums (Bun, Steinke
// 2016, Lemma 8.2).
func (z ApproxZCDP) Compose(others ...ApproxZCDP) (ApproxZCDP, error) {
	if err := validated(append([]ApproxZCDP{z}, others...)); err != nil {
		return ApproxZCDP{}, err
	}
	rho, err := finite(sumUp(z, others, func(z ApproxZCDP) float64 { return z.Rho }))
	delta := sumUp(z, others, func(z ApproxZCDP) float64 { return z.Delta })
	return ApproxZCDP{rho, min(delta, 1)}, err
}

// Parallel returns the claim of mechanisms on disjoint parts: the largest rho
// with the largest delta. See [Pure.Parallel] for when it holds.
func (z ApproxZCDP) Parallel(others ...ApproxZCDP) (ApproxZCDP, error) {
	if err := validated(append([]ApproxZCDP{z}, others...)); err != nil {
		return ApproxZCDP{}, err
	}
	return ApproxZCDP{
		largestOf(z, others, func(z ApproxZCDP) float64 { return z.Rho }),
		largestOf(z, others, func(z ApproxZCDP) float64 { return z.Delta }),
	}, nil
}
