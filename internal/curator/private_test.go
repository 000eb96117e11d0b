package curator

import (
	"errors"
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
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/ledger"
)

// privately is a hospital whose wards are private, and of which one, the attic, one person alone
// has seen.
func privately(t testing.TB, n int, keysDelta, delta dp.Amount) *world {
	t.Helper()
	h := hospital.New(n, 1)
	// Nothing else is known of them, so that no other ward can be what counts.
	h.Visits = slices.DeleteFunc(h.Visits, func(v hospital.Visit) bool { return v.Patient == hospital.Target })
	h.Visits = append(h.Visits, hospital.Visit{Patient: hospital.Target, Day: "2025-01-01", Ward: "attic", Cents: 100})
	dataset := hospital.Dataset("hospital", "data", rich)
	dataset = strings.Replace(dataset, "ward: {type: text, keys: [emergency, internal, surgery]}", "ward: {type: text, keys: private}", 1)
	w := build(t, h, dataset, 3)
	w.dataset.Budget.Delta = max(w.dataset.Budget.Delta, 2*keysDelta)
	w.dataset.Budget.KeysDelta, w.dataset.Budget.DefaultDelta = keysDelta, delta
	return w
}

func TestPrivateKeys(t *testing.T) {
	w := privately(t, 2000, amount("1e-4"), amount("1e-6"))
	r := w.record()
	const text = "SELECT ward, COUNT(*), AVG(cost), MEDIAN(cost) FROM visits GROUP BY ward"
	ask := func(sql string) *api.Answer {
		a, err := w.askAs("ana", sql, dp.One)
		w.check(err)
		return a
	}
	a := ask(text)
	var wards []string
	for _, row := range a.Rows {
		wards = append(wards, row[0].(string))
	}
	if !slices.Equal(wards, []string{"emergency", "internal", "surgery"}) {
		t.Errorf("the wards are %v", wards)
	}
	if a.Cost.Delta == 0 || a.Cost.Delta > amount("1e-6") || r.charges[0].Cost.Delta != a.Cost.Delta || w.spent().Delta != a.Cost.Delta {
		t.Errorf("cost %v, charged %v, spent %v", a.Cost, r.charges[0].Cost, w.spent())
	}
	if a.Remaining.KeysDelta != amount("1e-4")-a.Cost.Delta {
		t.Errorf("left: %+v", a.Remaining)
	}
	if !contains(strings.Join(a.Notes, "\n"), "enough people", "rank is within") {
		t.Errorf("notes %q", a.Notes)
	}
	// It is remembered with its keys, by another process too, and what is done after the noise is
	// free.
	for range 2 {
		if again := ask(text); !again.Receipt.Free || numbers(again) != numbers(a) {
			t.Errorf("%v, and before %v", numbers(again), numbers(a))
		}
		if last := ask(text + " ORDER BY ward DESC LIMIT 1"); !last.Receipt.Free || fmt.Sprint(last.Rows[0]) != fmt.Sprint(a.Rows[2]) {
			t.Errorf("%v of %v", last.Rows, a.Rows)
		}
		w.reopen()
		w.record()
	}
	// Public keys beside private ones: every combination with a released ward is there.
	both := ask("SELECT cost > 500 AS dear, ward, COUNT(*) FROM visits GROUP BY cost > 500, ward")
	var got []string
	for _, row := range both.Rows {
		got = append(got, fmt.Sprint(row[1], " ", row[0]))
	}
	if want := "[emergency false emergency true internal false internal true surgery false surgery true]"; fmt.Sprint(got) != want {
		t.Errorf("got %v", got)
	}
	only := ask("SELECT DISTINCT ward FROM visits")
	if fmt.Sprint(only.Rows) != "[[emergency] [internal] [surgery]]" || only.Columns[0].Noisy {
		t.Errorf("got %v", only.Rows)
	}
}

// What cannot be paid for in delta is refused, and spends nothing.
func TestPrivateKeysAreRefused(t *testing.T) {
	const text = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
	var refused *api.Refusal
	w := privately(t, 50, 0, 0)
	if _, err := w.ask(text); !errors.As(err, &refused) {
		t.Errorf("without a delta: %v", err)
	}
	w = privately(t, 50, amount("1e-6"), amount("6e-7"))
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Settings: api.Settings{Delta: amount("2e-6")},
		Request: freshID()}); !errors.As(err, &refused) {
		t.Errorf("with too much delta: %v", err)
	}
	w.mustAsk(text)
	before := w.spent()
	_, err := w.ask(text + " HAVING COUNT(*) > 0 ORDER BY SUM(cost)")
	var over *ledger.BudgetError
	if !errors.As(err, &over) || !contains(err.Error(), "dp.delta", "IN (...)") || w.spent() != before {
		t.Errorf("more delta than there is: %v; spent %v of %v", err, w.spent(), before)
	}
	// Pure budgets have no delta at all.
	dataset := strings.Replace(hospital.Dataset("hospital", "data", plenty), "ward: {type: text, keys: [emergency, internal, surgery]}",
		"ward: {type: text, keys: private}", 1)
	if _, err := build(t, hospital.New(20, 1), dataset, 1).ask(text); !errors.As(err, &refused) {
		t.Errorf("a pure budget: %v", err)
	}
}

