package holdout

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

var ctx = context.Background()

func rat(text string) *big.Rat {
	r, err := dp.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return r
}

// small is a holdout on which the noise is a few steps wide.
func small() Config {
	return Config{Size: 40, Steps: 3, Threshold: rat("0.1"), Noise: rat("0.03"), Answers: 5, Currency: mech.Pure}
}

// richHost is a host with budget for everything.
func richHost() *session.Memory { return session.NewMemory(account.PureFilter(dp.Unbounded - 1)) }

// open prices what is new, and else goes on from a price, which takes longer than all else.
func open(c Config, r *mech.Releaser, h session.Host) *Session {
	key := fmt.Sprint(c.Size, c.Steps, c.Threshold, c.Noise, c.Answers, c.Currency)
	tariff, ok := tariffs.Load(key)
	if !ok {
		s := must(Open(ctx, c, r, h))
		tariffs.Store(key, s.tariff)
		return s
	}
	s := &Session{h, &sharedState{config: c, tariff: tariff.(*Tariff), releaser: r}}
	if err := s.refresh(ctx); err != nil {
		panic(err)
	}
	return s
}

var tariffs sync.Map

func ask(key string, sum int64, training string) Question {
	return Question{Key: key, Holdout: loaderOf(sum), Training: rat(training)}
}

// loaderOf has the sums of a question.
func loaderOf(sums ...int64) func(context.Context) (mech.Exact, error) {
	return func(context.Context) (mech.Exact, error) { return mech.Seal(sums...), nil }
}

// script is a row of questions, some of which the holdout contradicts.
func script(seed uint64, n int) (out []Question) {
	d := detrand.New("questions", seed)
	for i := range n {
		sum := int64(d.Below(121))
		training := big.NewRat(sum, 120)
		if d.One(3) {
			training = big.NewRat(int64(d.Below(1001)), 1000)
		}
		out = append(out, Question{Key: fmt.Sprint("q", i), Holdout: loaderOf(sum), Training: training})
	}
	return out
}

// sums repeats the choices of script, to have the sums open.
func sums(seed uint64, n int) (sum []int64) {
	d := detrand.New("questions", seed)
	for range n {
		sum = append(sum, int64(d.Below(121)))
		if d.One(3) {
			d.Below(1001)
		}
	}
	return sum
}

// direct is Thresholdout as it is written in the paper, in scores, on the same draws: all in
// rationals, with T and t at the nearest step.
func direct(c Config, src *noise.Source, questions []Question, sum []int64) (out []string) {
	e, err := dp.Floor(new(big.Rat).Inv(new(big.Rat).Mul(c.Noise, new(big.Rat).SetInt64(c.Size))))
	if err != nil {
		panic(err)
	}
	half, _ := dp.Floor(new(big.Rat).Inv(new(big.Rat).Mul(c.Noise, new(big.Rat).SetInt64(2*c.Size))))
	step := big.NewRat(1, c.Size*c.Steps)
	lap := func(scale *big.Rat) *big.Rat { // in scores
		l, err := noise.NewLaplace(scale)
		if err != nil {
			panic(err)
		}
		return new(big.Rat).Mul(step, new(big.Rat).SetInt64(l.Draw(src)))
	}
	people := func(k int64, e dp.Amount) *big.Rat { // k values of one person, over e
		return new(big.Rat).Quo(new(big.Rat).SetInt64(k*c.Steps), e.Rat())
	}
	round := func(x *big.Rat) *big.Rat {
		f, _ := new(big.Rat).Quo(x, step).Float64()
		return new(big.Rat).Mul(step, new(big.Rat).SetInt64(int64(math.Floor(f+0.5))))
	}
	var z *big.Rat
	left := c.Answers
	for i, q := range questions {
		if left < 1 {
			out = append(out, "refused")
			continue
		}
		if z == nil {
			z = lap(people(1, half))
		}
		h := new(big.Rat).Mul(step, new(big.Rat).SetInt64(sum[i]))
		apart := new(big.Rat).Sub(h, round(q.Training))
		apart.Abs(apart).Add(apart, lap(people(2, half)))
		if apart.Cmp(new(big.Rat).Add(round(c.Threshold), z)) < 0 {
			out = append(out, q.Training.RatString()+" confirmed")
			continue
		}
		h.Add(h, lap(people(1, e)))
		if h.Sign() < 0 {
			h.SetInt64(0)
		}
		if h.Cmp(big.NewRat(1, 1)) > 0 {
			h.SetInt64(1)
		}
		out = append(out, h.RatString()+" spent")
		left, z = left-1, nil
	}
	return out
}

