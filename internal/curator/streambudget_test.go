package curator

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
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/ledger"
)

// When the accounts are empty a question that would have to be paid is refused as every other is,
// nothing is spent by it, and what was answered stays free.
func TestStreamAccountsEmpty(t *testing.T) {
	w := streamWorld(t, "{epsilon: 0.113, per_query: {default: 0.1, max: 0.113}}", "")
	first := w.mustAsk("SELECT COUNT(*) FROM patients WHERE sex = 'F'")
	if len(first.Through) != 1 {
		t.Fatalf("%+v", first)
	}
	if _, err := w.askAs("ana", "SELECT COUNT(*) FROM visits", amount("0.1")); err != nil {
		t.Fatal(err)
	}
	spent := w.spent()
	for i := range 5 {
		text := fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE diagnosis = '%s' AND smoker",
			[]string{"flu", "HIV", "asthma", "diabetes", "fracture"}[i])
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text})
		w.check(err)
		if e.Affordable {
			t.Errorf("%s is said to be affordable: %+v", text, e)
		}
		if _, err := w.ask(text); !errors.As(err, new(*ledger.BudgetError)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if w.spent() != spent {
		t.Errorf("%v was spent by refusals", w.spent())
	}
	if again := w.mustAsk("SELECT COUNT(*) FROM patients WHERE NOT (sex <> 'F')"); numbers(again) != numbers(first) || !again.Receipt.Free {
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
		"pure":         {plenty, "0.3"},
		"concentrated": {"{epsilon: 10, delta: 1e-6, per_query: {default: 0.1, max: 1}}", "0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := streamWorld(t, c.budget, "        budget: "+c.stream+"\n")
			quota, _ := w.dataset.StreamQuota("people")
			var spent dp.Cost
			refused := 0
			for version := range 4 {
				w.write(hospital.New(200, uint64(10+version)))
				for _, a := range []string{"flu", "HIV", "asthma", "diabetes", "fracture"} {
					for _, b := range []string{"sex = 'F'", "sex = 'M'", "smoker", "NOT smoker"} {
						before := w.spent()
						_, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: fmt.Sprintf("diagnosis = '%s' AND %s", a, b)})
						if errors.As(err, new(*api.Refusal)) {
							refused++
						} else {
							w.check(err)
						}
						now := w.spent()
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
			a := w.mustAsk("SELECT COUNT(*) FROM patients WHERE diagnosis = 'flu' AND sex = 'F' AND smoker")
			if len(a.Through) != 0 || a.Receipt.Free {
				t.Errorf("asked through the stream: %+v", a)
			}
		})
	}
}

// Many who ask the same at once pay once, and all get the same number; the sum of what answers cost
// is what was charged.
func TestStreamConcurrently(t *testing.T) {
	w := streamWorld(t, plenty, "")
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
				a, err := w.ask("SELECT COUNT(*) FROM patients WHERE " + text)
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
	if got := w.spent().Epsilon; got != sum {
		t.Errorf("%v was charged, and answers cost %v", got, sum)
	}
}

// Other data has a stream of its own, and data that is again what it was the one that it had.
func TestStreamVersions(t *testing.T) {
	w := streamWorld(t, plenty, "")
	path := filepath.Join(w.dir, "data", "patients.csv")
	first, err := os.ReadFile(path)
	w.check(err)
	lines := strings.SplitAfter(string(first), "\n")
	q := api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"}
	put := func(text string) {
		t.Helper()
		w.check(os.WriteFile(path, []byte(text), 0o600))
		w.data.Close()
		w.data, err = duckdb.Open(ctx, w.dataset)
		w.check(err)
		w.wire.Engine = w.data
	}
	var values []string
	for i, text := range []string{string(first), strings.Join(lines[:len(lines)/2], ""), string(first),
		strings.Join(lines[:len(lines)/2], "")} {
		put(text)
		a, err := w.Streams.Ask(ctx, q)
		w.check(err)
		values = append(values, fmt.Sprint(a.Value, " ", a.Version.Number))
		if a.Free != (i >= 2) {
			t.Errorf("%d: %+v", i, a)
		}
	}
	if values[0] != values[2] || values[1] != values[3] || values[0] == values[1] {
		t.Errorf("%v", values)
	}
}

