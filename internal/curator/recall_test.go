package curator

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
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
		w.SetClock(func() time.Time { return time.Date(2027, 1, day, 0, 0, 0, 0, time.UTC) })
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

// What was kept after a tick does not exist for who prices a question before the next one: in the
// process that kept it, and in another one on the same ledger, which was not there.
func TestArrivalsElsewhere(t *testing.T) {
	w := newWorld(t, plenty)
	before := time.Now()
	const text, total = "SELECT sex, COUNT(*) FROM patients GROUP BY sex", "SELECT COUNT(*) FROM patients WHERE sex = 'F'"
	w.charged("ana", text, amount("0.5"))
	after := time.Now()
	for _, where := range []string{"here", "elsewhere"} {
		if where == "elsewhere" { // where it may have taken a while, by another clock, until it was there
			after = after.Add(2 * time.Second)
			before = before.Add(time.Second)
		}
		for _, q := range []api.Question{{SQL: text, Epsilon: amount("0.5")}, {SQL: text, Epsilon: amount("0.4")},
			{SQL: total, Epsilon: amount("0.4")}} {
			for _, c := range []struct {
				at   time.Time
				free bool
			}{{before, false}, {after, true}} {
				q.Analyst, q.AsOf = "ben", c.at
				e, err := w.Explain(ctx, q)
				w.check(err)
				if free := e.Pay.Epsilon == 0; free != c.free {
					t.Errorf("%s: %s at %v as of %v: free is %v", where, q.SQL, q.Epsilon, c.at.Sub(before), free)
				}
			}
		}
		w.reopen()
	}
}

// The same for models of another server: priced and listed.
func TestModelsElsewhere(t *testing.T) {
	w := newWorld(t, plenty)
	servers := w.servers(2)
	before := time.Now()
	q := smokers("0.5")
	first, err := servers[0].Trainings.Train(ctx, q, nil)
	w.check(err)
	after := time.Now()
	r := w.chargesOf(servers[1].ledger)[0]
	for _, c := range []struct {
		at    time.Time
		shown bool
	}{{before.Add(time.Second), false}, {after.Add(2 * time.Second), true}} {
		q.AsOf, q.Request = c.at, freshID()
		quote, err := servers[1].Trainings.Quote(ctx, q)
		w.check(err)
		if quote.Known != c.shown {
			t.Errorf("as of %v it is known: %v", c.at.Sub(before), quote.Known)
		}
		if _, err := servers[1].Trainings.Model(ctx, r, c.at); (err == nil) != c.shown {
			t.Errorf("as of %v: %v", c.at.Sub(before), err)
		}
	}
	q.AsOf, q.Request = before, r.Request // and who asks has it
	got, err := servers[1].Trainings.Train(ctx, q, nil)
	w.check(err)
	if got.ID != first.ID || got.Cost.Epsilon != 0 {
		t.Errorf("%s cost %v; it was %s", got.ID, got.Cost, first.ID)
	}
}

// made asks what can be made of earlier answers and checks that it is free and says so.
func (w *world) made(text, epsilon string, from *api.Answer) *api.Answer {
	w.t.Helper()
	r := w.record()
	before := w.records()
	a, err := w.askAs("ben", text, amount(epsilon))
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	note := fmt.Sprintf("computed from answers that were paid for before (record %d)", from.Receipt.Sequence)
	if !a.Receipt.Free || a.Cost != (dp.Cost{}) || w.records() != before || a.Receipt.Sequence != from.Receipt.Sequence ||
		!contains(strings.Join(a.Notes, "\n"), note) {
		w.t.Errorf("%s at %s: cost %v, receipt %+v, notes %q; want it free, from record %d", text, epsilon, a.Cost, a.Receipt, a.Notes,
			from.Receipt.Sequence)
	}
	for _, call := range r.take() {
		if call == "run" || call == "charge" || call == "keep" {
			w.t.Errorf("%s: called %s", text, call)
		}
	}
	e, err := w.Explain(ctx, api.Question{Analyst: "ben", SQL: text, Epsilon: amount(epsilon)})
	w.check(err)
	if q := e.Questions[0]; !e.Known || !q.Derived || q.Record != from.Receipt.Sequence || e.Pay != (dp.Cost{}) {
		w.t.Errorf("%s: explained as %+v", text, q)
	}
	return a
}

func value(a *api.Answer, row, column int) int64 {
	n, err := a.Rows[row][column].(json.Number).Int64()
	if err != nil {
		panic(err)
	}
	return n
}

var wealthy = "{epsilon: 100, delta: 1e-6, per_query: {min: 0.01, default: 0.1, max: 1}}"

