package curator_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

const agesBySex = "SELECT sex, COUNT(*), SUM(age) FROM patients GROUP BY sex"

// What is in memory is for those who may ask now, at the same price, about the data as it is now.
func TestRememberedFor(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	paid := w.MustAsk(agesBySex)
	finds := func(who string, epsilon string, want bool) {
		t.Helper()
		for range 2 { // the second time from what is shared
			q := api.Question{Analyst: who, SQL: agesBySex}
			if epsilon != "" {
				q.Epsilon = curatortest.Amount(epsilon)
			}
			a, ok := w.Remembered(ctx, q)
			if ok != want || ok && (curatortest.Numbers(a) != curatortest.Numbers(paid) || !a.Receipt.Free ||
				a.Receipt.Sequence != paid.Receipt.Sequence) {
				t.Errorf("%s at %q: %v, %+v", who, epsilon, ok, a)
			}
		}
	}
	finds("ana", "", true)
	finds("ben", "", true) // who is in the dataset has what others of it paid for
	finds("nobody", "", false)
	finds("ana", "0.5", false)
	finds("ana", "0.05", true) // what is there is better
	ben := w.Dataset.Analysts["ben"]
	ben.Expires = time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC)
	w.Dataset.Analysts["ben"] = ben
	for day, want := range map[int]bool{1: true, 2: false} {
		w.SetClock(func() time.Time { return time.Date(2027, 1, day, 0, 0, 0, 0, time.UTC) })
		finds("ben", "", want)
	}
	load := func(h *hospital.Hospital) { w.Check(h.Write(filepath.Join(w.Dir, "data"))) }
	load(hospital.New(200, 1).Without(hospital.Target))
	finds("ana", "", false)
	load(hospital.New(200, 1))
	finds("ana", "", true)
	if n := w.RecordCount(); n != 2 {
		t.Errorf("there are %d charges and answers", n)
	}
}

// A policy that was changed decides anew: what it does not allow any more is not told from memory,
// and what it reads or bounds otherwise is another question.
func TestRememberedUnderAnotherPolicy(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	w.MustAsk(agesBySex)
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
		text := strings.Replace(hospital.Dataset("hospital", "data", curatortest.Plenty), c.was, c.is, 1)
		if c.was != "" && !strings.Contains(hospital.Dataset("hospital", "data", curatortest.Plenty), c.was) {
			t.Fatalf("%s: the policy has no %q", name, c.was)
		}
		path := filepath.Join(w.Dir, "changed.yaml")
		w.Check(os.WriteFile(path, []byte("datasets:\n"+text), 0o600))
		p, err := policy.Load(path)
		w.Check(err)
		e, err := duckdb.Open(ctx, p.Datasets["hospital"])
		w.Check(err)
		changed := curator.New(p.Datasets["hospital"], e, w.Ledger, curatortest.Seeded(7))
		for range 2 {
			if a, ok := changed.Remembered(ctx, api.Question{Analyst: "ana", SQL: agesBySex}); ok != c.want {
				t.Errorf("%s: %v, %+v", name, ok, a)
			}
		}
		w.Check(e.Close())
	}
}

