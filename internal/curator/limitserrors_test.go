package curator_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/profile"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

func crowded(t *testing.T, people int, seed byte) *curatortest.World {
	t.Helper()
	text := strings.NewReplacer("max_rows: 6", "max_rows: 500", "max_groups: 2", "max_groups: 5").
		Replace(hospital.Dataset("hospital", "data", curatortest.Plenty))
	return curatortest.Build(t, hospital.New(people, 1), text, seed)
}

func choosing(sql, epsilon string) api.Question {
	return api.Question{Analyst: "ana", SQL: sql, Epsilon: curatortest.Amount(epsilon), Settings: automatic}
}

// With one group for each person, the count that limits are chosen from is not a profile of
// what is in a group: the rows that max_groups cuts are not in it.
func TestWholeOfOneGroup(t *testing.T) {
	truth := map[string]float64{}
	for _, v := range hospital.New(2000, 1).Visits {
		truth[v.Ward]++
	}
	w := crowded(t, 2000, 1)
	q := choosing("SELECT ward, COUNT(*) FROM visits GROUP BY ward", "0.5")
	q.Settings.MaxGroups = 1 // or max_groups: 1 in the policy
	_, a := askChoosing(t, w, q)
	for i, row := range a.Rows {
		if a.Whole == nil || a.Whole[i][1] == nil {
			continue
		}
		if r, n := a.Whole[i][1], truth[row[0].(string)]; n < r.Low || n > r.High {
			t.Errorf("%v: %v rows are not in %.0f to %.0f; %+v %q", row[0], n, r.Low, r.High, a.Counted, a.Notes)
		}
	}
}

// A sum that max_sum cuts is not one of which all rows count.
func TestSumThatIsCut(t *testing.T) {
	w := crowded(t, 200, 1)
	if _, err := w.AskAs("ana", profile.Question(w.Dataset.Tables["visits"]), curatortest.Amount("1")); err != nil {
		t.Fatal(err)
	}
	_, a := askChoosing(t, w, choosing("SELECT SUM(cost) FROM visits", "0.08"))
	notes := strings.Join(a.Notes, "\n")
	if strings.Contains(notes, "all rows count") || !strings.Contains(notes, "could be told from the noise") {
		t.Errorf("the sum is 316349; answered %v ± %v, counted %+v:\n%s", a.Rows[0][0], *a.Errors[0][0], a.Counted, notes)
	}
}

// What max_sum cuts, a count of rows does not tell: there is no interval of it.
func TestRowsTellNoSums(t *testing.T) {
	w := crowded(t, 200, 1)
	q := choosing("SELECT SUM(cost), COUNT(*), ward FROM visits GROUP BY ward", "1")
	q.Settings.MaxSum = big.NewRat(20, 1)
	_, a := askChoosing(t, w, q)
	for i := range a.Rows {
		if a.Whole == nil || a.Whole[i][0] != nil || a.Whole[i][1] == nil {
			t.Errorf("%v: %+v, %q", a.Rows[i], a.Whole, a.Notes)
		}
	}
}

// askTogether asks as a database does: the count that limits are chosen from, then the question.
func askTogether(w *curatortest.World, q api.Question) (*api.Answer, error) {
	ctx := w.T.Context()
	before, then, err := w.First(ctx, q)
	if err != nil {
		return nil, err
	}
	if before != nil {
		if then.Count, err = w.Ask(ctx, *before); err != nil {
			return nil, err
		}
	}
	return w.Ask(ctx, then)
}

// What was paid for and stopped is not paid for again under the same name, wherever it was stopped,
// and both questions together cost what was offered.
func TestStoppedLimits(t *testing.T) {
	for _, at := range []string{"in the count", "between", "in the question"} {
		w := crowded(t, 2000, 1)
		q := choosing("SELECT COUNT(*) FROM visits", "0.5")
		q.Request = "ana:monday"
		before, then, err := w.First(t.Context(), q)
		w.Check(err)
		ctx, cancel := context.WithCancel(t.Context())
		hangUp := func() { w.Rewire(&curatortest.HangingUpEngine{Engine: w.Data, Cancel: cancel}, w.Ledger) }
		if at == "in the count" {
			hangUp()
		}
		then.Count, err = w.Ask(ctx, *before)
		if at == "in the question" {
			hangUp()
			_, err = w.Ask(ctx, then)
		}
		if (err == nil) != (at == "between") {
			t.Fatal(at, err)
		}
		cancel()
		w.Rewire(w.Data, w.Ledger)
		a, err := askTogether(w, q)
		if err != nil || a.Receipt.Sequence == 0 {
			t.Errorf("stopped %s: %v", at, err)
		}
		if spent := w.Spent().Epsilon; spent > q.Epsilon {
			t.Errorf("stopped %s: epsilon %v was offered, and %v was paid", at, q.Epsilon, spent)
		}
		w.Leave()
	}
}

