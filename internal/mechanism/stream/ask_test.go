package stream

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/predict"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// A stream never costs more than 1.2 times the exact-match cache, at no moment, in neither
// currency, with few questions and with many, on data that cannot be predicted. Where questions are
// few under zCDP it buys plain answers and nothing else.
func TestNeverDearerThanTheCache(t *testing.T) {
	streams := make([]uint64, 150)
	for i := range streams {
		streams[i] = uint64(i)
	}
	rounds, bonuses := 0, 0
	for _, seed := range daily.Sample(t, streams, 20) {
		dice := detrand.New("rule", seed)
		d := domain(t, 2+dice.Below(3), 2+dice.Below(5))
		n := int64(50 + dice.Below(100_000))
		c := Config{Domain: d, Size: n, Neighbours: dp.Neighbours(dice.Below(2)), Alpha: 0.02 + 0.1*float64(dice.Below(10)),
			Beta:    []float64{0.0001, 0.01, 0.3, 0.9}[dice.Below(4)],
			Queries: []int{1, 7, 100, 3000, 100_000}[dice.Below(5)], Steps: int64(1 + dice.Below(3)),
			Currency: mech.Currency(1 + dice.Below(2)), Budget: dp.One << dice.Below(20), Predictor: []Kind{Weights, Auto}[dice.Below(2)]}
		// People who are drawn, or all in a few cells: nothing a uniform prior would guess.
		weights := make([]float64, d.Cells())
		for i := range weights {
			weights[i] = float64(dice.Below(2) * dice.Below(1000))
		}
		weights[dice.Below(len(weights))] += 1
		tariff, err := Price(c)
		if err != nil {
			if !errors.Is(err, ErrConfig) {
				t.Fatal(err)
			}
			continue
		}
		if c.amount(tariff.Plain).Float() > 1.2*c.amount(tariff.Cache).Float() {
			t.Errorf("a plain answer costs %v and the cache %v", tariff.Plain, tariff.Cache)
		}
		s, h := open(t, c, dense(d, divideByWeights(n, weights)), seed)
		different := map[string]bool{}
		for range 80 {
			q := anySubsets(t, dice, d, c.Steps)
			if dice.One(3) { // weights are harder to guess
				f := linear.Factor{Attributes: []int{0, 1}, Weights: make([]int64, d.Cells())}
				for i := range f.Weights {
					f.Weights[i] = int64(dice.Below(int(c.Steps) + 1))
				}
				q = must(d.Query(c.Steps, f))
			}
			_, err := s.Ask(context.Background(), q)
			if err != nil && !errors.Is(err, ErrSpent) {
				t.Fatal(err)
			}
			if err == nil {
				different[q.Key()] = true
			}
			spent := c.amount(h.Spent()).Float()
			if most := 1.2 * float64(len(different)) * c.amount(tariff.Cache).Float(); spent > most*(1+1e-12) {
				t.Fatalf("seed %d: %v was spent on %d questions, and the cache costs %v", seed, spent, len(different), most/1.2)
			}
			if c.amount(h.Spent()) > c.Budget {
				t.Fatalf("seed %d: %v was spent of %v", seed, h.Spent(), c.Budget)
			}
		}
		r := s.Report()
		if r.Spent != h.Spent() {
			t.Errorf("the report says %v and the host %v", r.Spent, h.Spent())
		}
		if c.Currency == mech.Concentrated && c.Queries <= 100 && r.Paid+r.Marginals > 0 {
			t.Errorf("seed %d: with %d questions under zCDP it bought %+v", seed, c.Queries, r)
		}
		rounds, bonuses = rounds+s.state.rounds, bonuses+r.Marginals
	}
	t.Logf("%d rounds, %d marginals", rounds, bonuses)
	if rounds == 0 || bonuses == 0 {
		t.Error("nothing but plain answers was tested")
	}
}

// When its budget is gone a stream repeats what it has said, goes on with an open round, says what
// candidates agree on, unchecked, and refuses the rest. Nothing is charged then.
func TestSpent(t *testing.T) {
	for _, k := range []Kind{None, Weights, Ensemble} {
		c, data, _ := small(t, mech.Pure)
		c.Predictor = k
		tariff := must(Price(c))
		// Not enough for all the others.
		c.Budget = 6 * tariff.Plain.Epsilon
		s, h := open(t, c, data, 1)
		ways := map[Way]int{}
		refused := 0
		var first *linear.Query
		for i, q := range questions(t, c.Domain, 60, 5) {
			before := h.Spent()
			a, err := s.Ask(context.Background(), q)
			switch {
			case errors.Is(err, ErrSpent):
				refused++
				if h.Spent() != before {
					t.Error("a refusal was charged")
				}
				if _, _, err := s.Quote(q); !errors.Is(err, ErrSpent) {
					t.Errorf("quoted what is refused: %v", err)
				}
				continue
			case err != nil:
				t.Fatal(err)
			}
			if a.Way == Unchecked && (a.Error != 0 || a.Cost != (dp.Cost{})) {
				t.Errorf("%+v", a)
			}
			ways[a.Way]++
			if i == 0 {
				first = q
			}
		}
		if a, err := s.Ask(context.Background(), first); err != nil || a.Way != Cached {
			t.Errorf("%s: what was answered is forgotten: %v", k, err)
		}
		if k == None && refused == 0 || k == Weights && ways[Unchecked] == 0 || k == Ensemble && ways[Unchecked] == 0 {
			t.Errorf("%s: %v, %d refused", k, ways, refused)
		}
		if r := s.Report(); r.Refused != refused || r.Unchecked != ways[Unchecked] {
			t.Errorf("%+v", r)
		}
	}
}

