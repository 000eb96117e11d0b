package answercache

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/cells"
	"github.com/discreet-dp/discreet/policy"
)

const (
	plenty  = "{epsilon: 100, per_query: {default: 0.1, max: 1}}"
	wealthy = "{epsilon: 100, delta: 1e-6, per_query: {min: 0.01, default: 0.1, max: 1}}"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// asked prices a question about a hospital under a budget.
func asked(t testing.TB, budget, sql string, epsilon dp.Amount) *pricing.Priced {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte("datasets:\n"+hospital.Dataset("hospital", "data", budget)))
	check(t, err)
	st, err := planner.Prepare(p.Datasets["hospital"], sql, planner.Options{})
	check(t, err)
	out, err := pricing.Price(p.Datasets["hospital"], st, api.Settings{Epsilon: epsilon},
		pricing.Currency{Pure: p.Datasets["hospital"].Budget.Pure()})
	check(t, err)
	return out
}

// The error bars of sums of noises hold as often as they say, and not much more often.
func TestDerivedErrorBars(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	for _, budget := range []string{plenty, wealthy} {
		b := asked(t, budget, "SELECT diagnosis, COUNT(*), SUM(cost) FROM patients GROUP BY diagnosis", dp.One).Purchases[0]
		noisy := mech.NewReleaser(entropy.FromReader(rand.NewChaCha8([32]byte{1})))
		names := b.Query.Keys[0].Values
		target := asked(t, budget, fmt.Sprintf("SELECT COUNT(*), SUM(cost) FROM patients WHERE diagnosis IN ('%s', '%s', '%s')",
			names[0].Text, names[1].Text, names[2].Text), dp.One/5)
		const trials = 3000
		var outside [2]int
		var bars [2]int64
		for i := range trials {
			r := &answers.Released{Quantiles: make([][][]int64, len(b.Noise))}
			for _, n := range b.Noise { // of nobody: what is far from 0 is noise
				r.Measures = append(r.Measures, noisy.Release(mech.Seal(make([]int64, b.Query.Groups())...), n.Mechanism))
			}
			text, err := encode([]*pricing.Purchase{b}, []*answers.Released{r}, [][]string{{"here"}}, "", false)
			check(t, err)
			s, err := decodeSource(text, "here")
			check(t, err)
			s.sequence = 7
			d, ok := fromSource(target, s)
			if !ok {
				t.Fatal("nothing can be derived")
			}
			if i == 0 { // a bar takes longer than all the rest, and is the same for all
				got, ok := d.sum(target.Purchases[0], target.Beta())
				if !ok {
					t.Fatal("nothing was derived")
				}
				a, err := answers.Finish(context.Background(), target, nil, []*answers.Released{got})
				check(t, err)
				for k, m := range target.Purchases[0].Query.Measures {
					step, _ := m.Step().Float64()
					bars[k] = int64(math.Round(*a.Errors[0][k] / step))
				}
			}
			for k, at := range d.at {
				sum := int64(0)
				for _, cell := range d.of[0] {
					sum += s.values[at][cell]
				}
				if sum > bars[k] || -sum > bars[k] {
					outside[k]++
				}
			}
		}
		for k, n := range outside {
			// 5 % of 3000 is 150, with a deviation of 12. A bar of a few steps is wider than need
			// be.
			if n > 150+4*12 || n < 150-5*12 && bars[k] > 100 {
				t.Errorf("%s: measure %d was outside %d times of %d", budget, k, n, trials)
			}
		}
	}
}

// fromSource is how the only purchase of a statement is made of a source.
func fromSource(p *pricing.Priced, s *keptSource) (derivation, bool) {
	b := p.Purchases[0]
	for _, from := range cells.EarlierAnswers(nil, b.Query) {
		unions := func(s *keptSource) ([][]int, bool) { return cells.Unions(nil, b.Query, from, s.cells) }
		if d, ok := derivable(b, s, b.Names(), unions); ok {
			return d, true
		}
	}
	return derivation{}, false
}

// A place with something else in it is taken, and of no use.
func TestPlaceThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"", "{}", `{"version":3,"purchases":{"a":{"places":["other"]}}}`,
		`{"version":3,"purchases":{"a":{"places":["here"],"measures":[[1]],"names":["x"]}}}`,
		`{"version":3,"purchases":{"a":{"places":["here"],"measures":[[1]],"names":["x"],"noise":[{"mechanism":"laplace","sensitivity":"0","amount":1}]}}}`,
		`{"version":3,"purchases":{"a":{"places":["here"],"measures":[[1]],"names":["x"],"noise":[{"mechanism":"none","sensitivity":"1","amount":1}]}}}`,
		`{"version":3,"purchases":{"a":{"places":["here"],"measures":[[1,2]],"names":["x"],"noise":[{"mechanism":"laplace","sensitivity":"1","amount":1000000000000}],"cells":[]}}}`,
	} {
		if s, err := decodeSource([]byte(text), "here"); err == nil {
			t.Errorf("%s was read as %+v", text, s)
		}
	}
}

// Quantiles, choices and private keys are no sources.
func TestNoSource(t *testing.T) {
	for _, text := range []string{"SELECT MEDIAN(age) FROM patients",
		"SELECT sex FROM patients GROUP BY sex ORDER BY COUNT(*) DESC LIMIT 1"} {
		if got := families(asked(t, wealthy, text, 0).Purchases[0], "v"); got != nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// An answer of another shape than the question's is not read as one.
func TestStoredAnswerOfAnotherShape(t *testing.T) {
	b := asked(t, plenty, "SELECT sex, COUNT(*) FROM patients GROUP BY sex", 0).Purchases[0]
	wrap := func(inside string) string { return `{"version":3,"purchases":{"` + b.Hash() + `":` + inside + `}}` }
	for _, stored := range []string{"", "{}", "[]", `{"measures":[[1,2,3]]}`, wrap(`{"measures":[[1,2,3]],"quantiles":[null]}`)[:40],
		strings.Replace(wrap(`{"measures":[[1,2,3]],"quantiles":[null]}`), `"version":3`, `"version":2`, 1),
		strings.Replace(wrap(`{"measures":[[1,2,3]],"quantiles":[null]}`), b.Hash(), "0", 1),
		wrap(`{}`), wrap(`{"measures":[]}`), wrap(`{"measures":[[1,2]],"quantiles":[null]}`),
		wrap(`{"measures":[[1,2,3],[1,2,3]],"quantiles":[null,null]}`),
		wrap(`{"measures":[[1,2,3.5]],"quantiles":[null]}`), wrap(`{"measures":[[1,2,99999999999999999999]],"quantiles":[null]}`),
		wrap(`{"measures":[[1,2,3]],"quantiles":[null],"keys":[[{"s":"a"}]]}`), wrap(`{"chosen":[1]}`)} {
		if _, _, err := decode(b, []byte(stored)); err == nil {
			t.Errorf("%s was read", stored)
		}
	}
	if got, _, err := decode(b, []byte(wrap(`{"measures":[[1,2,3]],"quantiles":[null]}`))); err != nil || got.Measures[0][2] != 3 {
		t.Errorf("got %v, %v", got, err)
	}
}
