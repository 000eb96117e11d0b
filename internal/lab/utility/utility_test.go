package utility

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/numeric"
	"pgregory.net/rapid"
)

// An alpha holds as often as it says, and a smaller one does not.
func TestCoverage(t *testing.T) {
	const beta, trials = 0.1, 40000
	r := rand.New(rand.NewPCG(1, 2))
	geometric := func(b float64) float64 { return math.Floor(r.ExpFloat64() * b) }
	laplace := func() float64 { return 3 * r.ExpFloat64() * float64(1-2*r.IntN(2)) }
	must := func(x float64, err error) float64 {
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	whole := func(x int64, err error) float64 { return must(float64(x), err) }
	all := must(BetaOfEachIndependent(5, beta))
	people := RandomizedResponse{Epsilon: 1, People: 60}
	for _, c := range []struct {
		name  string
		alpha float64
		least float64 // the probability of being beyond is at least this
		draw  func() float64
	}{
		{"Laplace", must(Laplace{3}.Alpha(beta)), beta, laplace},
		{"Gaussian", must(Gaussian{2}.Alpha(beta)), beta, func() float64 { return 2 * r.NormFloat64() }},
		{"discrete Laplace", whole(DiscreteLaplace{20}.Alpha(beta)), 0.9 * beta, func() float64 { return geometric(20) - geometric(20) }},
		{"five Laplace", must(Laplace{3}.Alpha(all)), beta, func() float64 {
			most := 0.0
			for range 5 {
				most = math.Max(most, math.Abs(laplace()))
			}
			return most
		}},
		{"randomized response", must(people.AlphaAt(20, beta)), 0.5 * beta, func() float64 {
			sum := 0.0
			for i := range people.People {
				truth := i < 20
				if r.Float64() < 1/(1+math.Exp(1)) {
					truth = !truth
				}
				if truth {
					sum++
				}
			}
			g := math.Tanh(0.5) / 2
			return (sum/60-0.5+g)/(2*g) - 20.0/60
		}},
		{"Hoeffding", must(people.Alpha(beta)), 0, func() float64 { return 0 }},
	} {
		beyond := 0.0
		for range trials {
			if math.Abs(c.draw()) > c.alpha*(1+1e-12) {
				beyond++
			}
		}
		noise := 4 * math.Sqrt(beta/trials)
		if p := beyond / trials; p > beta+noise || p < c.least-noise {
			t.Errorf("%s: %v is beyond alpha %v, want %v", c.name, p, c.alpha, beta)
		}
	}
}

// AboveThreshold with the noise that the theorem is about errs by more than alpha
// less often than beta.
func TestSparseVectorCoverage(t *testing.T) {
	const beta, trials = 0.2, 4000
	v := SparseVector{Epsilon: 1, Sensitivity: 1, Queries: 20, Answers: 1}
	scale := must(v.Scale())
	alpha := must(v.Alpha(beta))
	r := rand.New(rand.NewPCG(3, 4))
	laplace := func(b float64) float64 { return b * (r.ExpFloat64() - r.ExpFloat64()) }
	failed := 0.0
	for range trials {
		threshold := laplace(scale)
		for range v.Queries {
			// A question just below the threshold less alpha that is reported above.
			if -alpha-1e-9+laplace(2*scale) >= threshold {
				failed++
				break
			}
		}
	}
	if failed/trials > beta {
		t.Errorf("it failed in %v of all trials, more than %v", failed/trials, beta)
	}
}

func TestSparseVectorFormulas(t *testing.T) {
	for _, c := range []struct {
		v    SparseVector
		want float64
	}{
		{SparseVector{0.5, 0, 1, 100, 1}, 8 * (math.Log(100) + math.Log(2/0.05)) / 0.5},
		{SparseVector{0.5, 1e-6, 1, 100, 1}, 8 * (math.Log(100) + math.Log(2/0.05)) / 0.5},
		{SparseVector{0.5, 0, 3, 100, 4}, 3 * 32 * (math.Log(100) + math.Log(8/0.05)) / 0.5},
		{SparseVector{0.5, 1e-6, 1, 1000, 60}, math.Sqrt(512*60*math.Log(1e6)) * (math.Log(1000) + math.Log(120/0.05)) / 0.5},
	} {
		if got, err := c.v.Alpha(0.05); err != nil || math.Abs(got/c.want-1) > 1e-13 || got < c.want*(1-1e-15) {
			t.Errorf("%+v: %v (%v), want %v", c.v, got, err, c.want)
		}
	}
}

// The certificate of a quantile is its tail.
func TestQuantilesAreOutward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		beta := math.Exp(-rapid.Float64Range(1e-9, 700).Draw(t, "-ln beta"))
		z := must(Gaussian{1}.Alpha(beta))
		if beta >= smallestBeta {
			if p := math.Erfc(z / math.Sqrt2); p > beta || p < beta*(1-1e-11) {
				t.Fatalf("beta %v: alpha %v has the tail %v", beta, z, p)
			}
		}
		k, err := BetaOfEachIndependent(rapid.IntRange(1, 1<<20).Draw(t, "k"), beta)
		if err != nil || !(k > 0 && k <= beta) {
			t.Fatalf("each %v of %v (%v)", k, beta, err)
		}
		// The summed and the wide tail meet.
		s := maxSummedDeviation * rapid.Float64Range(0.99, 1).Draw(t, "s")
		if beta > 1e-250 {
			g := DiscreteGaussian{s * s}
			a, err := g.Alpha(beta)
			l := numeric.NewLattice(g.Sigma2)
			at, before := l.TailBeyond(float64(a)), l.TailBeyond(float64(a-1))
			if err != nil || at > beta*(1+1e-9) || a > 0 && before < beta*(1-1e-9) {
				t.Fatalf("s %v, beta %v: %d (%v), and the wide tails are %v and %v", s, beta, a, err, at, before)
			}
		}
	})
}

