package mech

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/utility"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

var (
	general  = Scoring{Sensitivity: 1}
	monotone = Scoring{Sensitivity: 1, Monotone: true}
)

func exponential(s Scoring, epsilon string) *exponentialSelector {
	return must(NewExponential(s, amount(epsilon))).(*exponentialSelector)
}

func permuteAndFlip(s Scoring, epsilon string) *flipSelector {
	return must(NewPermuteAndFlip(s, amount(epsilon))).(*flipSelector)
}

func noisyMax(form NoisyMaxForm, s Scoring, epsilon string) *noisyMaxSelector {
	return must(NewNoisyMax(form, s, amount(epsilon))).(*noisyMaxSelector)
}

// bases have ties, a clear winner and a clear loser.
var bases = [][]int64{{0, 0}, {0, 2}, {5, 0}, {0, 0, 0}, {3, 1, 0}, {0, 0, 9}, {0, 9, 9}}

var scorings = []struct {
	s       Scoring
	epsilon string
}{{general, "1"}, {monotone, "1"}, {general, "0.1"}, {monotone, "3"}, {Scoring{2, false}, "0.7"}, {Scoring{2, true}, "0.7"}}

// The law of the samplers, measured through them, loses no more than epsilon and
// rho between any two neighbours, and no less epsilon.
func TestSelectExact(t *testing.T) {
	for _, c := range scorings {
		em, pf := exponential(c.s, c.epsilon), permuteAndFlip(c.s, c.epsilon)
		// The exponential mechanism's loss is epsilon only in the limit, of a candidate that
		// is far below the best.
		b, _ := em.Parameter().Float64()
		far := append([][]int64{{0, int64(6 * b)}}, bases...)
		if err := checkSelection(exponentialLaw(em), c.s, em.Cost(), far, 0.99); err != nil {
			t.Errorf("exponential, %v, epsilon %s: %v", c.s, c.epsilon, err)
		}
		if err := checkSelection(flipLaw(pf), c.s, pf.Cost(), bases, 0.999999); err != nil {
			t.Errorf("permute-and-flip, %v, epsilon %s: %v", c.s, c.epsilon, err)
		}
	}
}