func answerText(t *testing.T, a *Answer, err error) string {
	t.Helper()
	switch {
	case errors.Is(err, ErrUsedUp):
		return "refused"
	case err != nil:
		t.Fatal(err)
	case a.Spent:
		return a.Score.RatString() + " spent"
	}
	return a.Score.RatString() + " confirmed"
}

// On the same randomness a session says what the definition says, word for word.
func TestSessionIsTheDefinition(t *testing.T) {
	ends := map[string]int{}
	for seed := range uint64(300) {
		questions := script(seed, 40)
		want := direct(small(), detrand.Noise("noise", seed), questions, sums(seed, 40))
		s := open(small(), mech.NewReleaser(detrand.Noise("noise", seed)), richHost())
		for i, q := range questions {
			a, err := s.Ask(ctx, q)
			if got := answerText(t, a, err); got != want[i] {
				t.Fatalf("seed %d, question %d: %s, want %s", seed, i, got, want[i])
			}
			ends[want[i][len(want[i])-5:]]++
		}
	}
	if ends["spent"] < 1000 || ends["irmed"] < 1000 || ends["fused"] < 1000 {
		t.Errorf("the test saw %v", ends)
	}
}

// lawOf is the law of where a round of questions ends, in distances from the threshold, computed
// from the scales of the theorem.
func lawOf(b1, b2 float64, distances []int64) []float64 {
	q1 := math.Exp(-1 / b1)
	// P(N >= m) of discrete Laplace noise.
	from := func(m int64) float64 {
		q := math.Exp(-1 / b2)
		if m > 0 {
			return math.Pow(q, float64(m)) / (1 + q)
		}
		return 1 - math.Pow(q, float64(1-m))/(1+q)
	}
	const reach = 400
	lowest := -reach - slices.Max(distances)
	atLeast := make([]float64, reach-slices.Min(distances)-lowest+1) // lowest, lowest + 1, ...
	for i := range atLeast {
		atLeast[i] = from(lowest + int64(i))
	}
	out := make([]float64, len(distances)+1)
	for z := int64(-reach); z <= reach; z++ {
		p := (1 - q1) / (1 + q1) * math.Pow(q1, math.Abs(float64(z)))
		for i, d := range distances {
			above := atLeast[z-d-lowest]
			out[i] += p * above
			p *= 1 - above
		}
		out[len(distances)] += p
	}
	return out
}

// Where rounds end has the law of the theorem's scales, 2s and 4s; and between neighbours, with the
// answer, it moves by the round's epsilon at most and nearly that.
func TestRoundLaw(t *testing.T) {
	c := Config{Size: 10, Steps: 1, Threshold: rat("0.2"), Noise: rat("0.1"), Answers: 1, Currency: mech.Pure}
	tariff := must(Price(c))
	e := tariff.Round.Epsilon.Float()
	if math.Abs(e-2) > 1e-9 {
		t.Errorf("a round costs %v", e)
	}
	runs := daily.Rounds(10_000, 30_000)
	values := []int64{5, 6, 3, 9}
	seen := make([]float64, len(values)+1)
	r := mech.NewReleaser(detrand.Noise("law", uint64(daily.Choices(t).Below(1_000_000))))
	for range runs {
		s, at := open(c, r, richHost()), len(values)
		for i, v := range values {
			a := must(s.Ask(ctx, ask(fmt.Sprint(i), v, "0.5")))
			if a.Spent {
				at = i
				break
			}
		}
		seen[at]++
	}
	want := lawOf(2, 4, []int64{-2, -1, 0, 2})
	for i, p := range want {
		if d := math.Abs(seen[i]/float64(runs) - p); d > 5*math.Sqrt(p*(1-p)/float64(runs)) {
			t.Errorf("a round ended at %d in %.4f of runs; the law says %.4f", i, seen[i]/float64(runs), p)
		}
	}
	// Neighbours: many questions below move one way, the last the other. Its answer is drawn
	// besides, and moves by e3 at most.
	worst := 0.0
	for n := range 200 {
		x, y := make([]int64, n+1), make([]int64, n+1)
		for i := range n {
			x[i], y[i] = 0, 1
		}
		x[n], y[n] = -30, -31
		p, q := lawOf(2, 4, x), lawOf(2, 4, y)
		for i := range p {
			if p[i] > 1e-12 && q[i] > 1e-12 {
				worst = max(worst, math.Abs(math.Log(p[i]/q[i])))
			}
		}
	}
	if above := tariff.above.Cost().Epsilon.Float(); worst > above+1e-9 || worst < 0.9*above {
		t.Errorf("a round up to its answer loses %v of %v", worst, above)
	}
}

