package account

import "math"

// ZCDP is rho-zero-concentrated differential privacy (Bun, Steinke 2016): a Rényi
// divergence of at most rho alpha at every order alpha > 1.
type ZCDP struct{ Rho float64 }

// Validate refuses what is no claim.
func (z ZCDP) Validate() error { return nonNegative("rho", z.Rho) }

// EpsilonAt returns the epsilon of the tight conversion of Canonne, Kamath, Steinke
// 2020 (Corollary 13 of the full version), rounded up. Delta is above 0 unless rho is 0.
func (z ZCDP) EpsilonAt(delta float64) (float64, error) {
	return z.convert(delta, tightEpsilon)
}

// convert checks what every conversion needs, and answers where there is nothing to
// convert.
func (z ZCDP) convert(delta float64, by func(rho, delta float64) float64) (float64, error) {
	if err := z.Validate(); err != nil {
		return 0, err
	}
	if err := askedDelta(delta); err != nil {
		return 0, err
	}
	switch {
	case z.Rho == 0:
		return 0, nil
	case delta == 0:
		return 0, ErrDelta
	}
	return finite(math.Max(0, by(z.Rho, delta)))
}

// DeltaAt is the same conversion at epsilon.
func (z ZCDP) DeltaAt(epsilon float64) (float64, error) {
	if err := z.Validate(); err != nil {
		return 0, err
	}
	d, err := z.rdp().DeltaAt(epsilon)
	if z.Rho == 0 {
		d = 0
	}
	return d, err
}

// BunSteinkeEpsilon returns rho + 2 sqrt(rho ln(1/delta)), rounded up: the well-known
// conversion (Bun, Steinke 2016, Proposition 1.3), never better than EpsilonAt.
func (z ZCDP) BunSteinkeEpsilon(delta float64) (float64, error) {
	return z.convert(delta, func(rho, delta float64) float64 {
		r := exactly(rho)
		return r.add(exactly(2).mul(r.mul(exactly(delta).minusLog()).sqrt())).hi
	})
}

// Approx returns the claim at delta; see EpsilonAt.
func (z ZCDP) Approx(delta float64) (Approx, error) { return approxAt(z, delta) }

// ApproxZCDP is the same claim with a delta of zero.
func (z ZCDP) ApproxZCDP() ApproxZCDP { return ApproxZCDP{Rho: z.Rho} }

// RDP returns the curve alpha rho, which is the definition.
func (z ZCDP) RDP() (RDP, error) {
	if err := z.Validate(); err != nil {
		return RDP{}, err
	}
	return z.rdp(), nil
}

func (z ZCDP) rdp() RDP {
	return NewRDP(func(alpha float64) float64 { return mulUp(alpha, z.Rho) })
}

// Compose returns the claim of all mechanisms together: the sum (Bun, Steinke
// 2016, Lemma 1.7).
func (z ZCDP) Compose(others ...ZCDP) (ZCDP, error) {
	if err := validated(append([]ZCDP{z}, others...)); err != nil {
		return ZCDP{}, err
	}
	rho, err := finite(sumUp(z, others, func(z ZCDP) float64 { return z.Rho }))
	return ZCDP{rho}, err
}

// Parallel returns the claim of mechanisms on disjoint parts: the largest. See
// [Pure.Parallel] for when it holds.
func (z ZCDP) Parallel(others ...ZCDP) (ZCDP, error) {
	if err := validated(append([]ZCDP{z}, others...)); err != nil {
		return ZCDP{}, err
	}
	return ZCDP{largestOf(z, others, func(z ZCDP) float64 { return z.Rho })}, nil
}

// Group returns the claim for k units at once: k^2 rho (Bun, Steinke 2016,
// Proposition 1.9).
func (z ZCDP) Group(k int) (ZCDP, error) {
	if err := z.Validate(); err != nil {
		return ZCDP{}, err
	}
	if err := atLeastOne("the size of a group", k); err != nil {
		return ZCDP{}, err
	}
	rho, err := finite(mulUp(float64(k), mulUp(float64(k), z.Rho)))
	return ZCDP{rho}, err
}
