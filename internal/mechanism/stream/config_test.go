package stream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/lab/stat"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/histogram"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/predict"
)

// What is no stream is refused before anything is charged or read, with what to write instead.
func TestRefused(t *testing.T) {
	good, data, _ := small(t, mech.Pure)
	for name, c := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"no domain":        {func(c *Config) { c.Domain = nil }, "columns"},
		"alpha 0":          {func(c *Config) { c.Alpha = 0 }, "alpha is 0"},
		"alpha 1":          {func(c *Config) { c.Alpha = 1 }, "below 1"},
		"alpha NaN":        {func(c *Config) { c.Alpha = math.NaN() }, "alpha"},
		"alpha negative":   {func(c *Config) { c.Alpha = -0.1 }, "alpha"},
		"beta 0":           {func(c *Config) { c.Beta = 0 }, "beta is 0"},
		"beta 1":           {func(c *Config) { c.Beta = 1 }, "beta is 1"},
		"nobody":           {func(c *Config) { c.Size = 0 }, "number of people"},
		"everybody":        {func(c *Config) { c.Size = math.MaxInt64 }, "2^40"},
		"too exact":        {func(c *Config) { c.Alpha = 1e-5 }, "at least 5e-05"},
		"no questions":     {func(c *Config) { c.Queries = 0 }, "how many different ones"},
		"no steps":         {func(c *Config) { c.Steps = 0 }, "1 for predicates"},
		"no currency":      {func(c *Config) { c.Currency = 0 }, "Pure"},
		"no budget":        {func(c *Config) { c.Budget = 0 }, "budget is 0"},
		"unbounded budget": {func(c *Config) { c.Budget = dp.Unbounded }, "unbounded"},
		"tiny budget":      {func(c *Config) { c.Budget = 10 }, "larger budget"},
		"neighbours":       {func(c *Config) { c.Neighbours = 7 }, "add-remove"},
		"predictor":        {func(c *Config) { c.Predictor = "oracle" }, `"ensemble"`},
		"too many halves":  {func(c *Config) { c.Predictor = Halving }, "choose another predictor"},
	} {
		cfg := good
		c.change(&cfg)
		_, priced := Price(cfg)
		h := host(good)
		_, err := Open(context.Background(), cfg, loaderOf(data), releaser(1), h)
		if err == nil || !strings.Contains(err.Error(), c.says) || priced == nil {
			t.Errorf("%s: %v, %v; want %q", name, err, priced, c.says)
		}
		if e, _ := h.Entries(context.Background()); len(e) > 0 || h.Spent() != (dp.Cost{}) {
			t.Errorf("%s left %v and %d entries", name, h.Spent(), len(e))
		}
	}
	if _, err := Open(context.Background(), good, nil, releaser(1), host(good)); !errors.Is(err, ErrConfig) {
		t.Errorf("no data: %v", err)
	}
}

