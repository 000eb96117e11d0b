package curator

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/policy"
)

const agesBySex = "SELECT sex, COUNT(*), SUM(age) FROM patients GROUP BY sex"

// What is in memory is for those who may ask now, at the same price, about the data as it is now.
func TestRememberedFor(t *testing.T) {
	w := newWorld(t, plenty)
	paid := w.mustAsk(agesBySex)
	finds := func(who string, epsilon string, want bool) {
		t.Helper()
		for range 2 { // the second time from what is shared
			q := api.Question{Analyst: who, SQL: agesBySex}
			if epsilon != "" {
				q.Epsilon = amount(epsilon)
			}
			a, ok := w.Remembered(ctx, q)
			if ok != want || ok && (numbers(a) != numbers(paid) || !a.Receipt.Free || a.Receipt.Sequence != paid.Receipt.Sequence) {
				t.Errorf("%s at %q: %v, %+v", who, epsilon, ok, a)
			}
		}
	}
	finds("ana", "", true)
	finds("ben", "", true) // who is in the dataset has what others of it paid for
	finds("nobody", "", false)
	finds("ana", "0.5", false)
	finds("ana", "0.05", true) // what is there is better
	ben := w.dataset.Analysts["ben"]
	ben.Expires = time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC)
	w.dataset.Analysts["ben"] = ben
	for day, want := range map[int]bool{1: true, 2: false} {
		w.planner.now = func() time.Time { return time.Date(2027, 1, day, 0, 0, 0, 0, time.UTC) }
		finds("ben", "", want)
	}
	load := func(h *hospital.Hospital) { w.check(h.Write(filepath.Join(w.dir, "data"))) }
	load(hospital.New(200, 1).Without(hospital.Target))
	finds("ana", "", false)
	load(hospital.New(200, 1))
	finds("ana", "", true)
	if n := w.records(); n != 2 {
		t.Errorf("there are %d charges and answers", n)
	}
}

// A policy that was changed decides anew: what it does not allow any more is not told from memory,
// and what it reads or bounds otherwise is another question.
func TestRememberedUnderAnotherPolicy(t *testing.T) {
	w := newWorld(t, plenty)
	w.mustAsk(agesBySex)
	for name, c := range map[string]struct {
		was, is string
		want    bool
	}{
		"the same":           {"", "", true},
		"no analyst":         {"ana: {share: 1}, ", "", false},
		"no column":          {"          age:       {type: integer, bounds: [0, 110], nullable: false}\n", "", false},
		"no keys":            {"{type: text, keys: [F, M, X]}", "{type: text}", false},
		"other keys":         {"[F, M, X]", "[F, M, Y]", false},
		"fewer keys":         {"[F, M, X]", "[F, M]", true}, // which are made of what is there
		"other bounds":       {"[0, 110]", "[0, 100]", false},
		"another price":      {"default: 0.1", "default: 0.2", false},
		"other neighbours":   {"    unit: patients.pid\n", "    unit: patients.pid\n    neighbours: substitute\n", false},
		"a smaller budget":   {"epsilon: 100", "epsilon: 50", true},
		"another table more": {"          smoker:    {type: boolean}\n", "", true},
	} {
		text := strings.Replace(hospital.Dataset("hospital", "data", plenty), c.was, c.is, 1)
		if c.was != "" && !strings.Contains(hospital.Dataset("hospital", "data", plenty), c.was) {
			t.Fatalf("%s: the policy has no %q", name, c.was)
		}
		path := filepath.Join(w.dir, "changed.yaml")
		w.check(os.WriteFile(path, []byte("datasets:\n"+text), 0o600))
		p, err := policy.Load(path)
		w.check(err)
		e, err := duckdb.Open(ctx, p.Datasets["hospital"])
		w.check(err)
		changed := New(p.Datasets["hospital"], e, w.books, seeded(7))
		for range 2 {
			if a, ok := changed.Remembered(ctx, api.Question{Analyst: "ana", SQL: agesBySex}); ok != c.want {
				t.Errorf("%s: %v, %+v", name, ok, a)
			}
		}
		w.check(e.Close())
	}
}

// A text is not taken for another one with its values, whose plan is kept: a zero byte stands
// between the two where they are told apart.
func TestNoTextIsAnotherWithValues(t *testing.T) {
	w := newWorld(t, plenty)
	const text = "SELECT COUNT(*) FROM patients WHERE age > $1"
	bound, err := syntax.Open(text, nil).Bind([]api.Parameter{{Kind: "integer", Text: "50"}})
	w.check(err)
	timed := syntax.Open("SELECT COUNT(*) FROM visits WHERE day < CURRENT_DATE", nil).At(time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC))
	for _, one := range []*syntax.Text{bound, timed} {
		for range 2 {
			_, err = w.Ask(ctx, api.Question{Analyst: "ana", SQL: one.SQL(), Parsed: one, Request: freshID()})
			w.check(err)
		}
		q := api.Question{Analyst: "ana", SQL: one.Key(), Request: freshID()}
		var refused *api.Refusal
		if a, err := w.Ask(ctx, q); !errors.As(err, &refused) {
			t.Errorf("%q is answered: %+v, %v", q.SQL, a, err)
		}
		if a, err := w.Explain(ctx, q); !errors.As(err, &refused) {
			t.Errorf("%q has a price: %+v, %v", q.SQL, a, err)
		}
		if a, ok := w.Remembered(ctx, q); ok {
			t.Errorf("%q is remembered: %+v", q.SQL, a)
		}
	}
}

// To look for an answer in memory does the same on neighbours, whether it is there or not, and
// neither charges nor runs anything. What it takes is logged.
func TestRememberedSameWork(t *testing.T) {
	full := hospital.New(200, 1)
	worlds := []*world{build(t, full, hospital.Dataset("hospital", "data", plenty), 1),
		build(t, full.Without(hospital.Target), hospital.Dataset("hospital", "data", plenty), 1)}
	const target = "SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV' AND zip = '1003A'"
	texts := []string{target, agesBySex, "SELECT COUNT(*) FROM patients WHERE age > 50 AND zip = '1003A'", "SELECT * FROM patients",
		"SELECT COUNT(*) FROM patients WHERE age > 200"}
	calls := make([][]string, len(worlds))
	took := make([][]time.Duration, len(worlds))
	var recorders []*recorder
	for _, w := range worlds {
		w.mustAsk(target)
		w.mustAsk(agesBySex)
		recorders = append(recorders, w.record())
	}
	for range 100 {
		for i, w := range worlds {
			begin := time.Now()
			for _, text := range texts {
				_, ok := w.Remembered(ctx, api.Question{Analyst: "ben", SQL: text})
				if want := text == target || text == agesBySex; ok != want {
					t.Fatalf("%s: %v", text, ok)
				}
			}
			took[i] = append(took[i], time.Since(begin))
			calls[i] = append(calls[i], recorders[i].take()...)
		}
	}
	if !slices.Equal(calls[0], calls[1]) {
		t.Errorf("with the target\n%v\nwithout\n%v", calls[0], calls[1])
	}
	for _, call := range calls[0] {
		if call == "charge" || call == "run" || call == "keep" || call == "fetch" {
			t.Errorf("there was a %s", call)
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	t.Logf("medians of %d: with the target %v, without %v", len(took[0]), took[0][len(took[0])/2], took[1][len(took[1])/2])
}
