package curator_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// shown returns in what part of the releases the attic is shown.
func attic(w *curatortest.World, p *pricing.Priced, n int) float64 {
	w.T.Helper()
	b := p.Purchases[0]
	exactly, err := w.Data.Run(ctx, b.Query)
	w.Check(err)
	hits := 0
	for range n {
		r, err := w.Release(b, exactly, pricing.MaxBytes)
		w.Check(err)
		for _, k := range r.Keys {
			if k[0].Text == "attic" {
				hits++
			}
		}
	}
	return float64(hits) / float64(n)
}

// A key that one person has is shown with probability delta at most, by either rule, and by much
// less noise than that it would be: a rule that never shows it would prove nothing.
func TestKeyOfOnePerson(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	const n = 20_000
	delta := curatortest.Amount("0.05")
	most := delta.Float() + 4*math.Sqrt(delta.Float()/n)
	w := curatortest.NewPrivateKeys(t, 60, curatortest.Amount("0.2"), delta)
	for _, c := range []struct {
		sql    string
		groups int64
		rule   string
	}{
		{"SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward", 0, "threshold"},
		{"SELECT ward, COUNT(*) FROM visits GROUP BY ward", 0, "weights"},
		{"SELECT DISTINCT ward FROM visits", 0, "weights"},
		{"SELECT DISTINCT ward FROM visits WHERE ward = 'attic' OR cost > 800", 1, "selection"},
	} {
		p, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: c.sql, Epsilon: dp.One,
			Settings: api.Settings{MaxGroups: c.groups}})
		w.Check(err)
		got := attic(w, p, n)
		if !curatortest.ContainsAll(pricing.Mechanisms(p.Purchases), map[string]string{"threshold": ": keys gaussian",
			"weights":   "weighed keys",
			"selection": "key selection"}[c.rule]) {
			t.Errorf("%s: %s", c.sql, pricing.Mechanisms(p.Purchases))
		}
		if got > most || got < delta.Float()/20 {
			t.Errorf("%s: shown in %.4f of the releases; %v is paid for", c.sql, got, delta)
		}
		t.Logf("%s: %.4f of %v, %s", c.sql, got, delta, pricing.Mechanisms(p.Purchases))
		if err := keysArePaid(p, pricing.Cost(p.Purchases)); err != nil {
			t.Error(err)
		}
	}
	// The planted bugs: a threshold for another delta, and a delta that is not charged.
	p, err := curatortest.Price(w, api.Question{Analyst: "ana", Epsilon: dp.One,
		SQL: "SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward"})
	w.Check(err)
	dropped, err := mech.NewKeyThreshold(mech.KeyConfig{GroupsPerUnit: 2, Rho: pricing.Currency{}.Amount(dp.One),
		Delta: curatortest.Amount("0.9")})
	w.Check(err)
	free := pricing.Cost(p.Purchases)
	free.Delta = 0
	if keysArePaid(p, free) == nil {
		t.Error("a delta that was not charged was not noticed")
	}
	p.Purchases[0].Keys.Threshold = dropped
	if got := attic(w, p, n); got <= most {
		t.Errorf("without its threshold the key was shown in %.4f of the releases", got)
	}
	if keysArePaid(p, dp.Cost{Delta: delta}) == nil {
		t.Error("a threshold that is too low was not noticed")
	}
}

// keysArePaid checks that a charge has the delta of the keys: the chance that one of the groups
// that a person alone is in is shown.
func keysArePaid(p *pricing.Priced, charged dp.Cost) error {
	for _, b := range p.Purchases {
		if b.Keys == nil || b.Keys.Threshold == nil && b.Keys.Weights == nil {
			continue
		}
		if k := b.Keys.Weights; k != nil {
			if k.Cost().Delta > charged.Delta {
				return fmt.Errorf("delta %v was charged, and %v is claimed", charged.Delta, k.Cost().Delta)
			}
			continue
		}
		k := b.Keys.Threshold
		edge, _ := k.EdgeProbability().Float64()
		one := (1-edge)*k.Noise().Tail(k.Threshold()-2)/2 + edge*k.Noise().Tail(k.Threshold()-3)/2
		if all := -math.Expm1(float64(b.Query.MaxGroups()) * math.Log1p(-one)); all > charged.Delta.Float()*(1+1e-9) {
			return fmt.Errorf("a key of one person is shown with probability %v, and delta %v was charged", all, charged.Delta)
		}
	}
	return nil
}

