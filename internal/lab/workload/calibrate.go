package workload

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/lab/utility"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// Calibration is the noise that a budget needs.
type Calibration struct {
	Parameter string // sigma, scale, sigma2, or epsilon of a mechanism that has no other
	// Noise holds the value: the end with more noise keeps the budget for certain, the other breaks
	// it for certain. Where the parameter is an epsilon, less is more noise.
	Noise dp.Bracket
	// Workload is the one with the noise that keeps the budget.
	Workload *Workload
}

// Value is the noise to use.
func (c Calibration) Value() float64 {
	if c.Parameter == "epsilon" {
		return c.Noise.Lower
	}
	return c.Noise.Upper
}

// parameter is what is to be found for a kind.
func (k *kind) parameter() string {
	for _, p := range []string{"sigma", "scale", "sigma2"} {
		for _, n := range k.noise {
			if n == p {
				return p
			}
		}
	}
	return "epsilon"
}

// Calibrate finds the least noise, common to all mechanisms that leave theirs open,
// with which all together are (epsilon, delta)-differentially private by the best
// accountant there is. A delta of 0 is kept by simple composition.
func Calibrate(uses []Use, epsilon, delta float64, direction Direction) (Calibration, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 0) {
		return Calibration{}, refuse("epsilon is %v, but must be above 0", epsilon)
	}
	if !(delta >= 0 && delta < 1) {
		return Calibration{}, refuse("delta is %v, but must be at least 0 and below 1", delta)
	}
	c := calibration{uses: uses, epsilon: epsilon, delta: delta, direction: direction}
	for _, u := range uses {
		if u.Mechanism.noise != "" {
			continue
		}
		if c.kind != nil && c.kind != u.Mechanism.kind {
			return Calibration{}, refuse("%s and %s both leave their noise open: leave it open for one kind of mechanism", c.kind.name,
				u.Mechanism.kind.name)
		}
		c.kind = u.Mechanism.kind
	}
	if c.kind == nil {
		return Calibration{}, refuse("no mechanism leaves its noise open: write one without it, such as gaussian")
	}
	if delta == 0 && c.kind.facts != nil && (c.kind.name == "gaussian" || c.kind.name == "discrete-gaussian") {
		return Calibration{},
			refuse("delta is 0, but Gaussian noise keeps no epsilon at delta 0: write a delta such as 1e-6, or use laplace")
	}
	return c.solve()
}

type calibration struct {
	uses           []Use
	kind           *kind
	epsilon, delta float64
	direction      Direction
}

// workloadAt returns the workload with an amount of noise: what grows with more noise.
func (c calibration) workloadAt(noise float64) (*Workload, error) {
	uses := make([]Use, len(c.uses))
	for i, u := range c.uses {
		if u.Mechanism.noise == "" {
			u.Mechanism.noise = c.kind.parameter()
			u.Mechanism.amount = c.roundAmount(noise)
		}
		uses[i] = u
	}
	return New(uses...)
}

// roundAmount turns noise into the parameter.
func (c calibration) roundAmount(noise float64) float64 {
	switch c.kind.parameter() {
	case "epsilon":
		return 1 / noise
	case "sigma2":
		return noise * noise
	}
	return noise
}

// excess returns the logarithms of delta over the one allowed: of what is lost at
// least, and of what the best accountant allows for.
func (c calibration) excess(noise float64) (lower, upper float64, err error) {
	w, err := c.workloadAt(noise)
	if err != nil {
		return 0, 0, err
	}
	if c.delta == 0 {
		total, err := account.Basic(w.repeated())
		if err != nil {
			return 0, 0, err
		}
		if !w.pure() || total.Delta > 0 {
			return 0, 0, refuse("delta is 0, but these mechanisms keep no epsilon at delta 0: write a delta such as 1e-6")
		}
		log := overBy(total.Epsilon, c.epsilon)
		return log - 1e-14, log, nil
	}
	a, err := w.Delta(c.epsilon, c.direction)
	if err != nil {
		return 0, 0, err
	}
	best := a.Tightest()
	least := best.Lower
	for _, r := range a.Results {
		// What the losses prove is lost, where their law is the mechanism's own.
		if r.Method == PLD && c.kind.name != "exponential" {
			least = r.Lower
		}
	}
	return overBy(least, c.delta), overBy(best.Upper, c.delta), nil
}

// overBy returns ln(x/limit), and something positive whenever x is above the limit, be
// it by one unit in the last place.
func overBy(x, limit float64) float64 {
	if x <= 0 {
		return math.Inf(-1)
	}
	log := math.Log(x / limit)
	if x > limit {
		return max(log, 1e-18)
	}
	return min(log, 0)
}

// The search looks at noise in these bounds, in units of the largest sensitivity.
const (
	minNoise = 1e-4
	maxNoise = 1e8
)