// Beyond the questions that it was declared for a stream answers nothing new with a guarantee, and
// writes nothing.
func TestDeclaredQuestions(t *testing.T) {
	c, data, _ := small(t, mech.Pure)
	c.Queries, c.Predictor = 5, None
	s, h := open(t, c, data, 1)
	answered := 0
	for _, q := range questions(t, c.Domain, 40, 1) {
		before, _ := h.Entries(context.Background())
		_, err := s.Ask(context.Background(), q)
		after, _ := h.Entries(context.Background())
		switch {
		case err == nil:
			answered += len(after) - len(before)
		case !errors.Is(err, ErrSpent) || !strings.Contains(err.Error(), "5 different questions") || len(after) != len(before):
			t.Fatalf("%v, and %d entries more", err, len(after)-len(before))
		}
	}
	if answered != 5 || s.Report().Refused == 0 {
		t.Errorf("%d answers", answered)
	}
	// Free answers are bounded as well.
	c.Queries, c.Predictor = 20, Weights
	s = openDear(t, c, data, 1)
	for _, q := range questions(t, c.Domain, 100, 1) {
		if _, err := s.Ask(context.Background(), q); err != nil && !errors.Is(err, ErrSpent) {
			t.Fatal(err)
		}
	}
	if r := s.Report(); len(s.state.answers) != 20 || r.Predicted == 0 {
		t.Errorf("%d answers: %+v", len(s.state.answers), r)
	}
}

// emptyHost is a host with less than the stream was promised.
type emptyHost struct{ *session.Memory }

func (emptyHost) Charge(context.Context, session.Charge) (session.Receipt, error) {
	return session.Receipt{}, errBroke
}

var errBroke = errors.Join(errors.New("the account of the analyst is empty"), session.ErrBudget)

// The error of a host that refuses a charge is passed on, and nothing is looked at.
func TestHostRefuses(t *testing.T) {
	c, _, _ := small(t, mech.Pure)
	c.Predictor = None
	s := must(Open(context.Background(), c, loaderOf(nil), releaser(1), emptyHost{host(c)}))
	if _, err := s.Ask(context.Background(), questions(t, c.Domain, 1, 1)[0]); !errors.Is(err, session.ErrBudget) ||
		!errors.Is(err, errBroke) {
		t.Error(err)
	}
}

// A stream that is told what was released elsewhere has less to pay for: here every cell, with
// noise that is far below the error that it promises.
func TestLearnedElsewhereIsCheaper(t *testing.T) {
	d, counts := patients(t)
	data := dense(d, counts)
	alarms := func(told bool) int {
		c := Config{Domain: d, Size: 1_003_117, Alpha: 0.02, Beta: 0.001, Queries: 5000, Steps: 1, Currency: mech.Pure,
			Budget: amountOf("10"), Predictor: Weights}
		s := openDear(t, c, data, 1)
		if told {
			var all []predict.Released
			for cell, n := range counts {
				sets := make([]uint64, 4)
				for i, v := range d.Codes(cell) {
					sets[i] = 1 << v
				}
				all = append(all, predict.Released{Query: subsets(t, d, 1, sets...), Answer: n, Scale: 300})
			}
			for _, r := range all {
				if err := s.Learn(context.Background(), r); err != nil {
					t.Fatal(err)
				}
			}
		}
		dice := detrand.New("learned", 1)
		for range 2000 {
			if _, err := s.Ask(context.Background(), anySubsets(t, dice, d, 1)); err != nil {
				t.Fatal(err)
			}
		}
		return s.Report().Paid
	}
	without, with := alarms(false), alarms(true)
	t.Logf("%d alarms, and %d where the cells were known", without, with)
	if with >= without {
		t.Errorf("a stream that was told all cells set off %d alarms, and one that was told nothing %d", with, without)
	}
}

// What is written of a query is read as the same query.
func TestQueryInTheJournal(t *testing.T) {
	d := must(linear.NewDomain(linear.Attribute{Name: "a", Values: []string{"1", "2"}},
		linear.Attribute{Name: "b", Values: []string{"1", "2", "3"}}, linear.Attribute{Name: "c", Values: []string{"1", "2"}}))
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		steps := []int64{1, 2, 3, 4, 6, 12, 100}[r.IntN(7)]
		var fs []linear.Factor
		for range r.IntN(4) {
			var f linear.Factor
			n := 1
			for a := range 3 {
				if r.IntN(2) == 0 {
					f.Attributes = append(f.Attributes, a)
					n *= len(d.Attributes()[a].Values)
				}
			}
			for range n {
				w := r.Int64N(steps + 1)
				if r.IntN(2) == 0 {
					w = []int64{0, 1, steps, steps / 2}[r.IntN(4)]
				}
				f.Weights = append(f.Weights, w)
			}
			fs = append(fs, f)
		}
		q, err := d.Query(steps, fs...)
		if err != nil {
			continue
		}
		c := Config{Domain: d, Steps: steps}
		e := newEntry('x').query(q)
		again := (&reader{b: e.b[1:]}).query(c)
		if again == nil || again.Key() != q.Key() {
			t.Fatalf("steps %d, %v is read as another", steps, fs)
		}
		for a := range 2 {
			for b := range 3 {
				for k := range 2 {
					if w := q.Weight([]int{a, b, k}); w < 0 || w > steps || w != again.Weight([]int{a, b, k}) {
						t.Fatalf("steps %d, %v has weight %d", steps, fs, w)
					}
				}
			}
		}
	}
}
