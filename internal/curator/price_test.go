package curator

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/ledger"
)

// With dp.error every error bar is as small as was asked for. That the price is the smallest that
// does it is a test of package pricing.
func TestErrorIsWithin(t *testing.T) {
	for _, budget := range []string{plenty, rich} {
		w := newWorld(t, budget)
		for _, c := range []struct {
			sql, want string
			s         api.Settings
		}{
			{"SELECT COUNT(*) FROM patients", "20", api.Settings{}},
			{"SELECT COUNT(*) FROM patients", "20", api.Settings{Confidence: 0.5}},
			{"SELECT COUNT(*) FROM patients", "20", api.Settings{Confidence: 0.9999}},
			{"SELECT sex, COUNT(*), SUM(age) FROM patients GROUP BY sex", "1000.5", api.Settings{}},
			{"SELECT SUM(cost) FROM patients", "99999.999", api.Settings{}},
			{"SELECT ward, COUNT(*) FROM visits GROUP BY ward", "150", api.Settings{}},
			{"SELECT ward, COUNT(*) FROM visits GROUP BY ward", "150", api.Settings{Mechanism: "laplace"}},
			{"SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM visits", "60", api.Settings{}},
		} {
			c.s.Error, _ = new(big.Rat).SetString(c.want)
			target, _ := c.s.Error.Float64()
			a, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: c.sql, Settings: c.s, Request: freshID()})
			w.check(err)
			for _, row := range a.Errors {
				for _, e := range row {
					if e != nil && *e > target {
						t.Errorf("%s: the answer has an error of %v", c.sql, *e)
					}
				}
			}
		}
	}
}

func TestErrorIsRefused(t *testing.T) {
	w := newWorld(t, plenty)
	ask := func(sql, target string) error {
		e, _ := new(big.Rat).SetString(target)
		_, err := price(w, api.Question{Analyst: "ana", SQL: sql, Settings: api.Settings{Error: e}})
		return err
	}
	for _, sql := range []string{
		"SELECT AVG(age) FROM patients", "SELECT STDDEV(age) FROM patients", "SELECT MEDIAN(age) FROM patients",
		"SELECT COUNT(*), MAX(age) FROM patients", "SELECT SUM(age) / COUNT(*) FROM patients",
		"SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) DESC LIMIT 1",
	} {
		if err := ask(sql, "1000000"); err == nil || !contains(err.Error(), "dp.error cannot be used") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	// What is said to be possible is.
	for _, c := range [][2]string{{"SELECT COUNT(*) FROM patients", "1"}, {"SELECT COUNT(*) FROM patients", "0.5"},
		{"SELECT COUNT(*), SUM(cost), SUM(age) FROM patients", "20"}} {
		err := ask(c[0], c[1])
		if err == nil {
			t.Errorf("%v was promised", c)
			continue
		}
		found := regexp.MustCompile(`an error of ([0-9.e+]+) can be had`).FindStringSubmatch(err.Error())
		if found == nil || ask(c[0], found[1]) != nil {
			t.Errorf("%v: %v; and then %v", c, err, found)
		}
	}
}

// Every interval covers the truth as often as it says, at several confidences: counts and sums as
// nearly as whole numbers can, and what is made of them at least.
func TestIntervalsCover(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	const n = 1500
	for _, budget := range []string{plenty, rich} {
		for _, confidence := range []float64{0.5, 0.8, 0.99} {
			w := newWorld(t, budget)
			p, err := price(w, api.Question{Analyst: "ana", Epsilon: dp.One, Settings: api.Settings{Confidence: confidence},
				SQL: "SELECT COUNT(*), SUM(age), AVG(age), SUM(age) - 50 * COUNT(*), 100 * SUM(age) / COUNT(*), VARIANCE(age), " +
					"STDDEV_POP(age) FROM patients"})
			w.check(err)
			exactly, err := w.data.Run(ctx, query(p))
			w.check(err)
			// The exact values, by way of the same finish without noise: the measures themselves
			// are checked elsewhere.
			var clean [][]int64
			for _, m := range exactly.Measures {
				clean = append(clean, m.Open())
			}
			truth := made(t, p, clean)
			hits := make([]float64, len(truth.Columns))
			for range n {
				a := w.release(p, p, exactly)
				for j := range hits {
					if a.Errors[0][j] == nil {
						hits[j]++ // nothing is said, so nothing is wrong
						continue
					}
					if math.Abs(asFloat(a.Rows[0][j])-asFloat(truth.Rows[0][j])) <= *a.Errors[0][j]*(1+1e-9) {
						hits[j]++
					}
				}
			}
			slack := 4 * math.Sqrt(confidence*(1-confidence)/n)
			for j, c := range truth.Columns {
				if got := hits[j] / n; got < confidence-slack || !c.Approximate && got > confidence+slack+0.12 {
					t.Errorf("%s at %v: %s is covered in %.4f of the releases", budget, confidence, c.Name, got)
				}
			}
			t.Logf("%s at %v: %.0f of %d", budget, confidence, hits, n)
		}
	}
}

func asFloat(v any) float64 {
	f, err := v.(interface{ Float64() (float64, error) }).Float64()
	if err != nil {
		panic(err)
	}
	return f
}

var leastAdvised = regexp.MustCompile(`at least ([0-9.e-]+)$`)

// Nobody fills the ledger for next to nothing: a question at less than the least is refused before
// anything is charged, what the refusal says to write is enough, and hardly less is.
func TestLeastPrice(t *testing.T) {
	four := strings.Join([]string{byAge(1), byAge(2), byAge(3), byAge(4)}, " UNION ALL ")
	for _, budget := range []string{pure, concentrated, plenty, rich, "{epsilon: 1, per_query: {min: 0.05, default: 0.1}}",
		"{epsilon: 1, delta: 1e-6, per_query: {min: 0.1, default: 0.1}}", "{epsilon: 1, per_query: {min: 0.1, max: 0.1}}"} {
		w := newWorld(t, budget)
		records := w.records()
		for _, sql := range []string{byAge(1), four, "SELECT COUNT(*), SUM(age) FROM patients"} {
			_, err := w.askAs("ana", sql, amount("1e-9"))
			found := leastAdvised.FindStringSubmatch(plainly(err))
			if found == nil {
				t.Errorf("%s: %.60s: %v", budget, sql, err)
				continue
			}
			if w.records() != records {
				t.Errorf("%s: %.60s: something was charged", budget, sql)
			}
			if _, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: sql, Epsilon: amount("1e-9")}); err == nil {
				t.Errorf("%s: %.60s: it was explained", budget, sql)
			}
			if _, err := price(w, api.Question{Analyst: "ana", SQL: sql, Epsilon: amount(found[1])}); err != nil {
				t.Errorf("%s: %.60s: advised %s, and then: %v", budget, sql, found[1], err)
			}
			less := amount(found[1])
			less -= less>>20 + 3
			if _, err := price(w, api.Question{Analyst: "ana", SQL: sql, Epsilon: less}); err == nil {
				t.Errorf("%s: %.60s: less than %s is enough", budget, sql, found[1])
			}
			if _, err := price(w, api.Question{Analyst: "ana", SQL: sql}); err != nil {
				t.Errorf("%s: %.60s: the default is too little: %v", budget, sql, err)
			}
		}
	}
}

