package privacyloss

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// reference holds values of testdata/reference.py.
type reference struct {
	Deltas []struct {
		Terms   [][2]json.RawMessage
		Epsilon float64
		Delta   string
		Digits  int // that are right, 15 or more if 0
	}
	Moments []struct {
		Law    []any
		T, Y   float64
		Re, Im string
	}
}

func load(t *testing.T) (r reference) {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lawOf makes the law that a list in the reference names.
func lawOf(t *testing.T, spec []any) Law {
	t.Helper()
	number := func(i int) float64 { return spec[i].(float64) }
	var l Law
	var err error
	switch spec[0] {
	case "response":
		l, err = Response(number(1), number(2))
	case "laplace":
		l, err = Laplace(number(1))
	case "exponential":
		l, err = Exponential(number(1))
	case "gaussian":
		l, err = Gaussian(number(1))
	case "discreteLaplace":
		l, err = DiscreteLaplace(number(1), int(number(2)))
	case "discreteGaussian":
		l, err = DiscreteGaussian(number(1), int(number(2)))
	case "sampled":
		direction := Remove
		if spec[4] == "add" {
			direction = Add
		}
		l, err = Sampled(lawOf(t, spec[1:3]), number(3), direction)
	}
	return law(t, l, err)
}

func exactly(t *testing.T, text string) *big.Float {
	t.Helper()
	f, _, err := big.ParseFloat(text, 10, 200, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestDeltaAgainstReference: every bracket holds the number, and is narrow where
// nothing is enclosed or cut off.
func TestDeltaAgainstReference(t *testing.T) {
	slow := daily.Choices(t).Below(24) // one of so many, others every day
	for _, r := range load(t).Deltas {
		var s Sum
		loose := 3e-6 // of the width
		for _, term := range r.Terms {
			var spec []any
			var k int
			if err := json.Unmarshal(term[0], &spec); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(term[1], &k); err != nil {
				t.Fatal(err)
			}
			s = s.plus(t, lawOf(t, spec), k)
			switch {
			case spec[0] == "sampled" && (k > 1 || len(r.Terms) > 1):
				loose = 2e-3
			case (spec[0] == "laplace" || spec[0] == "exponential") && k > 1 || len(r.Terms) > 1:
				loose = max(loose, 2e-4)
			}
		}
		// Where the width is not next to nothing it took work.
		if loose > 1e-5 {
			if slow++; slow%24 != 0 && !daily.Full() {
				continue
			}
		}
		want := exactly(t, r.Delta)
		got := deltaOf(t, s, r.Epsilon)
		// Beyond the digits of the reference, and below 1e-280, nothing is known.
		slack := 1e-15
		if r.Digits > 0 {
			slack = math.Pow(10, -float64(r.Digits))
		}
		value, _ := want.Float64()
		low := new(big.Float).SetFloat64(got.Lower * (1 - slack))
		high := new(big.Float).SetFloat64(got.Upper*(1+slack) + 1e-290)
		if low.Cmp(want) > 0 || high.Cmp(want) < 0 {
			t.Errorf("%s at %v: %v does not hold %s", r.Terms, r.Epsilon, got, r.Delta)
		}
		if value > 1e-250 && got.Upper-got.Lower > loose*value+1e-12*math.Abs(value) {
			// Next to the largest loss delta is a difference that no tilt can help.
			if top := s.top(); r.Epsilon < 0.95*top {
				t.Errorf("%s at %v: %v is of relative width %.2g", r.Terms, r.Epsilon, got, width(got))
			}
		}
	}
}

// TestEpsilonAgainstReference asks the same the other way round.
func TestEpsilonAgainstReference(t *testing.T) {
	for i, r := range load(t).Deltas {
		value, _ := exactly(t, r.Delta).Float64()
		if i%16 != 0 || value < 1e-200 || value > 0.999 || r.Epsilon == 0 || r.Digits > 0 {
			continue
		}
		var s Sum
		for _, term := range r.Terms {
			var spec []any
			var k int
			if json.Unmarshal(term[0], &spec) != nil || json.Unmarshal(term[1], &k) != nil {
				t.Fatal("the reference is damaged")
			}
			s = s.plus(t, lawOf(t, spec), k)
		}
		got := epsilonOf(t, s, value)
		// The reference's delta was rounded to a float64, which moves epsilon.
		if got.Lower > r.Epsilon*(1+1e-9) || got.Upper < r.Epsilon*(1-1e-9) {
			t.Errorf("%s at delta %v: %v does not hold %v", r.Terms, value, got, r.Epsilon)
		}
	}
}

// TestCumulantsAgainstReference: M(z) is what it says, within its slack.
func TestCumulantsAgainstReference(t *testing.T) {
	for _, r := range load(t).Moments {
		l := lawOf(t, r.Law).(analytic)
		got, slack := l.cumulant(complex(r.T, r.Y))
		// In high precision, because the logarithms can be large.
		off := func(x float64, text string) float64 {
			d, _ := new(big.Float).Sub(exactly(t, text), new(big.Float).SetPrec(200).SetFloat64(x)).Float64()
			return d
		}
		re, im := off(real(got), r.Re), math.Remainder(off(imag(got), r.Im), 2*math.Pi)
		ratio := math.Hypot(math.Expm1(re), 2*math.Exp(re/2)*math.Sin(im/2))
		if ratio > math.Expm1(slack) {
			t.Errorf("%v at %v+%vi: ln M = %v, want %s + %s i: off by %.2g, said %.2g", r.Law, r.T, r.Y, got, r.Re, r.Im, ratio, slack)
		}
		// A slack that says nothing would always be right. Where M nearly vanishes, it may.
		if real0, _ := l.cumulant(complex(r.T, 0)); slack > 1e-6 && real(got) > real(real0)-6 && r.Y < 1e6 {
			t.Errorf("%v at %v+%vi: slack %.2g", r.Law, r.T, r.Y, slack)
		}
	}
}

// slow is an accountant of another kind: losses are rounded up, or down, to
// multiples of a step and convolved as they are.
type slow struct {
	step  float64
	low   int
	mass  []float64
	never float64
}

// newSlow rounds a law that is given by P(L <= l), and has no mass outside [from, to]
// that would not be moved to infinity.
func newSlow(below func(l float64) float64, from, to, step float64, up bool) *slow {
	s := &slow{step: step, low: int(math.Floor(from/step)) - 1}
	last := int(math.Ceil(to/step)) + 1
	s.mass = make([]float64, last-s.low+1)
	before := 0.0
	for i := range s.mass {
		// The mass of ((i-1) step, i step], rounded up to i step, or down to the other.
		next := below(float64(s.low+i) * step)
		switch {
		case up:
			s.mass[i] += next - before
		case i > 0:
			s.mass[i-1] += next - before
		}
		before = next
	}
	if up {
		s.never = 1 - before
	}
	return s
}

func (s *slow) times(o *slow) *slow {
	out := &slow{step: s.step, low: s.low + o.low, mass: make([]float64, len(s.mass)+len(o.mass)-1)}
	out.never = 1 - (1-s.never)*(1-o.never)
	for i, a := range s.mass {
		if a == 0 {
			continue
		}
		for j, b := range o.mass {
			out.mass[i+j] += a * b
		}
	}
	return out
}

func (s *slow) delta(epsilon float64) float64 {
	d := s.never
	for i, m := range s.mass {
		if l := float64(s.low+i) * s.step; l > epsilon {
			d += m * -math.Expm1(epsilon-l)
		}
	}
	return d
}

// TestAgainstSlowAccountant: brackets of both ways must overlap, in sums of unlike mechanisms too.
func TestAgainstSlowAccountant(t *testing.T) {
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	laplace := func(e float64) func(l float64) float64 {
		return func(l float64) float64 {
			switch {
			case l < -e:
				return 0
			case l >= e:
				return 1
			}
			// The noise is beyond x = (e - l)/(2e) of the way.
			return math.Exp(-(e-l)/2) / 2
		}
	}
	normal := func(mu float64) func(l float64) float64 {
		return func(l float64) float64 { return cdf(l/mu - mu/2) }
	}
	removed := func(mu, q float64) func(l float64) float64 {
		return func(l float64) float64 {
			s := 1 + math.Expm1(l)/q
			if s <= 0 {
				return 0
			}
			x := math.Log(s)/mu + mu/2
			return (1-q)*cdf(x) + q*cdf(x-mu)
		}
	}
	added := func(mu, q float64) func(l float64) float64 {
		return func(l float64) float64 {
			s := 1 + math.Expm1(-l)/q
			if s <= 0 {
				return 1
			}
			return 1 - cdf(math.Log(s)/mu+mu/2)
		}
	}
	const step = 4e-3
	type compared struct {
		name     string
		one, two func(l float64) float64
		reach    float64 // of one of them
		sum      Sum
		squares  int // how often the two together are doubled
	}
	for _, c := range daily.Sample(t, []compared{
		{"Laplace", laplace(0.25), laplace(0.25), 0.25, times(t, lap(t, 0.25), 8), 2},
		{"Laplace and Gaussian", laplace(0.5), normal(0.3), 2.5, times(t, lap(t, 0.5), 2).plus(t, gauss(t, 0.3), 2), 1},
		{"sampled, removed", removed(1, 0.1), removed(1, 0.1), 4, times(t, sampledLaw(t, gauss(t, 1), 0.1, Remove), 4), 1},
		{"sampled, added", added(1, 0.1), added(1, 0.1), 4, times(t, sampledLaw(t, gauss(t, 1), 0.1, Add), 4), 1},
		{"sampled and not", removed(1, 0.1), laplace(0.4), 4,
			times(t, sampledLaw(t, gauss(t, 1), 0.1, Remove), 2).plus(t, lap(t, 0.4), 2), 1},
	}, 2) {
		var ends [2]*slow
		for i, up := range []bool{false, true} {
			s := newSlow(c.one, -c.reach, c.reach, step, up).times(newSlow(c.two, -c.reach, c.reach, step, up))
			for range c.squares {
				s = s.times(s)
			}
			ends[i] = s
		}
		for _, e := range []float64{0, 0.1, 0.301, 0.8, 1.5} {
			b := dp.Bracket{Lower: ends[0].delta(e) * (1 - 1e-9), Upper: ends[1].delta(e)*(1+1e-9) + 1e-12}
			got := deltaOf(t, c.sum, e)
			if !overlap(got, b) {
				t.Errorf("%s at %v: %v, slowly %v", c.name, e, got, b)
			}
		}
	}
}