func TestPrice(t *testing.T) {
	for _, c := range []struct {
		n, steps int64
		noise    string
		b        int
		round    float64
	}{
		{10000, 1, "0.01", 200, 0.02}, {10000, 64, "0.01", 3000, 0.02}, {3, 1, "0.7", 1, 2 / 2.1}, {1000000, 10, "0.003", 7, 2 / 3000.0},
	} {
		config := Config{Size: c.n, Steps: c.steps, Threshold: rat("0.04"), Noise: rat(c.noise), Answers: c.b, Currency: mech.Pure}
		got := must(Price(config))
		if e := got.Round.Epsilon.Float(); math.Abs(e-c.round) > 4e-12 || e > c.round*(1+1e-15) {
			t.Errorf("%+v: a round costs %v", c, e)
		}
		if got.Total.Epsilon != got.Round.Epsilon*dp.Amount(c.b) || got.Total.Rho != got.Round.Rho*dp.Amount(c.b) || got.Total.Delta != 0 {
			t.Errorf("%+v: %v in total", c, got.Total)
		}
		// The noise is never smaller than declared: 2s, 4s and s, times n and steps.
		z, n := got.above.Parameters()
		for i, scale := range []*big.Rat{z, n, got.answer.Parameter()} {
			want := new(big.Rat).Mul(rat(c.noise), new(big.Rat).SetInt64([]int64{2, 4, 1}[i]*c.n*c.steps))
			ratio, _ := new(big.Rat).Quo(scale, want).Float64()
			if scale.Cmp(want) < 0 || ratio > 1+1e-8 {
				t.Errorf("%+v: noise %d is %v of what was declared", c, i, ratio)
			}
		}
		// Concentrated: the rho of both mechanisms, whatever is counted.
		if want := got.above.Cost().Rho.Add(got.answer.Cost().Rho); got.Round.Rho != want || want == 0 {
			t.Errorf("%+v: rho %v", c, got.Round.Rho)
		}
	}
}

// What cannot be is refused before anything is charged or drawn.
func TestRefusals(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"size 0":              func(c *Config) { c.Size = 0 },
		"size below 0":        func(c *Config) { c.Size = -5 },
		"steps 0":             func(c *Config) { c.Steps = 0 },
		"sums too large":      func(c *Config) { c.Size, c.Steps = 1<<40, 1<<40 },
		"no threshold":        func(c *Config) { c.Threshold = nil },
		"threshold below 0":   func(c *Config) { c.Threshold = rat("-0.1") },
		"threshold above 1":   func(c *Config) { c.Threshold = rat("1.1") },
		"no noise":            func(c *Config) { c.Noise = nil },
		"noise 0":             func(c *Config) { c.Noise = rat("0") },
		"noise below 0":       func(c *Config) { c.Noise = rat("-0.01") },
		"noise above 1":       func(c *Config) { c.Noise = rat("1.5") },
		"hardly any noise":    func(c *Config) { c.Noise = rat("1e-30") },
		"no answers":          func(c *Config) { c.Answers = 0 },
		"too many answers":    func(c *Config) { c.Answers = maxAnswers + 1 },
		"no currency":         func(c *Config) { c.Currency = 0 },
		"noise beyond a walk": func(c *Config) { c.Size, c.Steps, c.Noise = 1<<50, 1, rat("1") },
	} {
		c := small()
		change(&c)
		if _, err := Price(c); !errors.Is(err, errConfig) {
			t.Errorf("%s: priced, %v", name, err)
		}
		if _, err := Open(ctx, c, mech.NewReleaser(noise.NewSource()), richHost()); !errors.Is(err, errConfig) {
			t.Errorf("%s: opened, %v", name, err)
		}
	}
	h := richHost()
	s := open(small(), mech.NewReleaser(noise.NewSource()), h)
	for name, q := range map[string]Question{
		"no key":            ask("", 1, "0.5"),
		"long key":          ask(string(make([]byte, maxKeyBytes+1)), 1, "0.5"),
		"no sum":            {Key: "k", Training: rat("0.5")},
		"no training":       {Key: "k", Holdout: loaderOf(1)},
		"training below 0":  ask("k", 1, "-0.001"),
		"training above 1":  ask("k", 1, "1.001"),
		"training far away": ask("k", 1, "1e300"),
	} {
		if _, err := s.Ask(ctx, q); !errors.Is(err, ErrQuestion) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if entries, _ := h.Entries(ctx); h.Spent() != (dp.Cost{}) || len(entries) != 0 || s.Left() != 5 {
		t.Errorf("a refusal cost %v, and left %d entries", h.Spent(), len(entries))
	}
}

