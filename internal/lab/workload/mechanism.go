package workload

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/privacyloss"
)

type Mechanism struct {
	kind        *kind
	noise       string  // the name of the parameter that was given: epsilon, scale, ...
	amount      float64 // and its value; 0 if it is to be found
	delta       float64
	sensitivity float64
	sample      float64
}

// kind is what a name stands for.
type kind struct {
	name   string
	noise  []string // the parameters that say how much noise there is, one of which is written
	delta  bool     // whether a delta is written too
	sample bool
	moved  bool // whether there is a sensitivity: of the number that noise is added to, or of scores
	whole  bool // whether the sensitivity is a whole number
	facts  func(m Mechanism) (facts, error)
}

// facts are what is known of a mechanism, before sampling: its claims, each where
// there is one, and its law.
type facts struct {
	pure   float64 // epsilon, or 0
	delta  float64
	rho    float64 // zCDP
	mu     float64 // Gaussian-DP
	law    privacyloss.Law
	curve  func() (account.RDP, error)
	sample func(rate float64) (account.RDP, error) // the curve under sampling
}

var kinds = []*kind{
	{name: "laplace", noise: []string{"epsilon", "scale"}, moved: true, sample: true, facts: laplaceFacts},
	{name: "gaussian", noise: []string{"sigma", "rho"}, moved: true, sample: true, facts: gaussianFacts},
	{name: "discrete-laplace", noise: []string{"scale", "epsilon"}, moved: true, whole: true, facts: discreteLaplaceFacts},
	{name: "discrete-gaussian", noise: []string{"sigma2", "rho"}, moved: true, whole: true, facts: discreteGaussianFacts},
	{name: "randomized-response", noise: []string{"epsilon"}, sample: true, facts: pureFacts},
	{name: "exponential", noise: []string{"epsilon"}, moved: true, sample: true, facts: exponentialFacts},
	{name: "pure", noise: []string{"epsilon"}, sample: true, facts: pureFacts},
	{name: "approx", noise: []string{"epsilon"}, delta: true, sample: true, facts: pureFacts},
}

func kindNames() string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.name)
	}
	return strings.Join(out, ", ")
}

// Error says what is wrong with what was written, and what to write.
type Error struct{ Reason string }

func (e *Error) Error() string { return e.Reason }

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// ParseMechanism reads a mechanism such as laplace:epsilon=0.1,sensitivity=2. With
// free, the noise may be left out, to be found.
func ParseMechanism(text string, free bool) (Mechanism, error) {
	name, rest, _ := strings.Cut(text, ":")
	i := slices.IndexFunc(kinds, func(k *kind) bool { return k.name == strings.TrimSpace(name) })
	if i < 0 {
		return Mechanism{}, refuse("there is no mechanism %q: write one of %s", name, kindNames())
	}
	m := Mechanism{kind: kinds[i], sensitivity: 1, sample: 1}
	seen := map[string]bool{}
	for _, part := range strings.Split(rest, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, ok := strings.Cut(part, "=")
		number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if !ok || err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
			return Mechanism{}, refuse("%q of %q is not a parameter with a number: write it like %s=0.1, with a point for decimals", part,
				text, m.kind.noise[0])
		}
		if key = strings.TrimSpace(key); seen[key] {
			return Mechanism{}, refuse("%q says %s twice", text, key)
		}
		seen[key] = true
		if err := m.set(key, number); err != nil {
			return Mechanism{}, err
		}
	}
	if m.noise == "" && !free {
		return Mechanism{},
			refuse("%q does not say how much noise there is: write for example %s:%s=0.1", text, m.kind.name, m.kind.noise[0])
	}
	if m.noise == "" {
		return m, nil
	}
	_, err := m.facts()
	return m, err
}

func (m *Mechanism) set(key string, value float64) error {
	switch {
	case slices.Contains(m.kind.noise, key):
		if m.noise != "" {
			return refuse("%s takes one of %s, not two", m.kind.name, strings.Join(m.kind.noise, " and "))
		}
		if !(value > 0) {
			return refuse("%s is %v, but must be above 0", key, value)
		}
		m.noise, m.amount = key, value
	case key == "delta" && m.kind.delta:
		if !(value >= 0 && value < 1) {
			return refuse("delta is %v, but must be at least 0 and below 1", value)
		}
		m.delta = value
	case key == "sensitivity" && m.kind.moved:
		if !(value > 0) || m.kind.whole && value != math.Trunc(value) || value > 1e9 {
			return refuse("the sensitivity is %v, but must be above 0 and at most 1e9%s", value,
				map[bool]string{true: ", and a whole number"}[m.kind.whole])
		}
		m.sensitivity = value
	case key == "sample" && m.kind.sample:
		if !(value > 0 && value <= 1) {
			return refuse("the sampling rate is %v, but must be above 0 and at most 1", value)
		}
		m.sample = value
	default:
		all := slices.Clone(m.kind.noise)
		if m.kind.moved {
			all = append(all, "sensitivity")
		}
		if m.kind.delta {
			all = append(all, "delta")
		}
		if m.kind.sample {
			all = append(all, "sample")
		}
		return refuse("%s has no parameter %q: it takes %s", m.kind.name, key, strings.Join(all, ", "))
	}
	return nil
}