// narrow narrows the bounds, first by accountants that are quick, and then from what
// is enough for them down to what is not enough for the best.
func (c calibration) narrow(upper func(log float64) float64, low, high float64) (float64, float64) {
	halve := func(enough func(log float64) bool, width float64) (float64, float64) {
		steps := int(math.Ceil(math.Log2((high - low) / width)))
		return numeric.Bisect(low, high, steps, func(log float64) bool { return !enough(log) })
	}
	quick := func(log float64) bool {
		w, err := c.workloadAt(math.Exp(log))
		if err != nil {
			return false
		}
		a, err := w.delta(c.epsilon, c.direction, Basic, ZCDP, RDP)
		return err == nil && a.Tightest().Upper <= c.delta
	}
	if c.delta == 0 || !quick(high) {
		return halve(func(log float64) bool { return upper(log) <= 0 }, 2)
	}
	_, enough := halve(quick, 0.01)
	const stride = 0.5
	for enough-stride > low && upper(enough-stride) <= 0 {
		enough -= stride
	}
	return max(low, enough-stride), enough
}

func (c calibration) solve() (Calibration, error) {
	unit := 1.0
	for _, u := range c.uses {
		unit = max(unit, u.Mechanism.sensitivity)
	}
	var failed error
	// In the logarithm of the noise; what cannot be a mechanism there is too little.
	upper := func(log float64) float64 {
		_, u, err := c.excess(math.Exp(log))
		if err != nil {
			failed = err
			return math.Inf(1)
		}
		return u
	}
	low, high := math.Log(minNoise*unit), math.Log(maxNoise*unit)
	if upper(high) > 0 {
		if failed != nil {
			return Calibration{}, failed
		}
		return Calibration{},
			refuse("no noise up to %.3g is enough for epsilon %v and delta %v: use the mechanisms less often, or give those with a "+
				"fixed noise more noise", maxNoise*unit, c.epsilon, c.delta)
	}
	if upper(low) <= 0 {
		return Calibration{},
			refuse("even %s %.3g, the least noise that is tried, keeps epsilon %v at delta %v: there is nothing to calibrate, or "+
				"epsilon is too large", c.kind.parameter(), c.roundAmount(minNoise*unit), c.epsilon, c.delta)
	}
	low, high = c.narrow(upper, low, high)
	before, enough := numeric.Root(upper, low, high, 1e-10/max(1, math.Abs(high)))
	out := Calibration{Parameter: c.kind.parameter()}
	// Down from there to where even the lower bound is over, and back up by halves.
	broken := func(log float64) bool {
		l, _, err := c.excess(math.Exp(log))
		return err != nil || l > 0
	}
	short, open := before, before
	for step := 1e-10; !broken(short) && step <= 1; step *= 8 {
		open, short = short, before-step
	}
	short, _ = numeric.Bisect(short, open, 4, broken)
	out.Noise = dp.Bracket{Lower: c.roundAmount(math.Exp(short)), Upper: c.roundAmount(math.Exp(enough))}
	if out.Parameter == "epsilon" {
		out.Noise = dp.Bracket{Lower: out.Noise.Upper, Upper: out.Noise.Lower}
	}
	var err error
	out.Workload, err = c.workloadAt(math.Exp(enough))
	return out, err
}

// Error returns the alpha such that one answer of the mechanism that was calibrated is within alpha
// of the truth with probability 1 - beta, where its noise is added to a number.
func (c Calibration) Error(beta float64) (alpha float64, ok bool) {
	for _, u := range c.Workload.uses {
		if m := u.Mechanism; m.noise == c.Parameter && m.amount == c.Value() {
			return m.errorAlpha(beta)
		}
	}
	return 0, false
}

// errorAlpha returns the alpha such that one answer is within alpha of the truth with
// probability 1 - beta, where the mechanism adds noise to a number.
func (m Mechanism) errorAlpha(beta float64) (alpha float64, ok bool) {
	var err error
	var whole int64
	switch m.kind.name {
	case "laplace":
		alpha, err = utility.Laplace{Scale: m.sensitivity / m.epsilon()}.Alpha(beta)
	case "gaussian":
		f, failed := m.facts()
		if failed != nil {
			return 0, false
		}
		alpha, err = utility.Gaussian{Sigma: m.sensitivity / f.mu}.Alpha(beta)
	case "discrete-laplace":
		whole, err = utility.DiscreteLaplace{Scale: m.sensitivity / m.epsilon()}.Alpha(beta)
		alpha = float64(whole)
	case "discrete-gaussian":
		f, failed := m.facts()
		if failed != nil {
			return 0, false
		}
		whole, err = utility.DiscreteGaussian{Sigma2: m.sensitivity * m.sensitivity / (2 * f.rho)}.Alpha(beta)
		alpha = float64(whole)
	default:
		return 0, false
	}
	return alpha, err == nil
}