// A statement whose parts but one are paid for does not get that one for a part of the least price.
func TestLeastPriceOfParts(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	for _, budget := range []string{pure, concentrated} {
		w := newWorld(t, budget)
		least := pricing.Currency{Pure: w.dataset.Budget.Pure()}.Amount(w.dataset.Budget.MinEpsilon)
		sql := byAge(1)
		for i := 2; i <= 16; i++ {
			sql += " UNION ALL " + byAge(i)
			_, err := w.askAs("ana", sql, w.dataset.Budget.MinEpsilon)
			found := leastAdvised.FindStringSubmatch(plainly(err))
			if found == nil {
				t.Fatalf("%s: %d questions: %v", budget, i, err)
			}
			a, err := w.askAs("ana", sql, amount(found[1]))
			w.check(err)
			paid := a.Cost.Rho
			if w.dataset.Budget.Pure() {
				paid = a.Cost.Epsilon
			}
			if paid < least-least/1000-10 {
				t.Errorf("%s: %d questions: %d units were paid for what is new, and %d are the least", budget, i, paid, least)
			}
		}
	}
}

// dp.error at less than the least price pays that, and is more exact.
func TestLeastPriceOfAnError(t *testing.T) {
	for _, budget := range []string{pure, concentrated, plenty, rich} {
		w := newWorld(t, budget)
		for _, sql := range []string{"SELECT COUNT(*), SUM(age) FROM patients", byAge(1) + " UNION ALL " + byAge(2),
			"SELECT sex, COUNT(*) FROM patients GROUP BY sex"} {
			q := api.Question{Analyst: "ana", SQL: sql, Settings: api.Settings{Error: big.NewRat(1e15, 1)}, Request: freshID()}
			e, err := w.Explain(ctx, q)
			w.check(err)
			if !strings.Contains(e.Split, "more exact") {
				t.Errorf("%s", e.Split)
			}
			_, err = w.Ask(ctx, q)
			w.check(err)
		}
	}
}