// A better answer to the same question is given at a lower price, with the error bars of what was
// released.
func TestBetterAnswer(t *testing.T) {
	for _, budget := range []string{plenty, wealthy} {
		w := newWorld(t, budget)
		for _, text := range []string{
			"SELECT sex, COUNT(*), SUM(cost) FROM patients GROUP BY sex",
			"SELECT ward, COUNT(*), AVG(cost) FROM visits GROUP BY ward", // people have many rows
		} {
			low := w.charged("ana", text, amount("0.2"))
			good := w.charged("ana", text, amount("0.5"))
			a := w.made(text, "0.1", good)
			if numbers(a) != numbers(good) || *a.Errors[0][1] != *good.Errors[0][1] || *a.Errors[0][2] != *good.Errors[0][2] {
				t.Errorf("%s: %v with %v; the better one is %v with %v", text, a.Rows, *a.Errors[0][1], good.Rows, *good.Errors[0][1])
			}
			w.free(w.record(), "ben", strings.Replace(text, "SELECT", "SELECT ALL", 1)+" ORDER BY 1", w.mustAsk(text)) // 0.1 again
			if again, err := w.askAs("ana", text, amount("0.2")); err != nil || numbers(again) != numbers(low) {
				t.Errorf("what was bought is not what is given again: %v, %v", again, err)
			}
			w.charged("ana", text, amount("0.6"))
		}
		// Other limits are another question.
		limits := api.Question{Analyst: "ana", SQL: "SELECT ward, COUNT(*) FROM visits GROUP BY ward", Epsilon: amount("0.1"),
			Settings: api.Settings{MaxGroups: 1}, Request: freshID()}
		if a, err := w.Ask(ctx, limits); err != nil || a.Receipt.Free {
			t.Errorf("another limit was free: %v", err)
		}
	}
}

func TestCells(t *testing.T) {
	for _, budget := range []string{plenty, wealthy} {
		w := newWorld(t, budget)
		groups := w.charged("ana", "SELECT sex, smoker, COUNT(*), SUM(age) FROM patients WHERE cost > 10 GROUP BY sex, smoker", amount("1"))
		cell := func(sex string, smoker any, column int) (n int64) {
			for i, r := range groups.Rows {
				if r[0] == sex && (smoker == nil || r[1] == smoker) {
					n += value(groups, i, column)
				}
			}
			return n
		}
		for _, c := range []struct {
			text string
			want []int64
		}{
			{"SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex = 'F' AND smoker", []int64{cell("F", true, 2)}},
			{"SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex = 'F' AND NOT smoker", []int64{cell("F", false, 2)}},
			{"SELECT SUM(age) FROM patients WHERE 10 < cost AND sex IN ('F', 'M') AND smoker",
				[]int64{cell("F", true, 3) + cell("M", true, 3)}},
			{"SELECT COUNT(*), sex FROM patients WHERE cost > 10 AND smoker GROUP BY sex",
				[]int64{cell("F", true, 2), cell("M", true, 2), cell("X", true, 2)}},
			{"SELECT COUNT(*), sex FROM patients WHERE cost > 10 AND smoker IS NOT NULL GROUP BY sex",
				[]int64{cell("F", nil, 2), cell("M", nil, 2), cell("X", nil, 2)}},
			{"SELECT COUNT(*), sex, smoker FROM patients WHERE cost > 10 AND sex <> 'X' AND smoker GROUP BY sex, smoker",
				[]int64{cell("F", true, 2), cell("M", true, 2)}},
		} {
			a := w.made(c.text, "0.1", groups)
			for i, want := range c.want {
				if got := value(a, i, 0); got != want {
					t.Errorf("%s: row %d is %d; the groups say %d", c.text, i, got, want)
				}
			}
			if len(a.Rows) != len(c.want) {
				t.Errorf("%s: %v", c.text, a.Rows)
			}
		}
		// These are other numbers.
		for _, text := range []string{
			// people of no listed sex are in no group
			"SELECT COUNT(*) FROM patients WHERE cost > 10",
			"SELECT COUNT(*) FROM patients WHERE cost > 10 AND smoker",                       // nor here
			"SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex IN ('F', 'Q') AND smoker", // Q is not listed
			// nor is a smoker who is NULL
			"SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex = 'F'",
			"SELECT COUNT(*) FROM patients WHERE cost > 11 AND sex = 'F' AND smoker",                               // another condition
			"SELECT COUNT(*) FROM patients WHERE sex = 'F' AND smoker",                                             // one less
			"SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex = 'F' AND smoker AND age > 3",                   // one more
			"SELECT COUNT(*) FROM patients WHERE cost > 10 OR sex = 'F' AND smoker",                                //
			"SELECT SUM(cost) FROM patients WHERE cost > 10 AND sex = 'F' AND smoker",                              // another measure
			"SELECT COUNT(*) FROM patients p JOIN visits v USING (pid) WHERE p.cost > 10 AND sex = 'F' AND smoker", // other rows
		} {
			w.charged("ana", text, amount("0.01"))
		}
		// What is made of six noises is less exact than one of them.
		w.charged("ana", "SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex IN ('F', 'M', 'X') AND smoker IS NOT NULL", amount("0.9"))
		// People with many rows are cut in each question differently.
		w.charged("ana", "SELECT ward, COUNT(*) FROM visits GROUP BY ward", amount("1"))
		w.charged("ana", "SELECT COUNT(*) FROM visits WHERE ward = 'surgery'", amount("0.01"))

		w.reopen()
		w.made("SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex = 'M' AND smoker", "0.1", groups)
	}
}