// On the integers, ties and all. Three candidates are enumerated at a large epsilon
// only, where few noises matter.
func TestNoisyMaxExact(t *testing.T) {
	for _, form := range []NoisyMaxForm{LaplaceNoise, GeometricNoise} {
		for _, c := range scorings[:4] {
			m := noisyMax(form, c.s, c.epsilon)
			if err := checkSelection(noisyLaw(m, firstHighest), c.s, m.Cost(), bases[:3], 0.5); err != nil {
				t.Errorf("%s, %v, epsilon %s: %v", m.Name(), c.s, c.epsilon, err)
			}
		}
		m := noisyMax(form, general, "6")
		if err := checkSelection(noisyLaw(m, firstHighest), general, m.Cost(), [][]int64{{0, 0, 0}, {1, 0, 1}}, 0.9); err != nil {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
}

// The exact laws are those of package utility, where there is one.
func TestSelectLaws(t *testing.T) {
	for _, c := range scorings {
		d, e := float64(c.s.Sensitivity), amount(c.epsilon).Float()
		s := utility.Selection{Epsilon: e, Sensitivity: d, Monotone: c.s.Monotone}
		for _, x := range bases {
			var f []float64
			for _, v := range x {
				f = append(f, float64(v))
			}
			em, _ := s.Exponential(f)
			pf, _ := s.PermuteAndFlip(f)
			for i, got := range exponentialLaw(exponential(c.s, c.epsilon))(x) {
				if want := em.Probabilities()[i]; math.Abs(got-want) > 1e-12 {
					t.Errorf("exponential of %v: P(%d) = %v, want %v", x, i, got, want)
				}
			}
			for i, got := range flipLaw(permuteAndFlip(c.s, c.epsilon))(x) {
				if want := pf.Probabilities()[i]; math.Abs(got-want) > 1e-12 {
					t.Errorf("permute-and-flip of %v: P(%d) = %v, want %v", x, i, got, want)
				}
			}
			if pf.ExpectedError() > em.ExpectedError()*(1+1e-12) {
				t.Errorf("permute-and-flip is worse on %v", x)
			}
		}
	}
	// With geometric noise on a lattice that is made ever finer, noisy max
	// approaches permute-and-flip; with ties it is not the same.
	want := math.Exp(-1) / 2
	last := 1.0
	for _, steps := range []int64{1, 4, 16} {
		m := noisyMax(GeometricNoise, Scoring{steps, false}, "1")
		off := math.Abs(noisyLaw(m, firstHighest)([]int64{2 * steps, 0})[1] - want)
		if off > last/3 || off == 0 {
			t.Errorf("%d steps: %v from permute-and-flip", steps, off)
		}
		last = off
	}
	if m, err := NewNoisyMax(GumbelNoise, general, dp.One); err != nil || m.Name() != "exponential" {
		t.Errorf("noisy max with Gumbel noise is %v, %v", m, err)
	}
}

// Values computed to 17 digits from first principles.
func TestSelectGolden(t *testing.T) {
	hair := exponentialLaw(exponential(general, "0.1"))([]int64{500, 400, 60, 40})
	for i, want := range []float64{0.99330714869923997, 0.0066928509217481858, 2.7707985977151384e-10, 1.0193198397260611e-10} {
		if math.Abs(hair[i]-want) > 1e-9 {
			t.Errorf("hair colour %d: %v, want %v", i, hair[i], want)
		}
	}
	if got := exponentialLaw(exponential(general, "1"))([]int64{2, 0})[1]; math.Abs(got-0.268941421) > 1e-9 {
		t.Errorf("exponential: the worst of two %v", got)
	}
	if got := flipLaw(permuteAndFlip(general, "1"))([]int64{2, 0})[1]; math.Abs(got-0.183939721) > 1e-9 {
		t.Errorf("permute-and-flip: the worst of two %v", got)
	}
}

func TestSelectCost(t *testing.T) {
	for _, c := range []struct {
		epsilon  string
		em, pure float64
	}{{"1", 0.125, 0.46211715726000976}, {"0.5", 0.03125, 0.12245933120185456}, {"20", 19.999999917553855, 19.999999917553855}} {
		em, pf := exponential(general, c.epsilon).Cost(), permuteAndFlip(monotone, c.epsilon).Cost()
		if em.Epsilon != amount(c.epsilon) || pf.Epsilon != em.Epsilon || em.Delta != 0 || pf.Delta != 0 {
			t.Errorf("costs %v and %v", em, pf)
		}
		if em.Rho.Float() < c.em || em.Rho.Float() > c.em+1e-11 || pf.Rho.Float() < c.pure || pf.Rho.Float() > c.pure+1e-11 {
			t.Errorf("epsilon %s: rho %v and %v", c.epsilon, em.Rho.Float(), pf.Rho.Float())
		}
	}
	if m := exponential(Scoring{3, false}, "0.5"); m.Parameter().RatString() != "12" {
		t.Errorf("2D/epsilon is %v", m.Parameter())
	}
	if m := permuteAndFlip(Scoring{3, true}, "0.5"); m.Parameter().RatString() != "6" {
		t.Errorf("D/epsilon is %v", m.Parameter())
	}
}

func selectors(t testing.TB, s Scoring, epsilon string) []Selector {
	return []Selector{exponential(s, epsilon), permuteAndFlip(s, epsilon),
		noisyMax(LaplaceNoise, s, epsilon), noisyMax(GeometricNoise, s, epsilon)}
}

func TestSelectReplay(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range []Scoring{{3, false}, {3, true}} {
		for _, m := range selectors(t, s, "0.5") {
			for range 200 {
				x := make([]int64, 1+rng.IntN(9))
				y := make([]int64, len(x))
				for i := range x {
					x[i] = rng.Int64N(100)
					y[i] = x[i] + rng.Int64N(s.Sensitivity+1)
					if !s.Monotone {
						y[i] = x[i] + rng.Int64N(2*s.Sensitivity+1) - s.Sensitivity
					}
				}
				if err := checkSelectReplay(chooseWith(m), x, y); err != nil {
					t.Fatalf("%s: %v", m.Name(), err)
				}
			}
		}
	}
}

// The scores are {0, 0, 1} and a neighbour; every event of the index is tried.
func TestSelectStatistical(t *testing.T) {
	for _, m := range daily.Sample(t, selectors(t, general, "1"), 2) {
		f := releaseFunc(chooseWith(m))
		if err := checkHockeyStick(f, []int64{0, 0, 1}, []int64{1, -1, 0}, draws/20, map[float64]float64{1: 0}); err != nil {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
	// The test sees something: permute-and-flip loses 1 here, and more than 0.9.
	flipped := drawAnswers(releaseFunc(chooseWith(permuteAndFlip(general, "1"))), []int64{0, 0}, []int64{1, -1}, draws/10)
	if err := flipped.check(map[float64]float64{1: 0}); err != nil {
		t.Error(err)
	}
	if err := flipped.check(map[float64]float64{0.9: 0}); err == nil {
		t.Error("the test cannot tell epsilon 1 from 0.9: it would see nothing")
	}
	for _, m := range daily.Sample(t, selectors(t, monotone, "1"), 2) {
		f := releaseFunc(chooseWith(m))
		if err := checkHockeyStick(f, []int64{0, 0, 0}, []int64{1, 0, 0}, draws/20, map[float64]float64{1: 0}); err != nil {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
}

// What is drawn has the law that is claimed: of 20,000 draws no share is further than six
// deviations from it.
func TestSelectDraws(t *testing.T) {
	const n = 20_000
	for _, m := range selectors(t, general, "4") {
		law := lawOf(nil)
		switch m := m.(type) {
		case *exponentialSelector:
			law = exponentialLaw(m)
		case *flipSelector:
			law = flipLaw(m)
		case *noisyMaxSelector:
			law = noisyLaw(m, firstHighest)
		}
		for _, scores := range [][]int64{{1, 1}, {2, 1}} {
			r, drawn := seeded(7), make([]float64, len(scores))
			for range n {
				i, err := r.Select(Seal(scores...), m)
				if err != nil {
					t.Fatal(err)
				}
				drawn[i]++
			}
			for i, p := range law(scores) {
				if off := math.Abs(drawn[i]/n - p); off > 6*math.Sqrt(p*(1-p)/n) {
					t.Errorf("of %v %s takes %d in %v of %d draws, and its law says %v", scores, m.Name(), i, drawn[i]/n, n, p)
				}
			}
		}
	}
}

// The most extreme scores are no error and overflow nothing.
func TestSelectRange(t *testing.T) {
	for _, m := range selectors(t, general, "1") {
		for range 50 {
			if i, err := seeded(3).Select(Seal(math.MinInt64, math.MaxInt64, 0, math.MinInt64), m); i != 1 || err != nil {
				t.Errorf("%s chose %d, %v", m.Name(), i, err)
			}
		}
	}
	if got := firstHighest([]int64{math.MaxInt64, 0}, []int64{math.MaxInt64, math.MinInt64}); got != 0 {
		t.Errorf("a sum wrapped around")
	}
	if got := firstHighest([]int64{1, 2, 2, 0}, []int64{1, 0, 0, 2}); got != 0 {
		t.Errorf("of equals %d is first", got)
	}
}

func TestSelectRefusals(t *testing.T) {
	src := newStream(1)
	r := NewReleaser(entropy.FromReader(src))
	r.Record(func(Call) { t.Error("something was done") })
	build := []func(Scoring, dp.Amount) error{
		func(s Scoring, e dp.Amount) error { _, err := NewExponential(s, e); return err },
		func(s Scoring, e dp.Amount) error { _, err := NewPermuteAndFlip(s, e); return err },
		func(s Scoring, e dp.Amount) error { _, err := NewNoisyMax(LaplaceNoise, s, e); return err },
		func(s Scoring, e dp.Amount) error { _, err := NewNoisyMax(GeometricNoise, s, e); return err },
		func(s Scoring, e dp.Amount) error { _, err := NewNoisyMax(GumbelNoise, s, e); return err },
	}
	for i, f := range build {
		for _, c := range []struct {
			s    Scoring
			e    dp.Amount
			want error
		}{
			{Scoring{}, dp.One, errScoring}, {Scoring{-1, true}, dp.One, errScoring},
			{general, 0, ErrNoPrivacy}, {general, dp.Unbounded, ErrNoPrivacy},
		} {
			if err := f(c.s, c.e); !errors.Is(err, c.want) {
				t.Errorf("%d: %v, %v: %v", i, c.s, c.e, err)
			}
		}
	}
	if _, err := NewNoisyMax(LaplaceNoise, Scoring{1 << 40, false}, dp.One); !errors.Is(err, ErrScale) {
		t.Errorf("too wide: %v", err)
	}
	if _, err := NewNoisyMax(0, general, dp.One); !errors.Is(err, errMaxNoise) {
		t.Errorf("no noise: %v", err)
	}
	for _, m := range selectors(t, general, "1") {
		if _, err := r.Select(Seal(), m); !errors.Is(err, errNoCandidates) {
			t.Errorf("%s of nothing: %v", m.Name(), err)
		}
		top, _ := NewTopK(3, m)
		if _, err := r.SelectTop(Seal(1, 2), top); !errors.Is(err, errTop) {
			t.Errorf("3 of 2: %v", err)
		}
		if _, err := r.SelectTop(Exact{}, top); !errors.Is(err, errNoCandidates) {
			t.Errorf("3 of nothing: %v", err)
		}
		for _, k := range []int{0, -1, maxTopK + 1} {
			if _, err := NewTopK(k, m); !errors.Is(err, errTop) {
				t.Errorf("top %d: %v", k, err)
			}
		}
	}
	if src.read != 0 {
		t.Errorf("%d bytes were drawn", src.read)
	}
}

// What is recorded stays sealed.
func TestSelectRecord(t *testing.T) {
	r := seeded(1)
	var calls []Call
	r.Record(func(c Call) { calls = append(calls, c) })
	m := permuteAndFlip(Scoring{2, true}, "0.5")
	if _, err := r.Select(Seal(123456, 7), m); err != nil {
		t.Fatal(err)
	}
	if len(calls) != 1 || calls[0].Mechanism != "permute-and-flip" || calls[0].Parameter.RatString() != "4" ||
		calls[0].Scoring.String() != "2 (each score, monotone)" {
		t.Errorf("calls %v", calls)
	}
	calls[0].Parameter.SetInt64(1)
	if m.Parameter().RatString() != "4" {
		t.Error("a caller changed a selector")
	}
}

// Ordered pairs of three: peeling loses at most twice epsilon, which the law of
// one-shot Gumbel noise, that of Plackett and Luce, has too.
func TestTopKExact(t *testing.T) {
	m := exponential(general, "0.7")
	top := must(NewTopK(2, m))
	if c := top.Cost(); c.Epsilon != 2*m.Cost().Epsilon || c.Rho != 2*m.Cost().Rho || top.k != 2 || top.Selector() != Selector(m) {
		t.Errorf("cost %v", c)
	}
	// Every first word and every second word is one choice: bisect the first, and for
	// each outcome the second.
	pairs := func(x []int64) []float64 {
		out := make([]float64, 9)
		first := exponentialLaw(m)(x)
		at := 0.0
		for i, p := range first {
			middle := uint64(math.Ldexp(at+p/2, 64))
			at += p
			before := 0.0
			for j := range len(x) - 1 {
				low, high := uint64(0), uint64(1)<<fine
				var name int
				for low < high {
					mid := low + (high-low)/2
					got, err := NewReleaser(sourceOfWords(middle, mid<<(64-fine))).SelectTop(Seal(x...), top)
					if err != nil || got[0] != i {
						t.Fatalf("%v, %v", got, err)
					}
					rank := got[1]
					if rank > i {
						rank--
					}
					if rank <= j {
						low, name = mid+1, got[1]
					} else {
						high = mid
					}
				}
				end := math.Ldexp(float64(low), -fine)
				out[3*i+name] += p * (end - before)
				before = end
			}
		}
		return out
	}
	b, _ := m.Parameter().Float64()
	for _, x := range [][]int64{{0, 0, 0}, {3, 1, 0}, {1, 4, 2}} {
		p, w := pairs(x), make([]float64, 3)
		for i, v := range x {
			w[i] = math.Exp(float64(v) / b)
		}
		all := w[0] + w[1] + w[2]
		for i := range 3 {
			for j := range 3 {
				if want := w[i] / all * w[j] / (all - w[i]); i != j && math.Abs(p[3*i+j]-want) > 1e-11 {
					t.Errorf("%v: P(%d, %d) = %v, one-shot %v", x, i, j, p[3*i+j], want)
				}
			}
		}
		for _, y := range neighboursOf(x, general) {
			q := pairs(y)
			for i := range p {
				if p[i] > 0 && math.Abs(math.Log(p[i]/q[i])) > top.Cost().Epsilon.Float()+1e-9 {
					t.Errorf("%v and %v: too much is lost", x, y)
				}
			}
		}
	}
}

// Ordered pairs of three, each a number from -1 to 5.
func TestTopKStatistical(t *testing.T) {
	for _, m := range daily.Sample(t, selectors(t, general, "0.5"), 2) {
		top := must(NewTopK(2, m))
		f := func(r *Releaser, x []int64) []int64 {
			i := must(r.SelectTop(Seal(x...), top))
			return []int64{int64(3*i[0]+i[1]) - 2, 0}
		}
		if err := checkHockeyStick(f, []int64{0, 0, 0}, []int64{1, 1, -1}, draws/20, map[float64]float64{1: 0}); err != nil {
			t.Errorf("%s: %v", top.Name(), err)
		}
	}
}

func TestTopK(t *testing.T) {
	for _, m := range selectors(t, monotone, "50") {
		top := must(NewTopK(3, m))
		x := []int64{5, 90, 30, 70, 1}
		e := Seal(x...)
		got, err := seeded(1).SelectTop(e, top)
		if err != nil || !slices.Equal(got, []int{1, 3, 2}) || !slices.Equal(e.Open(), x) {
			t.Errorf("%s: %v, %v", top.Name(), got, err)
		}
		all, _ := NewTopK(5, m)
		if got, _ := seeded(2).SelectTop(e, all); !slices.Equal(got, []int{1, 3, 2, 0, 4}) {
			t.Errorf("%s: %v", all.Name(), got)
		}
		f := func(r *Releaser, scores []int64) []int64 {
			if _, err := r.SelectTop(Seal(scores...), top); err != nil {
				t.Fatal(err)
			}
			return nil
		}
		if err := checkSelectReplay(f, x, []int64{6, 91, 30, 71, 1}); err != nil {
			t.Errorf("%s: %v", top.Name(), err)
		}
	}
}

func TestChooseSelector(t *testing.T) {
	for _, c := range []struct {
		b               Currency
		amount          string
		name, says      string
		epsilon, within float64
	}{
		{Pure, "1", "permute-and-flip", "never worse", 1, 0},
		{Concentrated, "0.125", "exponential", "epsilon^2/8", 1, 0},
		{Concentrated, "0.02", "exponential", "an epsilon of 0.20", 0.4, 1e-11},
		{Concentrated, "100", "permute-and-flip", "never worse", 100, 1e-9},
	} {
		m, why, err := ChooseSelector(c.b, amount(c.amount), general)
		if err != nil || m.Name() != c.name || !strings.Contains(why, c.says) || math.Abs(m.Cost().Epsilon.Float()-c.epsilon) > c.within {
			t.Errorf("%v %s: %v, %q, %v", c.b, c.amount, m, why, err)
			continue
		}
		if cost := m.Cost(); c.b == Pure && cost.Epsilon > amount(c.amount) || c.b == Concentrated && cost.Rho > amount(c.amount) {
			t.Errorf("%s costs %v", c.amount, cost)
		}
	}
	// No amount is overspent, and hardly any is left.
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		a := dp.Amount(1 + rng.Uint64N(uint64(dp.One)<<5)>>rng.IntN(30))
		m, _, err := ChooseSelector(Concentrated, a, monotone)
		if err != nil {
			t.Fatalf("%v: %v", a, err)
		}
		if rho := m.Cost().Rho; rho > a || float64(a-rho) > 2+float64(a)*1e-9 {
			t.Fatalf("of %d units %d are used", a, rho)
		}
	}
	for _, c := range []struct {
		b    Currency
		a    dp.Amount
		s    Scoring
		want error
	}{{0, dp.One, general, ErrCurrency}, {Pure, 0, general, ErrNoPrivacy}, {Concentrated, dp.Unbounded, general, ErrNoPrivacy},
		{Pure, dp.One, Scoring{}, errScoring}, {Concentrated, dp.One, Scoring{}, errScoring}} {
		if _, _, err := ChooseSelector(c.b, c.a, c.s); !errors.Is(err, c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// selects wraps the choice of another selector in the claims of this one.
type selects struct {
	Selector
	choice Selector
}

func (s selects) pick(src *noise.Source, x []int64) int { return s.choice.pick(src, x) }

func scaled(t *testing.T, m Selector, by string) *big.Rat {
	f, ok := new(big.Rat).SetString(by)
	if !ok {
		t.Fatal(by)
	}
	return f.Mul(f, m.Parameter())
}

// Every one of these was made in some library or textbook.
func TestSelectPlantedBugs(t *testing.T) {
	em, pf := exponential(general, "1"), permuteAndFlip(general, "1")
	lap, geo := noisyMax(LaplaceNoise, general, "1"), noisyMax(GeometricNoise, general, "1")
	short := func(m Selector, by string) Selector {
		b := scaled(t, m, by)
		if m.Name() == "exponential" {
			return &exponentialSelector{calibratedSelector{general, m.Cost(), b}, new(big.Rat).Inv(b)}
		}
		return &flipSelector{calibratedSelector{general, m.Cost(), b}, new(big.Rat).Inv(b)}
	}
	// Far candidates, where the exponential mechanism attains its claim nearly.
	far := append([][]int64{{0, 6, 6, 6}}, bases...)
	shortNoise := func(m *noisyMaxSelector, by string) *noisyMaxSelector {
		c := *m
		c.b = scaled(t, m, by)
		c.sampler, _ = noise.NewLaplace(c.b)
		return &c
	}
	charged := func(m Selector, rho float64) dp.Cost {
		c := m.Cost()
		c.Rho, _ = dp.CeilFloat(rho)
		return c
	}
	// Of equals the one with the higher exact score: the order of ties is private.
	tiesByScore := func(scores, z []int64) int {
		at := 0
		for i := range scores {
			v, best := scores[i]+z[i], scores[at]+z[at]
			if v > best || v == best && scores[i] > scores[at] {
				at = i
			}
		}
		return at
	}
	offByOne := func(scores, z []int64) int { return (firstHighest(scores, z) + 1) % len(scores) }
	// No noise for the candidates whose score is zero.
	skipsZero := func(scores, z []int64) int {
		w := slices.Clone(z)
		for i, s := range scores {
			if s == 0 {
				w[i] = 0
			}
		}
		return firstHighest(scores, w)
	}
	// The noisy value is released with the index, at the price of the index.
	withValue := func(r *Releaser, x []int64) []int64 {
		z := make([]int64, len(x))
		noisyMax(LaplaceNoise, monotone, "1").sampler.Fill(r.src, z)
		i := firstHighest(x, z)
		return []int64{10*int64(i) + max(-4, min(x[i]+z[i], 5)), 0}
	}
	// The original loop: how often coins are flipped depends on the scores.
	stopsEarly := func(r *Releaser, x []int64) []int64 {
		i, _ := r.Select(Seal(x...), pf)
		for _, g := range gapsBelow(x) {
			if noise.BernoulliExp(r.src, new(big.Rat).SetInt(new(big.Int).SetUint64(g))) {
				break
			}
		}
		return []int64{int64(i), 0}
	}
	// Candidates that nobody has are left out: the set is private.
	leavesOut := func(r *Releaser, x []int64) []int64 {
		y := slices.DeleteFunc(slices.Clone(x), func(v int64) bool { return v == 0 })
		i, _ := r.Select(Seal(y...), em)
		return []int64{int64(i), 0}
	}
	const n = draws / 10
	for _, c := range []struct {
		name  string
		check func() error
	}{
		{"exponential, b short by 5 %", func() error {
			return checkSelection(exponentialLaw(short(em, "0.95")), general, em.Cost(), far, 0)
		}},
		{"exponential, monotone b for general scores", func() error {
			return checkSelection(exponentialLaw(short(em, "0.5")), general, em.Cost(), bases, 0)
		}},
		{"exponential, twice the b", func() error {
			return checkSelection(exponentialLaw(short(em, "2")), general, em.Cost(), far, 0.9)
		}},
		{"exponential, worst score best", func() error {
			neg := func(x []int64) []float64 { return exponentialLaw(em)([]int64{-x[0], -x[1]}) }
			if p := neg([]int64{2, 0}); math.Abs(p[1]-0.268941421) > 1e-9 {
				return errors.New("the law is another")
			}
			return nil
		}},
		{"exponential, charged half", func() error {
			return checkSelection(exponentialLaw(em), general, charged(em, 0.0625), far, 0)
		}},
		{"permute-and-flip, b short by 5 %", func() error {
			return checkSelection(flipLaw(short(pf, "0.95")), general, pf.Cost(), bases, 0)
		}},
		{"permute-and-flip, monotone b for general scores", func() error {
			return checkSelection(flipLaw(short(pf, "0.5")), general, pf.Cost(), bases, 0)
		}},
		{"permute-and-flip, charged epsilon^2/8", func() error {
			return checkSelection(flipLaw(pf), general, charged(pf, 0.125), bases, 0)
		}},
		{"noisy max, Laplace b short by half", func() error {
			return checkSelection(noisyLaw(shortNoise(lap, "0.5"), firstHighest), general, lap.Cost(), bases[:3], 0)
		}},
		{"noisy max, geometric b short by 5 %", func() error {
			return checkSelection(noisyLaw(shortNoise(geo, "0.95"), firstHighest), general, geo.Cost(), bases[:3], 0)
		}},
		{"noisy max, ties by score", func() error {
			return checkSelection(noisyLaw(geo, tiesByScore), general, geo.Cost(), bases[:3], 0)
		}},
		{"noisy max, off by one", func() error {
			if p := noisyLaw(lap, offByOne)([]int64{5, 0}); p[0] < p[1] {
				return errors.New("the best is not the likeliest")
			}
			return nil
		}},
		{"noisy max, no noise for zero", func() error {
			return checkSelection(noisyLaw(geo, skipsZero), general, geo.Cost(), bases[:3], 0)
		}},
		{"noisy max, value released", func() error {
			return catchHockeyStick(withValue, []int64{0, 0, 0}, []int64{1, 1, 1}, n, map[float64]float64{1: 0})
		}},
		{"half b, statistical", func() error {
			return catchHockeyStick(releaseFunc(chooseWith(selects{pf, short(pf, "0.5")})), []int64{0, 0, 1}, []int64{1, -1, 0}, n,
				map[float64]float64{1: 0})
		}},
		{"half b, exponential, statistical", func() error {
			return catchHockeyStick(releaseFunc(chooseWith(selects{em, short(em, "0.5")})), []int64{0, 5, 5}, []int64{1, 4, 4}, n,
				map[float64]float64{1: 0})
		}},
		{"stops early, replay", func() error {
			for seed := range int64(20) {
				if err := checkSelectReplay(stopsEarly, []int64{seed, 20, 0}, []int64{seed + 1, 19, 1}); err != nil {
					return err
				}
			}
			return checkSelectReplay(stopsEarly, []int64{1, 0, 0, 0, 0, 0, 0}, []int64{0, 1, 0, 0, 0, 0, 0})
		}},
		{"empty candidates left out, replay", func() error { return checkSelectReplay(leavesOut, []int64{0, 5}, []int64{1, 5}) }},
		{"scores move too far, replay", func() error { return checkSelectReplay(chooseWith(em), []int64{0, 5}, []int64{2, 5}) }},
		{"scores not monotone, replay", func() error {
			return checkSelectReplay(chooseWith(exponential(monotone, "1")), []int64{0, 5}, []int64{1, 4})
		}},
	} {
		if err := c.check(); err == nil {
			t.Errorf("%s: not caught", c.name)
		} else {
			t.Logf("%s: %v", c.name, err)
		}
	}
}
