package sessionhost_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

// When the accounts are empty a question that would have to be paid is refused as every other is,
// nothing is spent by it, and what was answered stays free.
func TestStreamAccountsEmpty(t *testing.T) {
	w := curatortest.NewStreams(t, "{epsilon: 0.113, per_query: {default: 0.1, max: 0.113}}", "")
	first := w.MustAsk("SELECT COUNT(*) FROM patients WHERE sex = 'F'")
	if len(first.Through) != 1 {
		t.Fatalf("%+v", first)
	}
	if _, err := w.AskAs("ana", "SELECT COUNT(*) FROM visits", curatortest.Amount("0.1")); err != nil {
		t.Fatal(err)
	}
	spent := w.Spent()
	for i := range 5 {
		text := fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE diagnosis = '%s' AND smoker",
			[]string{"flu", "HIV", "asthma", "diabetes", "fracture"}[i])
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text})
		w.Check(err)
		if e.Affordable {
			t.Errorf("%s is said to be affordable: %+v", text, e)
		}
		if _, err := w.AskSQL(text); !errors.As(err, new(*ledger.BudgetError)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if w.Spent() != spent {
		t.Errorf("%v was spent by refusals", w.Spent())
	}
	again := w.MustAsk("SELECT COUNT(*) FROM patients WHERE NOT (sex <> 'F')")
	if curatortest.Numbers(again) != curatortest.Numbers(first) || !again.Receipt.Free {
		t.Errorf("%+v", again)
	}
	// Asked itself, the stream says what it thinks, without a promise, or why not.
	a, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "smoker"})
	if err == nil && (a.Way != stream.Unchecked || a.Error != nil) || err != nil && !errors.As(err, new(*ledger.BudgetError)) {
		t.Errorf("%+v %v", a, err)
	}
}

// The budget that a policy gives a stream is for all versions of the data together, on budgets of
// either kind. When it is gone, SQL asks by itself.
func TestStreamBudgetOverVersions(t *testing.T) {
	for name, c := range map[string]struct{ budget, stream string }{
		"pure":         {curatortest.Plenty, "0.3"},
		"concentrated": {"{epsilon: 10, delta: 1e-6, per_query: {default: 0.1, max: 1}}", "0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := curatortest.NewStreams(t, c.budget, "        budget: "+c.stream+"\n")
			quota, _ := w.Dataset.StreamQuota("people")
			var spent dp.Cost
			refused := 0
			for version := range 4 {
				w.WriteData(hospital.New(200, uint64(10+version)))
				for _, a := range []string{"flu", "HIV", "asthma", "diabetes", "fracture"} {
					for _, b := range []string{"sex = 'F'", "sex = 'M'", "smoker", "NOT smoker"} {
						before := w.Spent()
						_, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: fmt.Sprintf("diagnosis = '%s' AND %s", a, b)})
						if errors.As(err, new(*api.Refusal)) {
							refused++
						} else {
							w.Check(err)
						}
						now := w.Spent()
						spent = spent.Add(dp.Cost{Epsilon: now.Epsilon.Sub(before.Epsilon), Rho: now.Rho.Sub(before.Rho)})
					}
				}
			}
			if limit := quota.Limit(); !spent.Fits(limit) {
				t.Errorf("the stream was charged %v of %v", spent, limit)
			}
			if refused == 0 {
				t.Errorf("nothing was refused, and %v of %v was charged", spent, quota.Limit())
			}
			a := w.MustAsk("SELECT COUNT(*) FROM patients WHERE diagnosis = 'flu' AND sex = 'F' AND smoker")
			if len(a.Through) != 0 || a.Receipt.Free {
				t.Errorf("asked through the stream: %+v", a)
			}
		})
	}
}

// Many who ask the same at once pay once, and all get the same number; the sum of what answers cost
// is what was charged.
func TestStreamConcurrently(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "")
	conditions := []string{"sex = 'F'", "smoker", "sex = 'M' AND smoker", "diagnosis = 'flu'"}
	var mu sync.Mutex
	values, sum := map[string]int64{}, dp.Amount(0)
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			text := conditions[i%len(conditions)]
			var got int64
			var cost dp.Cost
			if i%3 == 0 {
				a, err := w.AskSQL("SELECT COUNT(*) FROM patients WHERE " + text)
				if err != nil {
					t.Error(err)
					return
				}
				got, cost = number64(t, a.Rows[0][0]), a.Cost
			} else {
				a, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: []string{"ana", "ben"}[i%2], SQL: text})
				if err != nil {
					t.Error(err)
					return
				}
				got, cost = a.Value, a.Cost
			}
			mu.Lock()
			defer mu.Unlock()
			if v, ok := values[text]; ok && v != got {
				t.Errorf("%s: %d and %d", text, v, got)
			}
			values[text] = got
			sum += cost.Epsilon
		})
	}
	all.Wait()
	if got := w.Spent().Epsilon; got != sum {
		t.Errorf("%v was charged, and answers cost %v", got, sum)
	}
}

// Other data has a stream of its own, and data that is again what it was the one that it had.
func TestStreamVersions(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "")
	path := filepath.Join(w.Dir, "data", "patients.csv")
	first, err := os.ReadFile(path)
	w.Check(err)
	lines := strings.SplitAfter(string(first), "\n")
	q := api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"}
	put := func(text string) {
		t.Helper()
		w.Check(os.WriteFile(path, []byte(text), 0o600))
		w.Data.Close()
		w.Data, err = duckdb.Open(ctx, w.Dataset)
		w.Check(err)
		w.Wire.Engine = w.Data
	}
	var values []string
	for i, text := range []string{string(first), strings.Join(lines[:len(lines)/2], ""), string(first),
		strings.Join(lines[:len(lines)/2], "")} {
		put(text)
		a, err := w.Streams.Ask(ctx, q)
		w.Check(err)
		values = append(values, fmt.Sprint(a.Value, " ", a.Version.Number))
		if a.Free != (i >= 2) {
			t.Errorf("%d: %+v", i, a)
		}
	}
	if values[0] != values[2] || values[1] != values[3] || values[0] == values[1] {
		t.Errorf("%v", values)
	}
}