// A text is not taken for another one with its values, whose plan is kept: a zero byte stands
// between the two where they are told apart.
func TestNoTextIsAnotherWithValues(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	const text = "SELECT COUNT(*) FROM patients WHERE age > $1"
	bound, err := syntax.Open(text, nil).Bind([]api.Parameter{{Kind: "integer", Text: "50"}})
	w.Check(err)
	timed := syntax.Open("SELECT COUNT(*) FROM visits WHERE day < CURRENT_DATE", nil).At(time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC))
	for _, one := range []*syntax.Text{bound, timed} {
		for range 2 {
			_, err = w.Ask(ctx, api.Question{Analyst: "ana", SQL: one.SQL(), Parsed: one, Request: curatortest.FreshID()})
			w.Check(err)
		}
		q := api.Question{Analyst: "ana", SQL: one.Key(), Request: curatortest.FreshID()}
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
	worlds := []*curatortest.World{curatortest.Build(t, full, hospital.Dataset("hospital", "data", curatortest.Plenty), 1),
		curatortest.Build(t, full.Without(hospital.Target), hospital.Dataset("hospital", "data", curatortest.Plenty), 1)}
	const target = "SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV' AND zip = '1003A'"
	texts := []string{target, agesBySex, "SELECT COUNT(*) FROM patients WHERE age > 50 AND zip = '1003A'", "SELECT * FROM patients",
		"SELECT COUNT(*) FROM patients WHERE age > 109"}
	calls := make([][]string, len(worlds))
	took := make([][]time.Duration, len(worlds))
	var recorders []*curatortest.Recorder
	for _, w := range worlds {
		w.MustAsk(target)
		w.MustAsk(agesBySex)
		recorders = append(recorders, w.Record())
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
			calls[i] = append(calls[i], recorders[i].Take()...)
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
	w := curatortest.New(t, curatortest.Plenty)
	before := time.Now()
	const text, total = "SELECT sex, COUNT(*) FROM patients GROUP BY sex", "SELECT COUNT(*) FROM patients WHERE sex = 'F'"
	w.MustBeCharged("ana", text, curatortest.Amount("0.5"))
	after := time.Now()
	for _, where := range []string{"here", "elsewhere"} {
		if where == "elsewhere" { // where it may have taken a while, by another clock, until it was there
			after = after.Add(2 * time.Second)
			before = before.Add(time.Second)
		}
		for _, q := range []api.Question{{SQL: text, Epsilon: curatortest.Amount("0.5")}, {SQL: text, Epsilon: curatortest.Amount("0.4")},
			{SQL: total, Epsilon: curatortest.Amount("0.4")}} {
			for _, c := range []struct {
				at   time.Time
				free bool
			}{{before, false}, {after, true}} {
				q.Analyst, q.AsOf = "ben", c.at
				e, err := w.Explain(ctx, q)
				w.Check(err)
				if free := e.Pay.Epsilon == 0; free != c.free {
					t.Errorf("%s: %s at %v as of %v: free is %v", where, q.SQL, q.Epsilon, c.at.Sub(before), free)
				}
			}
		}
		w.Reopen()
	}
}

// madeOf asks what can be made of earlier answers and checks that it is free and says so.
func madeOf(w *curatortest.World, text, epsilon string, from *api.Answer) *api.Answer {
	w.T.Helper()
	r := w.Record()
	before := w.RecordCount()
	a, err := w.AskAs("ben", text, curatortest.Amount(epsilon))
	if err != nil {
		w.T.Fatalf("%s: %v", text, err)
	}
	note := fmt.Sprintf("computed from answers that were paid for before (record %d)", from.Receipt.Sequence)
	if !a.Receipt.Free || a.Cost != (dp.Cost{}) || w.RecordCount() != before || a.Receipt.Sequence != from.Receipt.Sequence ||
		!curatortest.ContainsAll(strings.Join(a.Notes, "\n"), note) {
		w.T.Errorf("%s at %s: cost %v, receipt %+v, notes %q; want it free, from record %d", text, epsilon, a.Cost, a.Receipt, a.Notes,
			from.Receipt.Sequence)
	}
	for _, call := range r.Take() {
		if call == "run" || call == "charge" || call == "keep" {
			w.T.Errorf("%s: called %s", text, call)
		}
	}
	e, err := w.Explain(ctx, api.Question{Analyst: "ben", SQL: text, Epsilon: curatortest.Amount(epsilon)})
	w.Check(err)
	if q := e.Questions[0]; !e.Known || !q.Derived || q.Record != from.Receipt.Sequence || e.Pay != (dp.Cost{}) {
		w.T.Errorf("%s: explained as %+v", text, q)
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

// A better answer to the same question is given at a lower price, with the error bars of what was
// released.
func TestBetterAnswer(t *testing.T) {
	for _, budget := range []string{curatortest.Plenty, curatortest.Wealthy} {
		w := curatortest.New(t, budget)
		for _, text := range []string{
			"SELECT sex, COUNT(*), SUM(cost) FROM patients GROUP BY sex",
			"SELECT ward, COUNT(*), AVG(cost) FROM visits GROUP BY ward", // people have many rows
		} {
			low := w.MustBeCharged("ana", text, curatortest.Amount("0.2"))
			good := w.MustBeCharged("ana", text, curatortest.Amount("0.5"))
			a := madeOf(w, text, "0.1", good)
			if curatortest.Numbers(a) != curatortest.Numbers(good) || *a.Errors[0][1] != *good.Errors[0][1] ||
				*a.Errors[0][2] != *good.Errors[0][2] {
				t.Errorf("%s: %v with %v and %v; the better one is %v with %v and %v", text, a.Rows, *a.Errors[0][1], *a.Errors[0][2],
					good.Rows, *good.Errors[0][1], *good.Errors[0][2])
			}
			w.MustBeFree(w.Record(), "ben", strings.Replace(text, "SELECT", "SELECT ALL", 1)+" ORDER BY 1", w.MustAsk(text)) // 0.1 again
			if again, err := w.AskAs("ana", text, curatortest.Amount("0.2")); err != nil ||
				curatortest.Numbers(again) != curatortest.Numbers(low) {
				t.Errorf("what was bought is not what is given again: %v, %v", again, err)
			}
			w.MustBeCharged("ana", text, curatortest.Amount("0.6"))
		}
		// Other limits are another question.
		limits := api.Question{Analyst: "ana", SQL: "SELECT ward, COUNT(*) FROM visits GROUP BY ward", Epsilon: curatortest.Amount("0.1"),
			Settings: api.Settings{MaxGroups: 1}, Request: curatortest.FreshID()}
		if a, err := w.Ask(ctx, limits); err != nil || a.Receipt.Free {
			t.Errorf("another limit was free: %v", err)
		}
	}
}

func TestCells(t *testing.T) {
	for _, budget := range []string{curatortest.Plenty, curatortest.Wealthy} {
		w := curatortest.New(t, budget)
		groups := w.MustBeCharged("ana", "SELECT sex, smoker, COUNT(*), SUM(age) FROM patients WHERE cost > 10 GROUP BY sex, smoker",
			curatortest.Amount("1"))
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
			a := madeOf(w, c.text, "0.1", groups)
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
			w.MustBeCharged("ana", text, curatortest.Amount("0.01"))
		}
		// What is made of six noises is less exact than one of them.
		w.MustBeCharged("ana", "SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex IN ('F', 'M', 'X') AND smoker IS NOT NULL",
			curatortest.Amount("0.9"))
		// People with many rows are cut in each question differently.
		w.MustBeCharged("ana", "SELECT ward, COUNT(*) FROM visits GROUP BY ward", curatortest.Amount("1"))
		w.MustBeCharged("ana", "SELECT COUNT(*) FROM visits WHERE ward = 'surgery'", curatortest.Amount("0.01"))

		w.Reopen()
		madeOf(w, "SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex = 'M' AND smoker", "0.1", groups)
	}
}

// The best of several is taken, and none that is worse than what was asked for.
func TestBestSource(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	w.MustBeCharged("ana", "SELECT sex, COUNT(*) FROM patients GROUP BY sex", curatortest.Amount("0.1"))
	fine := w.MustBeCharged("ana", "SELECT sex, smoker, COUNT(*) FROM patients GROUP BY sex, smoker", curatortest.Amount("1"))
	best := w.MustBeCharged("ana", "SELECT sex, COUNT(*) FROM patients GROUP BY sex", curatortest.Amount("0.9"))
	madeOf(w, "SELECT COUNT(*) FROM patients WHERE sex = 'F'", "0.1", best)
	madeOf(w, "SELECT COUNT(*) FROM patients WHERE sex = 'F' AND smoker", "1", fine)
	w.MustBeCharged("ana", "SELECT COUNT(*) FROM patients WHERE sex = 'M'", curatortest.Amount("0.95"))
}

// Other data is another answer, for what is made of answers too.
func TestDerivedOfChangedData(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	const groups, one = "SELECT sex, COUNT(*) FROM patients GROUP BY sex", "SELECT COUNT(*) FROM patients WHERE sex = 'F'"
	first := w.MustBeCharged("ana", groups, curatortest.Amount("0.5"))
	madeOf(w, one, "0.5", first)
	w.Check(hospital.New(200, 1).Without(hospital.Target).Write(filepath.Join(w.Dir, "data")))
	w.MustBeCharged("ana", one, curatortest.Amount("0.1"))
	w.MustBeCharged("ana", groups, curatortest.Amount("0.1"))
	w.Check(hospital.New(200, 1).Write(filepath.Join(w.Dir, "data")))
	madeOf(w, one, "0.3", first)
}

// Whoever asks for the same number in many ways gets values that are made of what was paid for, so
// that no average of them is nearer to the truth than the best that they paid for.
func TestManyWaysOneNoise(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	groups := w.MustBeCharged("ana", "SELECT sex, COUNT(*) FROM patients GROUP BY sex", curatortest.Amount("0.5"))
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
			if a := madeOf(w, text, epsilon, groups); value(a, 0, 0) != want {
				t.Errorf("%d: %s at %s: %v; want %d", i, text, epsilon, a.Rows, want)
			}
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	w := curatortest.New(b, curatortest.Plenty)
	for i := range 300 {
		if _, err := w.AskAs("ana", fmt.Sprintf("SELECT sex, COUNT(*) FROM patients WHERE age > %d GROUP BY sex", i%100),
			curatortest.Amount("0.1")+dp.Amount(i)); err != nil {
			b.Fatal(err)
		}
	}
	version, err := w.Data.Version(ctx)
	w.Check(err)
	for _, c := range []struct{ name, text string }{
		{"new", "SELECT COUNT(*) FROM patients WHERE cost > 5 AND zip = 'a' AND NOT smoker"},
		{"cell", "SELECT COUNT(*) FROM patients WHERE sex = 'F' AND age > 7"},
	} {
		p, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: c.text, Epsilon: curatortest.Amount("0.01")})
		w.Check(err)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := answercache.New(w.Ledger).Recall(ctx, p, version.Key(), answercache.Horizon{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What was released together answers one of its sets at less accuracy, with its own error, and not
// at more; and a part that is known is not enough for the whole.
func TestCubeIsRemembered(t *testing.T) {
	w := curatortest.New(t, curatortest.Rich)
	alone := "SELECT sex, COUNT(*) FROM patients WHERE sex IN ('F', 'M', 'X') AND smoker IS NOT NULL GROUP BY sex"
	before, err := w.AskAs("ana", alone, curatortest.Amount("0.5"))
	w.Check(err)
	if before.Receipt.Free {
		t.Fatal("it was never paid for")
	}
	a := w.MustAsk(curatortest.Cubed)
	if a.Receipt.Free || a.Cost.Rho == 0 {
		t.Error("one set of eight was known, and all were free")
	}
	w.Reopen()
	totals := "SELECT smoker, COUNT(*) FROM patients WHERE sex IN ('F', 'M', 'X') AND smoker IS NOT NULL GROUP BY smoker"
	known, err := w.AskAs("ana", totals, curatortest.Amount("0.033"))
	w.Check(err)
	if !known.Receipt.Free {
		t.Error("a set of what was released together was paid for again")
	}
	for _, row := range a.Rows {
		if row[0] == nil && row[1] == true && row[2] == nil && fmt.Sprint(row[3]) != fmt.Sprint(known.Rows[1][1]) {
			t.Errorf("%v, and %v together", known.Rows[1], row)
		}
	}
	if sharper, err := w.AskAs("ana", totals, curatortest.Amount("0.9")); err != nil || sharper.Receipt.Free {
		t.Errorf("%v: more accuracy was free", err)
	}
}

// A bound on what a person adds to a sum is another question: it is told, charged for and
// remembered by itself, and never answered by one with another bound.
func TestMaxSumIsRemembered(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	ask := func(max, epsilon string) (*api.Answer, *api.Explanation) {
		t.Helper()
		q := api.Question{Analyst: "ana", SQL: "SELECT ward, SUM(cost) FROM visits GROUP BY ward", Epsilon: curatortest.Amount(epsilon),
			Request: curatortest.FreshID()}
		if max != "" {
			q.Settings.MaxSum, _ = new(big.Rat).SetString(max)
		}
		e, err := w.Explain(ctx, q)
		w.Check(err)
		a, err := w.Ask(ctx, q)
		w.Check(err)
		if a.Cost != e.Pay {
			t.Errorf("it costs %v, and %v was said", a.Cost, e.Pay)
		}
		return a, e
	}
	// Six rows of at most 2,000 in each of two wards.
	wide, e := ask("", "0.5")
	if m := e.Questions[0].Measures[0]; m.Sensitivity != 24000 || curatortest.ContainsAll(strings.Join(wide.Notes, "\n"), "max_sum") {
		t.Errorf("%+v %q", m, wide.Notes)
	}
	narrow, e := ask("300", "0.5")
	if m := e.Questions[0].Measures[0]; m.Sensitivity != 600 || !curatortest.ContainsAll(m.Why, "adds at most 300.00 to a group") ||
		narrow.Receipt.Free {
		t.Errorf("%+v", m)
	}
	if !curatortest.ContainsAll(strings.Join(narrow.Notes, "\n"), "one person adds at most 300 to a group (max_sum)") ||
		*narrow.Errors[0][1]*39 > *wide.Errors[0][1] {
		t.Errorf("%q %v %v", narrow.Notes, *narrow.Errors[0][1], *wide.Errors[0][1])
	}
	for _, max := range []string{"", "300"} {
		if again, _ := ask(max, "0.5"); !again.Receipt.Free || again.Cost != (dp.Cost{}) {
			t.Errorf("%q: asked again it is charged", max)
		}
		if less, _ := ask(max, "0.1"); !less.Receipt.Free { // the better answer is there
			t.Errorf("%q: at a lower price it is charged", max)
		}
	}
	// A narrower sum has less noise than any price of a wider one buys, and is another number.
	if other, _ := ask("301", "0.1"); other.Receipt.Free {
		t.Error("another bound was answered by this one")
	}
	if other, _ := ask("100000", "0.5"); !other.Receipt.Free || curatortest.Numbers(other) != curatortest.Numbers(wide) {
		t.Error("a bound that nobody reaches is the same question")
	}
}

// Of an answer something sharper is made once: of two servers that do so for the difference at once
// one does, and the other pays for an answer of its own, or for the difference to the first one's.
// Nobody pays for nothing.
func TestSharpenedOnServers(t *testing.T) {
	for range 4 {
		w := curatortest.New(t, curatortest.Pure)
		servers := w.Servers(2)
		const text = "SELECT COUNT(*) FROM patients"
		if _, err := w.AskAs("ana", text, curatortest.Amount("0.1")); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		failed := make([]error, 2)
		for i, c := range servers {
			all.Go(func() {
				q := api.Question{Analyst: "ana", SQL: text, Epsilon: curatortest.Amount("0.3") + dp.Amount(i),
					Request: curatortest.FreshID()}
				_, failed[i] = c.Ask(ctx, q)
			})
		}
		all.Wait()
		for _, err := range failed {
			w.Check(err)
		}
		sharpened, charges := 0, w.ChargesOf(servers[0].Ledger)
		for _, r := range charges {
			if r.Cost.Epsilon < curatortest.Amount("0.3") && r.Cost.Epsilon > curatortest.Amount("0.1") {
				sharpened++
			}
		}
		answered := 0
		for r, err := range servers[0].Ledger.Records(ctx, 0) {
			w.Check(err)
			if r.Kind == ledger.KindAnswer {
				answered++
			}
		}
		if sharpened != 1 || answered != len(charges) {
			t.Errorf("sharpened %d times; %d charges have %d answers", sharpened, len(charges), answered)
		}
		w.Leave()
	}
}