// A larger price buys a more exact answer, or says that it does not.
func TestDoublePrice(t *testing.T) {
	w := crowded(t, 2000, 1)
	askChoosing(t, w, choosing("SELECT AVG(cost) FROM visits", "0.5"))
	errorAt := func(price string) float64 {
		_, a := askChoosing(t, w, choosing("SELECT COUNT(*) FROM visits", price))
		return *a.Errors[0][0]
	}
	one, two := errorAt("0.1"), errorAt("0.2")
	if two > one*0.7 {
		t.Errorf("±%v at epsilon 0.1 and ±%v at 0.2", one, two)
	}
	errorAt("0.4")
	if one, two := errorAt("0.1"), errorAt("0.2"); two > one {
		t.Errorf("±%v at epsilon 0.1 and ±%v at 0.2, once 0.4 was paid", one, two)
	}
}

// What was paid for is free when it is asked again, until the data changes: also where somebody
// else has counted more exactly since.
func TestSharperCount(t *testing.T) {
	w := crowded(t, 60, 1)
	q := choosing("SELECT COUNT(*) FROM visits", "0.1")
	askChoosing(t, w, q)
	if _, err := w.AskAs("ben", profile.Question(w.Dataset.Tables["visits"]), curatortest.Amount("1")); err != nil {
		t.Fatal(err)
	}
	if _, a := askChoosing(t, w, q); !a.Receipt.Free {
		t.Errorf("asked again it cost %v: %q", a.Cost.Epsilon, a.Notes)
	}
}

// Data that changes between the two questions takes the price and gives nothing, again and again.
func TestDataThatChanges(t *testing.T) {
	w := crowded(t, 200, 1)
	q := choosing("SELECT COUNT(*) FROM visits", "0.5")
	for i := range 4 {
		before, then, err := w.First(t.Context(), q)
		w.Check(err)
		if before != nil {
			before.Request = curatortest.FreshID()
			then.Count, err = w.Ask(t.Context(), *before)
			w.Check(err)
		}
		w.WriteData(hospital.New(201+i, 1))
		then.Request = curatortest.FreshID()
		if _, err = w.Ask(t.Context(), then); err == nil {
			return
		}
	}
	t.Errorf("no answer, and %v spent", w.Spent())
}

// A count that another server, or the process before, has kept less than two seconds ago is
// there for a question and not for its price.
func TestCountOfAnotherServer(t *testing.T) {
	w := crowded(t, 200, 1)
	q := choosing("SELECT COUNT(*) FROM visits", "0.5")
	askChoosing(t, w, q)
	w.Reopen()
	tick := func() time.Time { return time.Now().Truncate(100 * time.Millisecond) } // as a dispatcher does
	q.AsOf = tick()
	before, then, err := w.First(t.Context(), q)
	w.Check(err)
	if before != nil {
		before.AsOf, before.Request = tick(), curatortest.FreshID()
		then.Count, err = w.Ask(t.Context(), *before)
		w.Check(err)
	}
	time.Sleep(150 * time.Millisecond)
	then.AsOf, then.Request = tick(), curatortest.FreshID()
	if _, err := w.Ask(t.Context(), then); err != nil {
		t.Errorf("with the count in hand: %v", err)
	}
}