// shown returns in what part of the releases the attic is shown.
func (w *world) attic(p *pricing.Priced, n int) float64 {
	w.t.Helper()
	b := p.Purchases[0]
	exactly, err := w.data.Run(ctx, b.Query)
	w.check(err)
	hits := 0
	for range n {
		r, err := w.Release(b, exactly, pricing.MaxBytes)
		w.check(err)
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
	delta := amount("0.05")
	most := delta.Float() + 4*math.Sqrt(delta.Float()/n)
	w := privately(t, 60, amount("0.2"), delta)
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
		p, err := price(w, api.Question{Analyst: "ana", SQL: c.sql, Epsilon: dp.One, Settings: api.Settings{MaxGroups: c.groups}})
		w.check(err)
		got := w.attic(p, n)
		if !contains(pricing.Mechanisms(p.Purchases), map[string]string{"threshold": ": keys gaussian", "weights": "weighed keys",
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
	p, err := price(w, api.Question{Analyst: "ana", Epsilon: dp.One,
		SQL: "SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward"})
	w.check(err)
	dropped, err := mech.NewKeyThreshold(mech.KeyConfig{GroupsPerUnit: 2, Rho: pricing.Currency{}.Amount(dp.One), Delta: amount("0.9")})
	w.check(err)
	free := pricing.Cost(p.Purchases)
	free.Delta = 0
	if keysArePaid(p, free) == nil {
		t.Error("a delta that was not charged was not noticed")
	}
	p.Purchases[0].Keys.Threshold = dropped
	if got := w.attic(p, n); got <= most {
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
	w := privately(t, 2000, amount("0.01"), amount("0.01"))
	p, err := price(w, api.Question{Analyst: "ana",
		SQL: "SELECT ward, COUNT(*) FROM visits WHERE ward <> 'internal' OR cost > 500 GROUP BY ward", Epsilon: dp.One})
	w.check(err)
	b := p.Purchases[0]
	exactly, err := w.data.Run(ctx, b.Query)
	w.check(err)
	r, err := w.Release(b, exactly, 2*(b.Cells()*pricing.CellBytes+20))
	w.check(err)
	var wards []string
	for _, k := range r.Keys {
		wards = append(wards, k[0].Text)
	}
	if !slices.Equal(wards, []string{"emergency", "surgery"}) || r.Dropped < 1 || len(r.Measures[0]) != 2 {
		t.Errorf("kept %v, dropped %d", wards, r.Dropped)
	}
	a, err := answers.Finish(ctx, p, nil, []*answers.Released{r})
	w.check(err)
	if !contains(strings.Join(a.Notes, "\n"), "left out") {
		t.Errorf("notes %q", a.Notes)
	}
}

// Where the count is what decides, there is one draw for each combination that somebody has, and
// what is shown is what was compared.
func TestCountThatDecides(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	delta := amount("0.01")
	w := privately(t, 60, amount("0.2"), delta)
	for _, c := range []struct {
		sql   string
		calls int
	}{
		{"SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward", 1},
		{"SELECT ward, COUNT(DISTINCT pid), SUM(cost) FROM visits GROUP BY ward", 2},
		{"SELECT ward, COUNT(*) FROM visits GROUP BY ward", 2},
	} {
		p, err := price(w, api.Question{Analyst: "ana", SQL: c.sql, Epsilon: dp.One})
		w.check(err)
		b := p.Purchases[0]
		exactly, err := w.data.Run(ctx, b.Query)
		w.check(err)
		least, calls := int64(0), 0
		if b.Noise[0].Decides {
			least = b.Keys.Threshold.Threshold() - 1 // by its edge
		}
		w.noise.Record(func(call mech.Call) {
			if calls++; calls == 1 && call.Values.Len() != exactly.Persons.Len() {
				t.Errorf("%s: noise for %d combinations of %d", c.sql, call.Values.Len(), exactly.Persons.Len())
			}
		})
		below := 0
		for range 500 {
			calls = 0
			r, err := w.Release(b, exactly, pricing.MaxBytes)
			w.check(err)
			if calls != c.calls || len(r.Measures[0]) != len(r.Keys) {
				t.Fatalf("%s: %d releases, %d counts of %d keys", c.sql, calls, len(r.Measures[0]), len(r.Keys))
			}
			for _, n := range r.Measures[0] {
				if n < least {
					below++
				}
			}
		}
		w.noise.Record(nil)
		if b.Noise[0].Decides && below > 0 {
			t.Errorf("%s: %d counts are below %d, and decided", c.sql, below, least)
		}
		a, err := w.askAs("ana", c.sql, dp.One)
		w.check(err)
		if got := contains(strings.Join(a.Notes, "\n"), "more often too large"); got != b.Noise[0].Decides {
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
	w := privately(t, 60, amount("0.2"), amount("0.01"))
	p, err := price(w, api.Question{Analyst: "ana", Epsilon: dp.One,
		SQL: "SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward"})
	w.check(err)
	b := p.Purchases[0]
	exactly, err := w.data.Run(ctx, b.Query)
	w.check(err)
	planted := *b
	planted.Noise = slices.Clone(b.Noise)
	planted.Noise[0].Decides = false
	below := 0
	for range 2000 {
		r, err := w.Release(&planted, exactly, pricing.MaxBytes)
		w.check(err)
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