// String writes the mechanism as ParseMechanism reads it.
func (m Mechanism) String() string {
	var parts []string
	add := func(key string, value float64) {
		parts = append(parts, key+"="+strconv.FormatFloat(value, 'g', -1, 64))
	}
	if m.noise != "" {
		add(m.noise, m.amount)
	}
	if m.kind.delta {
		add("delta", m.delta)
	}
	if m.sensitivity != 1 {
		add("sensitivity", m.sensitivity)
	}
	if m.sample != 1 {
		add("sample", m.sample)
	}
	if len(parts) == 0 {
		return m.kind.name
	}
	return m.kind.name + ":" + strings.Join(parts, ",")
}

// facts returns what is known, or why the parameters are no mechanism.
func (m Mechanism) facts() (facts, error) {
	f, err := m.kind.facts(m)
	if err != nil {
		return facts{}, refuse("%s: %v", m, err)
	}
	return f, nil
}

// divideUp divides, rounding up: a quotient of sensitivity and noise that is too small
// would be a claim too strong.
func divideUp(a, b float64) float64 { return roundUp(a / b) }

func roundUp(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// epsilon is that of noise of a scale, in either spelling.
func (m Mechanism) epsilon() float64 {
	if m.noise == "scale" {
		return divideUp(m.sensitivity, m.amount)
	}
	return m.amount
}

func laplaceFacts(m Mechanism) (facts, error) {
	e := m.epsilon()
	law, err := privacyloss.Laplace(e)
	if err != nil {
		return facts{}, err
	}
	return facts{
		pure: e,
		// The divergence of order 1, at which order over order is largest (Harrison,
		// Manurangsi 2025). Its two terms cancel, and each is rounded by units of e; for
		// a small e the claim of every pure mechanism is the better one.
		rho:    min(roundUp(e+math.Expm1(-e)+e*0x1p-48), dp.RhoOfPure(e)),
		law:    law,
		curve:  func() (account.RDP, error) { return account.LaplaceRDP(e) },
		sample: func(rate float64) (account.RDP, error) { return account.SubsampledLaplaceRDP(e, rate) },
	}, nil
}

func gaussianFacts(m Mechanism) (facts, error) {
	mu := divideUp(m.sensitivity, m.amount)
	if m.noise == "rho" {
		mu = roundUp(math.Sqrt(2 * m.amount))
	}
	law, err := privacyloss.Gaussian(mu)
	if err != nil {
		return facts{}, err
	}
	return facts{
		mu:     mu,
		rho:    roundUp(mu * mu / 2 * (1 + 0x1p-50)),
		law:    law,
		curve:  func() (account.RDP, error) { return account.GaussianRDP(mu) },
		sample: func(rate float64) (account.RDP, error) { return account.SubsampledGaussianRDP(mu, rate) },
	}, nil
}

func discreteLaplaceFacts(m Mechanism) (facts, error) {
	scale := m.amount
	if m.noise == "epsilon" {
		scale = m.sensitivity / m.amount
	}
	law, err := privacyloss.DiscreteLaplace(scale, int(m.sensitivity))
	if err != nil {
		return facts{}, err
	}
	e := divideUp(m.sensitivity, scale)
	a := 1 / scale
	// The divergence of order 1 again: e - (a/sinh a)(1 - exp(-e)).
	tight := roundUp((e + a/math.Sinh(a)*math.Expm1(-e)) + 0x1p-46*(1+e))
	return facts{
		pure: e,
		rho:  min(tight, dp.RhoOfPure(e)),
		law:  law,
		curve: func() (account.RDP, error) {
			return account.NewRDP(func(alpha float64) float64 { return privacyloss.Renyi(law, alpha) }), nil
		},
	}, nil
}

func discreteGaussianFacts(m Mechanism) (facts, error) {
	variance := m.amount
	if m.noise == "rho" {
		variance = m.sensitivity * m.sensitivity / (2 * m.amount)
	}
	law, err := privacyloss.DiscreteGaussian(variance, int(m.sensitivity))
	if err != nil {
		return facts{}, err
	}
	rho := roundUp(m.sensitivity * m.sensitivity / (2 * variance) * (1 + 0x1p-50))
	return facts{rho: rho, law: law, curve: func() (account.RDP, error) { return account.ZCDP{Rho: rho}.RDP() }}, nil
}

// pureFacts are those of a mechanism of which the claim is all that is known.
func pureFacts(m Mechanism) (facts, error) {
	law, err := privacyloss.Response(m.amount, m.delta)
	if err != nil {
		return facts{}, err
	}
	f := facts{pure: m.amount, delta: m.delta, law: law}
	claim, err := account.Approx{Epsilon: m.amount, Delta: m.delta}.ApproxZCDP()
	if err != nil {
		return facts{}, err
	}
	f.rho = claim.Rho
	if m.delta == 0 {
		f.curve = account.Pure{Epsilon: m.amount}.RDP
	}
	return f, nil
}

func exponentialFacts(m Mechanism) (facts, error) {
	f, err := pureFacts(m)
	if err != nil {
		return facts{}, err
	}
	if f.law, err = privacyloss.Exponential(m.amount); err != nil {
		return facts{}, err
	}
	// Bounded range: Cesar, Rogers 2021, Lemma 3.4.
	f.rho = min(f.rho, roundUp(m.amount*m.amount/8))
	f.curve = func() (account.RDP, error) { return account.ExponentialRDP(m.amount) }
	return f, nil
}
