package federate

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
)

// single is the average at one server with the error bar that it has there: that of the law of
// both noises ([mech.RatioNoise]), each drawn by itself. It is not known where a number has the
// noises of several.
func (m meanPart) single(beta float64) (estimate float64, half *float64, known bool, err error) {
	step, err := readFraction(m.Sum.Step)
	if err != nil || step.Sign() <= 0 {
		return 0, nil, false, errNumber
	}
	divisor, unit := m.Count, "1"
	if m.Below != nil {
		divisor, unit = m.Below, m.Sum.Step
	}
	x, ok1, err1 := noiseOf(*m.Sum)
	y, ok2, err2 := noiseOf(*divisor)
	if err1 != nil || err2 != nil {
		return 0, nil, false, errNumber
	}
	if !ok1 || !ok2 || divisor.Step != unit || x.Mechanism == nil {
		return 0, nil, false, nil
	}
	inSteps := func(r *big.Rat) float64 {
		f, _ := new(big.Rat).Quo(new(big.Rat).Sub(r, m.center), step).Float64()
		return f
	}
	low, high := inSteps(m.low), inSteps(m.high)
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		return 0, nil, false, nil
	}
	var from, to float64
	if m.Below != nil {
		if y.Mechanism == nil || x.Off != y.Off || m.Sum.Noise[0] != m.Below.Noise[0] {
			return 0, nil, false, nil // of twins both have the same noise
		}
		estimate, from, to = mech.NewRatioNoise(beta, x, y, 1).Part(m.Sum.Value, divisor.Value, high)
	} else {
		most := math.Max(math.Abs(low), math.Abs(high))
		estimate, from, to = mech.NewRatioNoise(beta, x, y, most).Ratio(m.Sum.Value, divisor.Value, low, high)
	}
	exact := new(big.Rat).Mul(new(big.Rat).SetFloat64(estimate), step)
	wide := new(big.Rat).Mul(new(big.Rat).SetFloat64(math.Max(to-estimate, estimate-from)), step)
	exact.Add(exact, m.center)
	moved, _ := exact.Float64()
	if math.IsInf(moved, 0) {
		return 0, nil, false, nil
	}
	exact.Sub(exact, new(big.Rat).SetFloat64(moved))
	width := roundUp(wide.Add(wide, exact.Abs(exact)))
	return moved, &width, !math.IsInf(width, 0), nil
}

// noiseOf is the noise of a number, where it has that of one mechanism at most.
func noiseOf(n api.NoisyNumber) (out mech.NumberNoise, ok bool, err error) {
	if n.Off < 0 {
		return out, false, errNumber
	}
	out.Off = n.Off
	if len(n.Noise) == 0 {
		return out, true, nil
	}
	if len(n.Noise) > 1 || n.Noise[0].Count != 1 {
		return out, false, nil
	}
	out.Mechanism, err = mechanism(n.Noise[0])
	return out, err == nil, err
}
