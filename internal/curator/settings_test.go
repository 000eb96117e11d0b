package curator

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pricing"
)

func TestSettings(t *testing.T) {
	var s api.Settings
	for _, c := range [][2]string{
		{"dp.epsilon", "0.5"}, {"DP.Delta", "1e-7"}, {"dp.error", "12.5"}, {"dp.confidence", "0.99"}, {"dp.mechanism", "laplace"},
		{"dp.max_groups", "3"}, {"dp.max_sum", "2.5"}, {"dp.stream", "off"}, {"dp.errors", "interval"}, {"dp.counts", "nonnegative"},
	} {
		before, _ := s.Show(c[0])
		if err := s.Set(c[0], " "+c[1]+" "); err != nil {
			t.Error(err)
		}
		if got, err := s.Show(c[0]); err != nil || strings.TrimSuffix(got, "e-07") != strings.TrimSuffix(c[1], "e-7") {
			t.Errorf("%s = %s is shown as %s, %v", c[0], c[1], got, err)
		}
		if err := s.Reset(c[0]); err != nil {
			t.Error(err)
		}
		if after, _ := s.Show(c[0]); after != before {
			t.Errorf("%s is %s after a reset, and was %s", c[0], after, before)
		}
	}
	names := api.SettingNames()
	if len(names) != 10 {
		t.Errorf("settings %v", names)
	}
	for _, name := range append(names, "dp.nothing") {
		for _, bad := range []string{"", " ", "NaN", "nan", "Inf", "-inf", "1e20", "-1", "-0.5", "0", "x", "0x1", "1e999999999", "1,5",
			"1/2", strings.Repeat("9", 100)} {
			kept := s
			if err := s.Set(name, bad); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s = %q: %v", name, bad, err)
			}
			if s != kept {
				t.Errorf("%s = %q changed something", name, bad)
			}
		}
	}
	for _, bad := range [][2]string{{"dp.confidence", "0.49"}, {"dp.confidence", "0.99991"}, {"dp.confidence", "1"},
		{"dp.max_groups", "1.5"}, {"dp.max_groups", "1000001"}, {"dp.mechanism", "exponential"}, {"dp.delta", "1"}} {
		if s.Set(bad[0], bad[1]) == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	if _, err := s.Show("dp.budget"); err == nil {
		t.Error("there is a setting dp.budget")
	}
	if got, err := api.ParseSettings(map[string]string{"dp.epsilon": "1", "dp.max_groups": "2"}); err != nil || got.MaxGroups != 2 ||
		got.Epsilon != amount("1") {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := api.ParseSettings(map[string]string{"dp.epsilon": "1", "dp.max": "2"}); err == nil {
		t.Error("an unknown setting was taken")
	}
}

// Settings that a program makes are checked like those that somebody writes.
func TestSettingsOfPrograms(t *testing.T) {
	w := newWorld(t, plenty)
	r := w.record()
	for _, s := range []api.Settings{
		{Confidence: math.NaN()}, {Confidence: math.Inf(1)}, {Confidence: 0.2}, {Confidence: -1}, {Mechanism: "none"},
		{Mechanism: "gaussian"}, {MaxGroups: -1}, {MaxGroups: 5},
		{Error: big.NewRat(-1, 1)}, {Error: new(big.Rat)}, {Error: big.NewRat(10, 1), Epsilon: amount("0.1")}, {Epsilon: amount("2")},
	} {
		_, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Settings: s, Request: freshID()})
		if refused := new(api.Refusal); !errors.As(err, &refused) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if got := r.take(); len(got) > 0 {
		t.Errorf("refused settings called %v", got)
	}
}

// Fewer groups of each person need less noise, and are another question.
func TestMaxGroups(t *testing.T) {
	w := newWorld(t, plenty)
	ask := func(n int64) float64 {
		a, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
			Settings: api.Settings{MaxGroups: n}, Request: freshID()})
		w.check(err)
		if n > 0 && a.MaxGroups != n || a.Receipt.Free && n != 2 {
			t.Errorf("%d groups: %+v", n, a)
		}
		return *a.Errors[0][1]
	}
	if all, two, one := ask(0), ask(2), ask(1); all != two || one > two*0.51 {
		t.Errorf("errors %v, %v and %v", all, two, one)
	}
}

// Laplace noise can be had for rho, and claims no more of it than Gaussian noise would.
func TestMechanism(t *testing.T) {
	w := newWorld(t, rich)
	for _, m := range []string{"laplace", "gaussian", ""} {
		p, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: "SELECT sex, COUNT(*), SUM(cost) FROM patients GROUP BY sex",
			Settings: api.Settings{Mechanism: m}})
		w.check(err)
		want := m
		if m == "" {
			want = "gaussian"
		}
		share := pricing.Currency{}.Amount(amount("0.1")) / 2
		for _, n := range p.Purchases[0].Noise {
			if got := n.Cost().Rho; n.Name() != want || got > share || got < share-share/1000 {
				t.Errorf("%q: %s at rho %v of %v", m, n.Name(), got, share)
			}
		}
	}
}