// A sparse session has the same least price.
func TestLeastPriceOfASession(t *testing.T) {
	for _, budget := range []string{pure, concentrated} {
		w := newWorld(t, budget)
		records := w.records()
		q := api.SparseQuestion{Analyst: "ana", Above: 1, Sensitivity: 1, Epsilon: w.dataset.Budget.MinEpsilon - 1, Request: freshID()}
		_, err := w.Sparse.Open(ctx, q)
		if found := leastAdvised.FindStringSubmatch(plainly(err)); found == nil || amount(found[1]) != w.dataset.Budget.MinEpsilon {
			t.Errorf("%s: %v", budget, err)
		}
		if w.records() != records {
			t.Errorf("%s: something was charged", budget)
		}
		q.Epsilon++
		if _, err := w.Sparse.Open(ctx, q); err != nil {
			t.Errorf("%s: %v", budget, err)
		}
	}
}

// Where less is left than a question costs at least, no smaller epsilon is advised.
func TestNothingLeftForAQuestion(t *testing.T) {
	w := newWorld(t, "{epsilon: 1, per_query: {min: 0.1, max: 1}}")
	_, err := w.askAs("ana", byAge(1), amount("0.95"))
	w.check(err)
	_, err = w.askAs("ana", byAge(2), amount("0.1"))
	if !errors.As(err, new(*ledger.BudgetError)) || !strings.Contains(err.Error(), "Nothing is left to ask with") {
		t.Errorf("got: %v", err)
	}
}

// plainly is a refusal's text, or nothing.
func plainly(err error) string {
	var r *api.Refusal
	if !errors.As(err, &r) {
		return ""
	}
	return r.Error()
}

// What is explained is what is charged, to the last unit, and what is left is what was said: for
// SELECTs around private keys too, whatever of them was paid for before and however the price is
// found.
func TestExplainedIsCharged(t *testing.T) {
	const byWard = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
	// Every two of a question, what was asked before and the settings meet.
	settings := []api.Settings{{}, {Mechanism: "laplace"}, {Delta: amount("1e-7"), MaxGroups: 1}}
	for i, sql := range []string{
		"SELECT max(n) FROM (" + byWard + ") AS t",
		"SELECT t.ward, n, m FROM (" + byWard + ") AS t JOIN (SELECT ward, SUM(cost) AS m FROM visits GROUP BY ward) AS u ON " +
			"t.ward = u.ward",
		"SELECT ward FROM (SELECT ward FROM visits GROUP BY ward) AS t",
		"WITH t AS (" + byWard + ") SELECT a.ward, b.n FROM t a JOIN t b ON a.ward = b.ward",
		"SELECT COUNT(*) FROM patients UNION ALL SELECT n FROM (" + byWard + ") AS t",
	} {
		for j, first := range []string{"", byWard, "SELECT ward, SUM(cost) AS m FROM visits GROUP BY ward"} {
			w := privately(t, 50, amount("1e-5"), amount("1e-6"))
			if first != "" {
				w.mustAsk(first)
			}
			for range 2 { // the second is free
				w.explainedIsCharged(api.Question{Analyst: "ana", SQL: sql, Settings: settings[(i+j)%len(settings)]})
			}
		}
	}
}

// A stream that the accounts do not admit is not what is charged, and so not what is shown.
func TestExplainedIsChargedBesideAStream(t *testing.T) {
	w := streamWorld(t, "{epsilon: 0.012, per_query: {default: 0.005, max: 0.006}}", "")
	w.mustAsk("SELECT COUNT(*) FROM visits")
	w.explainedIsCharged(api.Question{Analyst: "ana", SQL: "SELECT sex, COUNT(*) FROM patients GROUP BY sex",
		Settings: api.Settings{Stream: "on"}})
}