// What cannot be asked with auto tells to set numbers; where sums cannot be counted, rows can.
func TestRefusedLimits(t *testing.T) {
	w := crowded(t, 200, 1)
	for sql, can := range map[string]bool{
		"SELECT SUM(cost / 100) FROM visits":                                                            true,
		"SELECT SUM(CAST(round(cost, 0) AS double precision)) FROM visits":                              true,
		"WITH dp_inner AS (SELECT * FROM visits), b AS (SELECT * FROM dp_inner) SELECT COUNT(*) FROM b": true,
		"SELECT ward, smoker, COUNT(*) FROM visits JOIN patients USING (pid) GROUP BY (ward, smoker)":   false,
		"SELECT ward, COUNT(*) FROM visits GROUP BY GROUPING SETS ((ward))":                             false,
		"SELECT * FROM (SELECT COUNT(*) FROM visits) AS x":                                              false,
		"SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward) FROM visits GROUP BY ward":                     false,
	} {
		plain := choosing(sql, "0.5")
		plain.Settings = api.Settings{}
		if _, err := w.Explain(t.Context(), plain); err != nil {
			t.Fatal(sql, err)
		}
		before, _, err := w.First(t.Context(), choosing(sql, "0.5"))
		if err == nil && before != nil {
			before.Request = curatortest.FreshID()
			_, err = w.Ask(t.Context(), *before)
		}
		var r *api.Refusal
		if !can && errors.As(err, &r) && strings.Contains(r.Instead, "set dp.max_rows and dp.max_groups to numbers") {
			continue
		}
		if !can || err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// What the policy's own limit, or a named one, cuts does not count either.
func TestShareOfLargestLimit(t *testing.T) {
	h := hospital.New(2000, 1)
	text := strings.NewReplacer("max_rows: 6", "max_rows: 1", "max_groups: 2", "max_groups: 5").
		Replace(hospital.Dataset("hospital", "data", curatortest.Plenty))
	w := curatortest.Build(t, h, text, 1)
	sql := "SELECT ward, COUNT(*) FROM visits JOIN patients USING (pid) GROUP BY ward"
	_, a := askChoosing(t, w, choosing(sql, "0.5"))
	counted := 0.0
	for _, row := range a.Rows {
		n, _ := row[1].(json.Number).Float64()
		counted += n
	}
	share := counted / float64(len(h.Visits))
	if notes := strings.Join(a.Notes, "\n"); share < 0.7 && strings.Contains(notes, "about 100 % of the rows count") {
		t.Errorf("%.0f %% of the rows count: %s", 100*share, notes)
	}
}

// An average of people who are cut is that of all of their rows, with the weight of those that
// count, whether a sum is asked beside it or not; and the answer says so. Once a person's sum and
// their count were clamped each by itself, and averages slid to an end of the bounds.
func TestCutAverages(t *testing.T) {
	const people = 2000
	w := crowded(t, people, 1)
	sums, rows := make([]float64, people), make([]float64, people)
	for _, v := range hospital.New(people, 1).Visits {
		p := v.Patient % people
		sums[p], rows[p] = sums[p]+float64(v.Cents)/100, rows[p]+1
	}
	mean, squares, n := 0.0, 0.0, 0.0
	for p := range people {
		if rows[p] > 0 {
			mean, squares, n = mean+sums[p]/rows[p], squares+sums[p]*sums[p]/rows[p]/rows[p], n+1
		}
	}
	mean /= n
	for _, sql := range []string{"SELECT AVG(cost) FROM visits", "SELECT AVG(cost), SUM(cost), COUNT(*) FROM visits",
		"SELECT AVG(cost) FILTER (WHERE day IS NOT NULL), SUM(cost) FROM visits"} {
		q := api.Question{Analyst: "ana", SQL: sql, Epsilon: curatortest.Amount("1"), Request: curatortest.FreshID(),
			Settings: api.Settings{MaxRows: 1}}
		a, err := w.Ask(t.Context(), q)
		w.Check(err)
		got, err := a.Rows[0][0].(json.Number).Float64()
		w.Check(err)
		if math.Abs(got-mean) > 2**a.Errors[0][0] {
			t.Errorf("%s: %.2f ± %.2f, and people have a mean of %.2f", sql, got, *a.Errors[0][0], mean)
		}
		if !strings.Contains(strings.Join(a.Notes, "\n"), "weigh as if they had no more") {
			t.Errorf("%s: %q", sql, a.Notes)
		}
	}
	for _, sql := range []string{"SELECT AVG(age) FROM patients", "SELECT COUNT(*), SUM(cost) FROM visits"} {
		a, err := w.AskAs("ana", sql, curatortest.Amount("0.5"))
		w.Check(err)
		if strings.Contains(strings.Join(a.Notes, "\n"), "weigh") {
			t.Errorf("%s: %q", sql, a.Notes)
		}
	}
}

// The sum that is counted is the one that is asked for, and not one inside of it.
func TestSumInside(t *testing.T) {
	h := hospital.New(2000, 1)
	w := crowded(t, 2000, 1)
	costs, truth := map[int]float64{}, 0.0
	for _, p := range h.Patients {
		costs[p.ID] = float64(p.Cents) / 100
	}
	for _, v := range h.Visits {
		truth += costs[v.Patient]
	}
	sql := "SELECT SUM((SELECT SUM(cost) FROM patients AS o WHERE o.pid = visits.pid)) FROM visits"
	_, a := askChoosing(t, w, choosing(sql, "1"))
	got, _ := a.Rows[0][0].(json.Number).Float64()
	if got < 0.8*truth && strings.Contains(strings.Join(a.Notes, "\n"), "about 100 %") {
		t.Errorf("answered %v ± %v, and it is %.0f: %q", got, *a.Errors[0][0], truth, a.Notes)
	}
}

// What somebody has counted for next to nothing does not decide the limits of those who pay
// a hundred times as much.
func TestCheapCount(t *testing.T) {
	for _, sql := range []string{"SELECT COUNT(*) FROM visits WHERE cost > 10", "SELECT SUM(cost) FROM visits WHERE cost > 10"} {
		w := crowded(t, 2000, 1)
		cheap := choosing(sql, "0.02")
		cheap.Analyst, cheap.Epsilon = "ben", 2*w.Dataset.Budget.MinEpsilon
		askChoosing(t, w, cheap)
		_, poisoned := askChoosing(t, w, choosing(sql, "1"))
		w.Leave()
		w = crowded(t, 2000, 1)
		_, clean := askChoosing(t, w, choosing(sql, "1"))
		number := func(a *api.Answer) float64 {
			n, err := a.Rows[0][0].(json.Number).Float64()
			w.Check(err)
			return n
		}
		if x, y := number(poisoned), number(clean); x < y/2 || x > y*2 {
			t.Errorf("%s: paid %v for %v ± %v, and %v for %v ± %v without the cheap one: %q", sql, poisoned.Cost.Epsilon, x,
				*poisoned.Errors[0][0], clean.Cost.Epsilon, y, *clean.Errors[0][0], poisoned.Notes)
		}
		w.Leave()
	}
}