// More keys than the ledger can keep: those of most people stay, by what was released, and the
// answer says so.
func TestTooManyKeys(t *testing.T) {
	w := curatortest.NewPrivateKeys(t, 2000, curatortest.Amount("0.01"), curatortest.Amount("0.01"))
	p, err := curatortest.Price(w, api.Question{Analyst: "ana",
		SQL: "SELECT ward, COUNT(*) FROM visits WHERE ward <> 'internal' OR cost > 500 GROUP BY ward", Epsilon: dp.One})
	w.Check(err)
	b := p.Purchases[0]
	exactly, err := w.Data.Run(ctx, b.Query)
	w.Check(err)
	r, err := w.Release(b, exactly, 2*(b.Cells()*pricing.CellBytes+20))
	w.Check(err)
	var wards []string
	for _, k := range r.Keys {
		wards = append(wards, k[0].Text)
	}
	if !slices.Equal(wards, []string{"emergency", "surgery"}) || r.Dropped < 1 || len(r.Measures[0]) != 2 {
		t.Errorf("kept %v, dropped %d", wards, r.Dropped)
	}
	a, err := answers.Finish(ctx, p, nil, []*answers.Released{r})
	w.Check(err)
	if !curatortest.ContainsAll(strings.Join(a.Notes, "\n"), "left out") {
		t.Errorf("notes %q", a.Notes)
	}
}

// Where the count is what decides, there is one draw for each combination that somebody has, and
// what is shown is what was compared.
func TestCountThatDecides(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	delta := curatortest.Amount("0.01")
	w := curatortest.NewPrivateKeys(t, 60, curatortest.Amount("0.2"), delta)
	for _, c := range []struct {
		sql   string
		calls int
	}{
		{"SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward", 1},
		{"SELECT ward, COUNT(DISTINCT pid), SUM(cost) FROM visits GROUP BY ward", 2},
		{"SELECT ward, COUNT(*) FROM visits GROUP BY ward", 2},
	} {
		p, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: c.sql, Epsilon: dp.One})
		w.Check(err)
		b := p.Purchases[0]
		exactly, err := w.Data.Run(ctx, b.Query)
		w.Check(err)
		least, calls := int64(0), 0
		if b.Noise[0].Decides {
			least = b.Keys.Threshold.Threshold() - 1 // by its edge
		}
		w.Noise.Record(func(call mech.Call) {
			if calls++; calls == 1 && call.Values.Len() != exactly.Persons.Len() {
				t.Errorf("%s: noise for %d combinations of %d", c.sql, call.Values.Len(), exactly.Persons.Len())
			}
		})
		below := 0
		for range 500 {
			calls = 0
			r, err := w.Release(b, exactly, pricing.MaxBytes)
			w.Check(err)
			if calls != c.calls || len(r.Measures[0]) != len(r.Keys) {
				t.Fatalf("%s: %d releases, %d counts of %d keys", c.sql, calls, len(r.Measures[0]), len(r.Keys))
			}
			for _, n := range r.Measures[0] {
				if n < least {
					below++
				}
			}
		}
		w.Noise.Record(nil)
		if b.Noise[0].Decides && below > 0 {
			t.Errorf("%s: %d counts are below %d, and decided", c.sql, below, least)
		}
		a, err := w.AskAs("ana", c.sql, dp.One)
		w.Check(err)
		if got := curatortest.ContainsAll(strings.Join(a.Notes, "\n"), "more often too large"); got != b.Noise[0].Decides {
			t.Errorf("%s: notes %q", c.sql, a.Notes)
		}
	}
}

// A planted bug, two draws at the price of one: a number that was not compared can be below the
// threshold, and what it costs is not what was charged.
func TestSecondDrawIsPaidFor(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	w := curatortest.NewPrivateKeys(t, 60, curatortest.Amount("0.2"), curatortest.Amount("0.01"))
	p, err := curatortest.Price(w, api.Question{Analyst: "ana", Epsilon: dp.One,
		SQL: "SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward"})
	w.Check(err)
	b := p.Purchases[0]
	exactly, err := w.Data.Run(ctx, b.Query)
	w.Check(err)
	planted := *b
	planted.Noise = slices.Clone(b.Noise)
	planted.Noise[0].Decides = false
	below := 0
	for range 2000 {
		r, err := w.Release(&planted, exactly, pricing.MaxBytes)
		w.Check(err)
		for _, n := range r.Measures[0] {
			if n < b.Keys.Threshold.Threshold() {
				below++
			}
		}
	}
	if below == 0 {
		t.Error("a second draw looks like the first")
	}
	if planted.Cost() == b.Cost() || planted.Cost().Rho < 2*b.Cost().Rho-2 {
		t.Errorf("two draws cost %v, and one %v", planted.Cost(), b.Cost())
	}
}