// explainedIsCharged explains a question, asks it, and compares the two with the books.
func (w *world) explainedIsCharged(q api.Question) {
	w.t.Helper()
	e, err := w.Explain(ctx, q)
	w.check(err)
	before := w.spent()
	q.Request = freshID()
	a, err := w.Ask(ctx, q)
	w.check(err)
	after := w.spent()
	if !e.Affordable || a.Cost != e.Pay || a.Remaining != e.After || after.Rho-before.Rho != e.Pay.Rho ||
		after.Delta-before.Delta != e.Pay.Delta {
		w.t.Errorf("%s: explained %+v, to leave %+v, affordable %v; it cost %+v and left %+v; the books went from %+v to %+v", q.SQL, e.Pay,
			e.After, e.Affordable, a.Cost, a.Remaining, before, after)
	}
	if pure := w.dataset.Budget.Pure(); pure && after.Epsilon-before.Epsilon != e.Pay.Epsilon {
		w.t.Errorf("%s: explained %v, and charged %v to %v", q.SQL, e.Pay, before, after)
	}
}

// TestPromiseAfterTopUps: a limit that was raised after an answer is not promised as if it had been
// there before. 20 top-ups of 0.2 on (1, 1e-6) were printed as (5, 1e-6), and are worth a delta of
// 1.97e-6 there (account.TestRaisedLimits).
func TestPromiseAfterTopUps(t *testing.T) {
	w := team(t, concentrated, twoAnalysts)
	key := w.owner(1)
	topUp := func() {
		t.Helper()
		_, err := w.TopUp(ctx, api.TopUp{Epsilon: amount("0.2"), Reason: "they asked", Signer: key})
		w.check(err)
	}
	dataset := func() api.Account { return w.everything()[0] }
	// alone is what a limit would promise if it had been the limit from the start.
	alone := func(a api.Account) api.Guarantee {
		epsilon, err := account.Epsilon(a.Limit.Rho, amount("1e-6"))
		w.check(err)
		return api.Guarantee{Epsilon: epsilon, Delta: amount("1e-6")}
	}

	// What is raised before the first answer is the limit that was fixed before it.
	topUp()
	if a := dataset(); a.Total != alone(a) || a.Total.Delta != amount("1e-6") || a.Total.Epsilon < amount("1.1999") {
		t.Errorf("before the first answer: %+v", a)
	}
	w.mustAsk(byAge(1))
	first := dataset()
	if first.Total != alone(first) {
		t.Errorf("%+v", first)
	}
	for i := range 19 {
		topUp()
		_, err := w.askAs("ana", byAge(2+i), amount("0.02"))
		w.check(err)
	}
	a, want := dataset(), account.Reading{}
	want, err := account.ClaimOfRaisedLimit(first.Limit.Rho, a.Limit.Rho, amount("1e-6"))
	w.check(err)
	if a.Total != (api.Guarantee{Epsilon: want.Epsilon, Delta: 2 * amount("1e-6")}) || a.Total.Epsilon < alone(a).Epsilon {
		t.Errorf("after 19 top-ups: %+v; want %v", a, want)
	}
	got, err := w.Promise(ctx)
	w.check(err)
	if len(got) != 3 || !contains(got[0], "epsilon "+rounded(want.Epsilon)+")", "(delta 2e-06)") ||
		!contains(got[2], "not the one that was fixed before the first answer", "epsilon "+rounded(alone(a).Epsilon)+" at delta 1e-06") {
		t.Errorf("%q", got)
	}
	// What an analyst can still spend is counted with the limit by itself, as the charges are.
	left, err := w.Remaining(ctx, "ana")
	w.check(err)
	if own := w.everything()[1]; left.Epsilon > alone(own).Epsilon || left.Delta != amount("1e-6") {
		t.Errorf("%+v of %+v", left, own)
	}

	// The same where the policy says more, also after a restart.
	w = team(t, concentrated, twoAnalysts)
	w.mustAsk(byAge(1))
	w.dataset.Budget.Epsilon = 2 * dp.One
	w.reopen()
	if a := dataset(); a.Total.Delta != 2*amount("1e-6") || a.Total.Epsilon < 2*dp.One {
		t.Errorf("with a larger epsilon: %+v", a)
	}

	// Pure budgets are sums of what is certain.
	w = team(t, pure, twoAnalysts)
	key = w.owner(1)
	w.mustAsk(byAge(1))
	topUp()
	got, err = w.Promise(ctx)
	w.check(err)
	if a := dataset(); a.Total != (api.Guarantee{Epsilon: amount("1.2")}) || len(got) != 2 || strings.Contains(got[0], "delta") {
		t.Errorf("a pure budget: %+v, %q", a, got)
	}
}

// rounded writes an amount with four digits, rounded up.
func rounded(a dp.Amount) string {
	unit := math.Pow(10, 3-math.Floor(math.Log10(a.Float())))
	return strconv.FormatFloat(math.Ceil(a.Float()*unit)/unit, 'g', 4, 64)
}