// The laws of selections are laws, do not depend on the order of the scores, and
// permute-and-flip is never worse than the exponential mechanism.
func TestSelections(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.Float64Range(-40, 40), 1, 40).Draw(t, "scores")
		s := Selection{rapid.Float64Range(0.01, 5).Draw(t, "epsilon"), 1, rapid.Bool().Draw(t, "monotone")}
		errs := map[string]float64{}
		for name, law := range map[string]func([]float64) (Choice, error){"exponential": s.Exponential, "flip": s.PermuteAndFlip,
			"noisy": s.NoisyMax} {
			c := must(law(scores))
			sum := 0.0
			for i, p := range c.Probabilities() {
				sum += p
				for j, q := range c.Probabilities() {
					if scores[i] > scores[j] && p < q*(1-1e-11) {
						t.Fatalf("%s: a better score has a smaller probability", name)
					}
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Fatalf("%s: the probabilities add up to %v", name, sum)
			}
			exact := must(c.Alpha(0.1))
			bound, err := s.Bound(len(scores), 1, 0.1)
			if err != nil || name != "noisy" && exact > bound {
				t.Fatalf("%s: alpha %v is above the bound %v (%v)", name, exact, bound, err)
			}
			errs[name] = c.ExpectedError()
		}
		if errs["flip"] > errs["exponential"]*(1+1e-10) || errs["flip"] < errs["exponential"]/2*(1-1e-10) {
			t.Fatalf("errors %v", errs)
		}
	})
}

func TestManyScores(t *testing.T) {
	scores := make([]float64, maxScores)
	for i := range scores {
		scores[i] = -float64(i%97) / 10
	}
	s := Selection{Epsilon: 1, Sensitivity: 1}
	for name, law := range map[string]func([]float64) (Choice, error){"flip": s.PermuteAndFlip, "noisy": s.NoisyMax} {
		n := len(scores)
		if name == "noisy" {
			n = maxNoisyScores
		}
		c := must(law(scores[:n]))
		sum := 0.0
		for _, p := range c.Probabilities() {
			sum += p
		}
		if math.Abs(sum-1) > 1e-11 {
			t.Errorf("%s: the probabilities of %d elements add up to 1 + %g", name, n, sum-1)
		}
	}
}