// Questions to a stream, those that the target is in last: up to the first number that differs
// everything else has to be the same.
var streamQuestions = []string{
	"SELECT COUNT(*) FROM patients WHERE sex = 'F' AND diagnosis = 'flu'",
	"SELECT COUNT(*) FROM patients WHERE diagnosis = 'asthma' AND NOT smoker",
	"SELECT AVG(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) FROM patients WHERE diagnosis = 'fracture'",
	"SELECT smoker, COUNT(*) FROM patients WHERE diagnosis = 'diabetes' GROUP BY smoker",
	"SELECT 100.0 * COUNT(*) FILTER (WHERE smoker) / COUNT(*) FROM patients WHERE diagnosis IN ('flu', 'asthma')",
	"SELECT sex FROM patients WHERE diagnosis = 'hypertension' GROUP BY sex HAVING COUNT(*) > 3 ORDER BY COUNT(*)",
	"SELECT COUNT(*) FROM patients WHERE diagnosis = 'flu' AND age < 37",
	"SELECT COUNT(*) FROM patients WHERE diagnosis = 'flu' AND age < 36",
	"SELECT COUNT(*) FROM patients WHERE sex IS NULL AND diagnosis = 'flu'",
	"SELECT COUNT(*) FROM patients WHERE sex NOT IN ('F', 'M', 'X') AND diagnosis = 'flu'",
	"SELECT n * 2 FROM (SELECT COUNT(*) AS n FROM patients WHERE diagnosis = 'fracture' AND smoker) t",
	"SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV'",
	"SELECT sex, COUNT(*) FROM patients GROUP BY sex",
	"SELECT COUNT(*) FROM patients",
}

// streamTranscript is what came of a question, without its numbers, and its numbers.
func streamTranscript(w *world, r *recorder, text string) (shape, values string, calls []mech.Call) {
	r.charges = nil
	r.take()
	w.noise.Record(func(c mech.Call) { calls = append(calls, c) })
	defer w.noise.Record(nil)
	a, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: text, Settings: api.Settings{Stream: "on"}})
	if err != nil {
		return err.Error(), "", calls
	}
	shape = fmt.Sprint(len(a.Rows), a.Columns, a.Notes, a.Cost, a.Remaining, a.Through, r.take())
	for _, c := range r.charges {
		shape += fmt.Sprint(c.Analyst, c.Cost, c.Mechanisms) // its names follow from those of the data too
	}
	return shape, numbers(a), calls
}

// judgeStream asks two neighbouring worlds the same, with the same randomness. Until a number
// differs, which is what its noise is for, everything is the same: what is charged, what is run, in
// which order, what is said. The exact values that mechanisms see are never further apart than
// their noise is for. It returns how many questions it compared.
func judgeStream(p pair) (int, error) {
	for i, text := range streamQuestions {
		x, xs, xc := streamTranscript(p.a, p.ra, text)
		y, ys, yc := streamTranscript(p.b, p.rb, text)
		if len(xc) != len(yc) {
			return i, fmt.Errorf("%s: %d draws against %d", text, len(xc), len(yc))
		}
		for k := range xc {
			a, b := xc[k], yc[k]
			if a.Mechanism != b.Mechanism || a.Parameter.Cmp(b.Parameter) != 0 || a.Sensitivity.String() != b.Sensitivity.String() ||
				a.Values.Len() != b.Values.Len() {
				return i, fmt.Errorf("%s: draw %d is %v against %v", text, k, a, b)
			}
			var moved, squares int64
			for j := range a.Values.Len() {
				d := a.Values.Open()[j] - b.Values.Open()[j]
				moved += max(d, -d)
				squares += d * d
			}
			most := squares
			if a.Sensitivity.Norm() == dp.L1 {
				most, squares = a.Sensitivity.L1().Int64(), moved
			} else {
				most = a.Sensitivity.L2Squared().Int64()
			}
			if squares > most {
				return i, fmt.Errorf("%s: draw %d is moved by %d, and its noise is for %v", text, k, squares, a.Sensitivity)
			}
		}
		if x != y {
			return i, fmt.Errorf("%s:\n%s\nagainst\n%s", text, x, y)
		}
		if xs != ys {
			return i + 1, nil
		}
	}
	return len(streamQuestions), nil
}

func TestStreamNeighbours(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing of it runs at once")
	}
	calm, wild := hospital.New(120, 1), restless(120, 1)
	pure, gaussian := streaming(hospital.Dataset("hospital", "data", plenty), crowd, "        alpha: 0.05\n"),
		streaming(hospital.Dataset("hospital", "data", rich), crowd, "        alpha: 0.05\n")
	for _, c := range []struct {
		name    string
		dataset string
		x, y    *hospital.Hospital
	}{
		{"laplace", pure, calm, calm.Without(hospital.Target)},
		{"gaussian", gaussian, calm, calm.Without(hospital.Target)},
		{"restless", pure, wild, wild.Without(hospital.Target)},
		{"substitute", substitute(pure), wild, calm},
		{"substitute gaussian", substitute(gaussian), wild, calm},
		{"rows", streaming(rowDataset(plenty), crowd, "        alpha: 0.05\n"), wild, wild.Without(hospital.Target)},
	} {
		n, err := judgeStream(newPair(t, c.dataset, c.x, c.y))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		t.Logf("%s: %d questions", c.name, n)
		if n < 4 {
			t.Errorf("%s: only %d questions were compared", c.name, n)
		}
	}
}