// A question that is not one of the stream is refused and costs nothing.
func TestForeignQuestion(t *testing.T) {
	c, data, _ := small(t, mech.Pure)
	s, h := open(t, c, data, 1)
	twin := domain(t, 2, 3, 4)
	for name, q := range map[string]*linear.Query{"none": nil, "another domain": subsets(t, twin, 1, 1),
		"other steps": subsets(t, c.Domain, 2, 1)} {
		_, asked := s.Ask(context.Background(), q)
		_, _, quoted := s.Quote(q)
		learned := s.Learn(context.Background(), predict.Released{Query: q})
		for _, err := range []error{asked, quoted, learned} {
			if !errors.Is(err, linear.ErrQuery) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if err := s.Learn(context.Background(),
		predict.Released{Query: subsets(t, c.Domain, 1, 1), Scale: math.NaN()}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
	if h.Spent() != (dp.Cost{}) {
		t.Errorf("%v was charged", h.Spent())
	}
}

// The data is read after the first charge and not before, once; where reading fails the question is
// not answered, and the next tries again for the same charge.
func TestLoader(t *testing.T) {
	c, data, _ := small(t, mech.Pure)
	h := host(c)
	broken, reads := errors.New("the disk is on fire"), 0
	s, err := Open(context.Background(), c, func(context.Context) (*histogram.Table, error) {
		reads++
		if h.Spent() == (dp.Cost{}) {
			t.Error("data was read before anything was charged")
		}
		if reads < 3 {
			return nil, broken
		}
		return data, nil
	}, releaser(1), h)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range questions(t, c.Domain, 10, 1) {
		s.Quote(q)
		a, err := s.Ask(context.Background(), q)
		if (i < 2) != errors.Is(err, broken) || i >= 2 && err != nil {
			t.Fatalf("question %d: %v, %v", i, a, err)
		}
	}
	if reads != 3 || h.Spent() != s.Report().Spent {
		t.Errorf("%d reads, %v charged, %v used", reads, h.Spent(), s.Report().Spent)
	}
	s, err = Open(context.Background(), c, loaderOf(dense(domain(t, 2, 3, 4), make([]int64, 24))), releaser(1), host(c))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ask(context.Background(), subsets(t, c.Domain, 1, 1)); !errors.Is(err, ErrConfig) {
		t.Errorf("data over another domain: %v", err)
	}
}

// Many ask at once, on a journal that fails now and then, so that the state is read anew in
// between: the same question has one answer, and the report is right. For the race detector.
func TestCrowd(t *testing.T) {
	c, data, _ := small(t, mech.Pure)
	_, h := open(t, c, data, 1)
	s := must(Open(context.Background(), c, loaderOf(data), releaser(1), flakyHost{h, detrand.New("crowd", 1)}))
	qs := questions(t, c.Domain, 40, 1)
	var wg sync.WaitGroup
	var said sync.Map
	for range 4 {
		wg.Go(func() {
			for _, q := range qs {
				a, err := s.Ask(context.Background(), q)
				for errors.Is(err, errKilled) {
					a, err = s.Ask(context.Background(), q)
				}
				if err != nil {
					t.Error(err)
					return
				}
				if v, ok := said.LoadOrStore(q.Key(), a.Value); ok && v != a.Value {
					t.Errorf("%v and %v", v, a.Value)
				}
				s.Quote(q)
				s.Report()
				s.Synthetic()
				s.Tariff()
			}
		})
	}
	wg.Wait()
	// What was asked again after an entry that was written all the same counts as a repetition. At
	// most one charge waits to be used.
	r := s.Report()
	if owed := h.Spent().Sub(r.Spent).Epsilon; r.Asked < 4*len(qs) || owed > s.Tariff().Round.Epsilon {
		t.Errorf("%+v, and %v was charged", r, h.Spent())
	}
}

// Whole people add up, and no cell is off by one.
func TestSynthetic(t *testing.T) {
	for _, h := range [][]float64{{}, {0}, {0.5, 0.5}, {1, 2, 3}, {0.2, 0.3, 0.5, 10.9}, {1.0 / 3, 1.0 / 3, 1.0 / 3}, {math.NaN(), -1, 2.5},
		{math.Inf(1), 1}} {
		total, sum := 0.0, int64(0)
		in := append([]float64(nil), h...)
		for i, n := range roundToIntegers(in) {
			x := h[i]
			if !(x > 0) || math.IsInf(x, 0) {
				x = 0
			}
			if math.Abs(float64(n)-x) >= 1 {
				t.Errorf("%v of %v", n, x)
			}
			total, sum = total+x, sum+n
		}
		if sum != int64(math.Round(total)) {
			t.Errorf("%v: %d people", h, sum)
		}
	}
	c, data, _ := small(t, mech.Pure)
	s, _ := open(t, c, data, 1)
	for _, q := range questions(t, c.Domain, 60, 1) {
		if _, err := s.Ask(context.Background(), q); err != nil {
			t.Fatal(err)
		}
	}
	var sum int64
	for _, n := range s.Synthetic() {
		sum += n
	}
	if max(sum-c.Size, c.Size-sum) > s.Tariff().Error {
		t.Errorf("%d people of %d", sum, c.Size)
	}
}

// What is calibrated keeps the promise of its proof: whatever is sold goes wrong with no more than
// its share of beta, in budgets from tiny to huge.
func TestPrices(t *testing.T) {
	d, rounds := domain(t, 2, 3, 4), 0
	for seed := range uint64(150) {
		dice := detrand.New("prices", seed)
		c := Config{Domain: d, Size: int64(1) << dice.Below(24), Alpha: math.Exp(-6 * float64(1+dice.Below(100)) / 100),
			Beta: math.Exp(-9 * float64(1+dice.Below(100)) / 100), Queries: 1 << dice.Below(20),
			Steps: int64(1 + dice.Below(4)), Currency: mech.Currency(1 + dice.Below(2)), Budget: dp.Amount(1) << dice.Below(60),
			Predictor: []Kind{Weights, None, Halving}[dice.Below(3)], Neighbours: dp.Neighbours(dice.Below(2))}
		tariff, err := Price(c)
		if err != nil {
			if !errors.Is(err, ErrConfig) && !errors.Is(err, mech.ErrScale) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		where := fmt.Sprintf("%+v: %+v", c, tariff)
		if tariff.Limit > c.Budget || tariff.MostPlain < 1 {
			t.Errorf("the limit is beyond the budget: %s", where)
		}
		per := func(wrong float64, price dp.Amount) float64 { return wrong / price.Float() * tariff.Limit.Float() }
		if all := per(tariff.plain.Tail(tariff.Error), c.amount(tariff.Plain)); all > c.Beta*(1+1e-6) {
			t.Errorf("plain answers go wrong with probability %v: %s", all, where)
		}
		if price := c.amount(tariff.Plain); 5*float64(price) > 6*float64(c.amount(tariff.Cache)) {
			t.Errorf("a plain answer is too dear: %s", where)
		}
		if q := tariff.plain.Tail(tariff.Error) * float64(min(c.Queries, tariff.MostPlain)); c.Predictor == None && q > c.Beta*(1+1e-6) {
			t.Errorf("a cache goes wrong with probability %v: %s", q, where)
		}
		if c.Predictor == None {
			continue
		}
		if tariff.prices.First < dp.One>>13 {
			continue // too many steps to add up
		}
		rounds++
		if tariff.Threshold < 1 || tariff.Threshold > tariff.Error {
			t.Errorf("a threshold that is none: %s", where)
		}
		if all := per(sumMissed(tariff, c)+tariff.paid.Tail(tariff.Error), c.amount(tariff.Round)); all > c.Beta*(1+1e-6) {
			t.Errorf("rounds go wrong with probability %v: %s", all, where)
		}
		// The theorem of halving: alarms are true but with half of beta.
		if c.Predictor == Halving && float64(c.Queries)*sumAlarmed(tariff, c) > c.Beta/2 {
			t.Errorf("%v false alarms are to be expected: %s", float64(c.Queries)*sumAlarmed(tariff, c), where)
		}
	}
	if rounds < 20 {
		t.Errorf("only %d rounds were added up", rounds)
	}
}

// sumMissed is the probability that a prediction which is beyond the error is free, by adding up
// over the noise of the threshold: the question's is below Z - (w + 1 - T).
func sumMissed(t *Tariff, c Config) (sum float64) {
	p, q := t.prices.First.Float()/float64(c.Steps), t.prices.Each.Float()/float64(2*c.Steps)
	beyond := float64(t.Error + 1 - t.Threshold)
	for z := beyond + 1; z < beyond+2+50/min(p, 1); z++ {
		sum += math.Exp(-p*z) * -math.Expm1(-p) * -math.Expm1(-q*(z-beyond))
	}
	return sum
}

// sumAlarmed is the probability that a prediction within half of the threshold sets off an alarm.
func sumAlarmed(t *Tariff, c Config) (sum float64) {
	p, q := t.prices.First.Float()/float64(c.Steps), t.prices.Each.Float()/float64(2*c.Steps)
	short := float64(t.Threshold) - math.Floor(float64(t.Threshold)/2)
	for z := 0.0; z < 1+50/min(p, 1); z++ {
		sum += math.Exp(-p*z) * -math.Expm1(-p) * math.Exp(-q*(short+z))
	}
	return sum
}

// Streams with a beta that can be seen: somebody asks about what is just beyond the error, again
// and again, until the budget is gone. No more than beta of them have an answer that is too far
// off. Where the noise of a threshold is ten times what it should be, more do: the analyst is one
// who finds out.
func TestAccuracy(t *testing.T) {
	const runs = 200
	c := Config{Domain: domain(t, 12), Size: 24_000, Alpha: 0.05, Beta: 0.4, Queries: 300, Steps: 1, Currency: mech.Pure,
		Budget: amountOf("0.15"), Predictor: Weights}
	p := must(calibrate(c))
	far := wrongStreams(t, c, p, runs)
	t.Logf("%d of %d streams had a wrong answer", far, runs)
	if sure := stat.LowerBound(far, runs, 1e-4); sure > c.Beta {
		t.Errorf("%d of %d streams had a wrong answer, with beta %v", far, runs, c.Beta)
	}
	if far == 0 {
		t.Error("no stream was ever wrong: nothing was tested")
	}
	p.First /= 10
	far = wrongStreams(t, c, p, runs)
	if sure := stat.LowerBound(far, runs, 1e-4); sure <= c.Beta {
		t.Errorf("with too much noise on the threshold only %d of %d streams had a wrong answer", far, runs)
	}
}

// wrongStreams counts the streams with these prices that have a wrong answer.
func wrongStreams(t *testing.T, c Config, p prices, runs uint64) (far int) {
	d, n := c.Domain, c.Size
	for seed := range runs {
		dice := detrand.New("accuracy", seed)
		// Half of the cells are too full by what is just too much for one of them.
		counts := make([]int64, 12)
		for i := range counts {
			counts[i] = n/12 + (c.errorSteps()+1)*int64(1-2*(i%2))
		}
		s := openAt(t, c, p, dense(d, counts), seed)
		s.state.reachesRound = false // no marginals, which would make it easy
		bad := false
		for range 200 {
			set := uint64(1 + dice.Below(1<<12-1))
			a, err := s.Ask(context.Background(), subsets(t, d, 1, set))
			if err != nil && !errors.Is(err, ErrSpent) && !errors.Is(err, session.ErrBudget) {
				t.Fatal(err)
			}
			if err != nil || a.Way == Unchecked {
				continue
			}
			var truth int64
			for i, x := range counts {
				truth += x * int64(set>>i&1)
			}
			bad = bad || max(a.Value-truth, truth-a.Value) > a.Error
		}
		if bad {
			far++
		}
	}
	return far
}