// The best of several is taken, and none that is worse than what was asked for.
func TestBestSource(t *testing.T) {
	w := newWorld(t, plenty)
	w.charged("ana", "SELECT sex, COUNT(*) FROM patients GROUP BY sex", amount("0.1"))
	fine := w.charged("ana", "SELECT sex, smoker, COUNT(*) FROM patients GROUP BY sex, smoker", amount("1"))
	best := w.charged("ana", "SELECT sex, COUNT(*) FROM patients GROUP BY sex", amount("0.9"))
	w.made("SELECT COUNT(*) FROM patients WHERE sex = 'F'", "0.1", best)
	w.made("SELECT COUNT(*) FROM patients WHERE sex = 'F' AND smoker", "1", fine)
	w.charged("ana", "SELECT COUNT(*) FROM patients WHERE sex = 'M'", amount("0.95"))
}

// Other data is another answer, for what is made of answers too.
func TestDerivedOfChangedData(t *testing.T) {
	w := newWorld(t, plenty)
	const groups, one = "SELECT sex, COUNT(*) FROM patients GROUP BY sex", "SELECT COUNT(*) FROM patients WHERE sex = 'F'"
	first := w.charged("ana", groups, amount("0.5"))
	w.made(one, "0.5", first)
	w.check(hospital.New(200, 1).Without(hospital.Target).Write(filepath.Join(w.dir, "data")))
	w.charged("ana", one, amount("0.1"))
	w.charged("ana", groups, amount("0.1"))
	w.check(hospital.New(200, 1).Write(filepath.Join(w.dir, "data")))
	w.made(one, "0.3", first)
}

// Whoever asks for the same number in many ways gets values that are made of what was paid for, so
// that no average of them is nearer to the truth than the best that they paid for.
func TestManyWaysOneNoise(t *testing.T) {
	w := newWorld(t, plenty)
	groups := w.charged("ana", "SELECT sex, COUNT(*) FROM patients GROUP BY sex", amount("0.5"))
	want := value(groups, 0, 1)
	for i, text := range []string{
		"SELECT COUNT(*) FROM patients WHERE sex = 'F'", "SELECT COUNT(*) FROM patients WHERE sex IN ('F')",
		"SELECT SUM(1) FROM patients WHERE sex = 'F' AND sex <> 'M'",
		"SELECT COUNT(*) FROM patients WHERE sex = 'F' AND sex IN ('F', 'X')",
		"SELECT COUNT(*) FROM patients WHERE sex < 'G'  AND sex IN ('F', 'M')",
		"SELECT COUNT(*) FROM (SELECT * FROM patients WHERE sex = 'F') x WHERE sex LIKE 'F%'",
		"SELECT COUNT(*) FROM patients WHERE sex = 'F' GROUP BY sex",
	} {
		for _, epsilon := range []string{"0.5", "0.4", "0.3", "0.01"} {
			if a := w.made(text, epsilon, groups); value(a, 0, 0) != want {
				t.Errorf("%d: %s at %s: %v; want %d", i, text, epsilon, a.Rows, want)
			}
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	w := newWorld(b, plenty)
	for i := range 300 {
		if _, err := w.askAs("ana", fmt.Sprintf("SELECT sex, COUNT(*) FROM patients WHERE age > %d GROUP BY sex", i%100),
			amount("0.1")+dp.Amount(i)); err != nil {
			b.Fatal(err)
		}
	}
	version, err := w.data.Version(ctx)
	w.check(err)
	for _, c := range []struct{ name, text string }{
		{"new", "SELECT COUNT(*) FROM patients WHERE cost > 5 AND zip = 'a' AND NOT smoker"},
		{"cell", "SELECT COUNT(*) FROM patients WHERE sex = 'F' AND age > 7"},
	} {
		p, err := price(w, api.Question{Analyst: "ana", SQL: c.text, Epsilon: amount("0.01")})
		w.check(err)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := answercache.New(w.books).Recall(ctx, p, version.Key(), answercache.Horizon{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