func TestDifferenceUp(t *testing.T) {
	for _, c := range []struct{ a, b, want float64 }{
		{500, 400, 100}, {1, -0x1p-60, math.Nextafter(1, 2)}, {1, 0x1p-60, 1}, {0, -0.1, 0.1}, {3, 3, 0},
	} {
		if got := differenceUp(c.a, c.b); got != c.want {
			t.Errorf("%v - %v is at most %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// Extremes are finite and quick.
func TestExtremes(t *testing.T) {
	for _, beta := range []float64{math.SmallestNonzeroFloat64, 1e-300, 0.5, math.Nextafter(1, 0)} {
		for _, s := range []float64{0x1p-300, 0x1p-20, 1, maxSummedDeviation, maxSummedDeviation + 1, maxScale} {
			k, err := DiscreteLaplace{s}.Alpha(beta)
			if err != nil || k < 0 || float64(k) > 760*s+1 {
				t.Errorf("discrete Laplace %v at %v: %d (%v)", s, beta, k, err)
			}
			k, err = DiscreteGaussian{s * s}.Alpha(beta)
			if err != nil || k < 0 || float64(k) > 40*s+1 {
				t.Errorf("discrete Gaussian %v at %v: %d (%v)", s, beta, k, err)
			}
		}
		r := RandomizedResponse{Epsilon: 1e-3, People: 1 << 24}
		a, err := r.AlphaAt(1<<20, beta)
		if h, _ := r.Alpha(beta); err != nil || !(a >= 0 && a <= h) {
			t.Errorf("randomized response at %v: %v (%v)", beta, a, err)
		}
	}
	// Everybody tells the truth.
	if a, err := (RandomizedResponse{Epsilon: 2000, People: 10}).AlphaAt(3, 0.05); err != nil || a > 1e-12 {
		t.Errorf("without noise the error is %v (%v)", a, err)
	}
}

func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, errInput) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, x := range []float64{nan, inf, -inf, 0, -1} {
		_, err := Laplace{x}.Alpha(0.05)
		refused("Laplace", err)
		_, err = Laplace{x}.Variance()
		refused("Laplace", err)
		_, err = Gaussian{x}.Alpha(0.05)
		refused("Gaussian", err)
		_, err = Gaussian{x}.Variance()
		refused("Gaussian", err)
		_, err = DiscreteLaplace{x}.Alpha(0.05)
		refused("discrete Laplace", err)
		_, err = DiscreteLaplace{x}.Variance()
		refused("discrete Laplace", err)
		_, err = DiscreteGaussian{x}.Alpha(0.05)
		refused("discrete Gaussian", err)
		_, err = DiscreteGaussian{x}.Variance()
		refused("discrete Gaussian", err)
		_, err = RandomizedResponse{x, 10}.Alpha(0.05)
		refused("randomized response", err)
		_, err = RandomizedResponse{x, 10}.Variance()
		refused("randomized response", err)
		_, err = RandomizedResponse{x, 10}.AlphaAt(1, 0.05)
		refused("randomized response", err)
		for _, s := range []Selection{{x, 1, false}, {1, x, false}} {
			_, err = s.Bound(2, 1, 0.05)
			refused("selection", err)
			_, err = s.Exponential([]float64{1})
			refused("selection", err)
		}
		_, err = SparseVector{x, 0, 1, 1, 1}.Alpha(0.05)
		refused("sparse vector", err)
		_, err = SparseVector{1, 0, x, 1, 1}.Alpha(0.05)
		refused("sparse vector", err)
	}
	for _, beta := range []float64{nan, inf, 0, -1, 1, 2} {
		_, err := Laplace{1}.Alpha(beta)
		refused("Laplace", err)
		_, err = Gaussian{1}.Alpha(beta)
		refused("Gaussian", err)
		_, err = DiscreteLaplace{1}.Alpha(beta)
		refused("discrete Laplace", err)
		_, err = DiscreteGaussian{1}.Alpha(beta)
		refused("discrete Gaussian", err)
		_, err = RandomizedResponse{1, 10}.Alpha(beta)
		refused("randomized response", err)
		_, err = RandomizedResponse{1, 10}.AlphaAt(1, beta)
		refused("randomized response", err)
		_, err = Selection{1, 1, false}.Bound(2, 1, beta)
		refused("selection", err)
		_, err = Choice{scores: []float64{1}, p: []float64{1}}.Alpha(beta)
		refused("choice", err)
		_, err = SparseVector{1, 0, 1, 1, 1}.Alpha(beta)
		refused("sparse vector", err)
		_, err = BetaOfEachIndependent(2, beta)
		refused("each", err)
		_, err = BetaOfEach(2, beta)
		refused("each of", err)
	}
	good := Selection{1, 1, false}
	_, err := good.Bound(2, 3, 0.05)
	refused("more best than all", err)
	_, err = good.Bound(0, 0, 0.05)
	refused("an empty set", err)
	for _, scores := range [][]float64{nil, {nan}, {1, inf}, make([]float64, maxScores+1)} {
		for _, law := range []func([]float64) (Choice, error){good.Exponential, good.PermuteAndFlip, good.NoisyMax} {
			_, err = law(scores)
			refused("scores", err)
		}
	}
	_, err = good.NoisyMax(make([]float64, maxNoisyScores+1))
	refused("too many scores", err)
	for _, v := range []SparseVector{{1, 0, 1, 0, 1}, {1, 0, 1, 1, 0}, {1, 0, 1, 1, 2}, {1, 1, 1, 1, 1}, {1, nan, 1, 1, 1},
		{1, -1, 1, 1, 1}} {
		_, err = v.Alpha(0.05)
		refused("sparse vector", err)
	}
	_, err = RandomizedResponse{1, 10}.AlphaAt(11, 0.05)
	refused("more ones than people", err)
	_, err = RandomizedResponse{1, 10}.AlphaAt(-1, 0.05)
	refused("fewer ones than none", err)
	_, err = RandomizedResponse{1, maxPeople + 1}.Alpha(0.05)
	refused("too many people", err)
	_, err = RandomizedResponse{1, 0}.Alpha(0.05)
	refused("nobody", err)
	_, err = DiscreteLaplace{2 * maxScale}.Alpha(0.05)
	refused("too wide", err)
	_, err = BetaOfEachIndependent(0, 0.05)
	refused("each of none", err)
}