// Rounds are charged one by one; when all answers are given, what was answered is answered again,
// and all else is refused, free.
func TestUsedUp(t *testing.T) {
	h := richHost()
	s := open(small(), mech.NewReleaser(noise.NewSource()), h)
	round := s.Tariff().Round
	kept := map[string]string{}
	for i, spent := 0, 0; spent < 5; i++ {
		q := ask(fmt.Sprint("far", i), 120, "0")
		a := must(s.Ask(ctx, q))
		first := len(kept) == 0 || spent > 0 && a.Cost != (dp.Cost{})
		if first != (a.Cost == round) || a.Receipt.Sequence == 0 {
			t.Errorf("question %d cost %v, %v", i, a.Cost, a.Receipt)
		}
		if a.Spent {
			spent++
		}
		if a.Left != 5-spent || s.Left() != a.Left {
			t.Errorf("%d are left after %d", a.Left, spent)
		}
		kept[q.Key] = answerText(t, a, nil)
	}
	if h.Spent() != s.Tariff().Total {
		t.Errorf("spent %v of %v", h.Spent(), s.Tariff().Total)
	}
	if _, err := s.Ask(ctx, ask("new", 60, "0.5")); !errors.Is(err, ErrUsedUp) {
		t.Errorf("went on: %v", err)
	}
	for key, want := range kept {
		a, err := s.Ask(ctx, ask(key, 0, "1"))
		if got := answerText(t, a, err); got != want || !a.Again || a.Cost != (dp.Cost{}) || !a.Receipt.Again {
			t.Errorf("%s: %s, and before %s", key, got, want)
		}
	}
	if h.Spent() != s.Tariff().Total {
		t.Errorf("repeating cost %v", h.Spent())
	}
}

// Where the budget does not cover a round nothing is compared, and the session goes on when it
// does.
func TestBudget(t *testing.T) {
	tariff := must(Price(small()))
	h := session.NewMemory(account.PureFilter(2*tariff.Round.Epsilon + 1))
	s := open(small(), mech.NewReleaser(noise.NewSource()), h)
	for spent, i := 0, 0; spent < 2; i++ {
		a := must(s.Ask(ctx, ask(fmt.Sprint(i), 120, "0")))
		if a.Spent {
			spent++
		}
	}
	for range 3 {
		if _, err := s.Ask(ctx, ask("more", 120, "0")); !errors.Is(err, session.ErrBudget) {
			t.Errorf("went on: %v", err)
		}
	}
	if h.Spent() != tariff.Round.Add(tariff.Round) || s.Left() != 3 {
		t.Errorf("spent %v, and %d are left", h.Spent(), s.Left())
	}
}

// Many at once: every question is answered once, and the charges are those of the rounds.
func TestConcurrent(t *testing.T) {
	h := richHost()
	c := small()
	c.Answers = 1000
	s := open(c, mech.NewReleaser(noise.NewSource()), h)
	var wg sync.WaitGroup
	scores := make([][100]string, 8)
	for w := range scores {
		wg.Go(func() {
			for i := range scores[w] {
				a, err := s.Ask(ctx, ask(fmt.Sprint(i), int64(i), "0.3"))
				if err != nil {
					t.Error(err)
					return
				}
				scores[w][i] = a.Score.RatString()
			}
		})
	}
	wg.Wait()
	for _, other := range scores {
		if other != scores[0] {
			t.Error("one question has two answers")
		}
	}
	entries, _ := h.Entries(ctx)
	rounds := len(entries) - 100
	if want := s.Tariff().Round.Epsilon.Mul(uint64(rounds)); h.Spent().Epsilon != want {
		t.Errorf("%d rounds cost %v", rounds, h.Spent())
	}
}

// What a question costs in time, on a host that keeps its journal in memory.
func BenchmarkAsk(b *testing.B) {
	c := Config{Size: 10000, Steps: 1, Threshold: rat("0.04"), Noise: rat("0.01"), Answers: maxAnswers, Currency: mech.Pure}
	s := must(Open(ctx, c, mech.NewReleaser(noise.NewSource()), richHost()))
	for i := 0; b.Loop(); i++ {
		if _, err := s.Ask(ctx, ask(fmt.Sprint(i), 5000, "0.5")); err != nil {
			b.Fatal(err)
		}
	}
}
