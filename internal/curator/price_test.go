package curator_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/ledger"
	"pgregory.net/rapid"
)

// With dp.error every error bar is as small as was asked for. That the price is the smallest that
// does it is a test of package pricing.
func TestErrorIsWithin(t *testing.T) {
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		w := curatortest.New(t, budget)
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
			a, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: c.sql, Settings: c.s, Request: curatortest.FreshID()})
			w.Check(err)
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

// With dp.error and dp.values averages of so many values have about that error, whatever counts
// beside them have.
func TestErrorOfAverages(t *testing.T) {
	h := hospital.New(2000, 1)
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		w := curatortest.Build(t, h, hospital.Dataset("hospital", "data", budget), 1)
		for _, c := range []struct {
			sql, error string
			values     int64
			column     int
		}{
			{"SELECT AVG(age) FROM patients", "0.5", 2000, 0},
			{"SELECT sex, COUNT(*), AVG(age) FROM patients WHERE sex IN ('F', 'M') GROUP BY sex", "3", 900, 2},
			{"SELECT AVG(age), AVG(cost) FROM patients", "100", 2000, 1},
			{"SELECT AVG(cost) FROM visits", "100", 6000, 0},
			{"SELECT AVG(age) FROM patients UNION ALL SELECT AVG(cost) FROM visits", "100", 2000, 0},
		} {
			s := api.Settings{Values: c.values}
			s.Error, _ = new(big.Rat).SetString(c.error)
			q := api.Question{Analyst: "ana", SQL: c.sql, Settings: s, Request: curatortest.FreshID()}
			price, err := w.Explain(ctx, q)
			if err != nil {
				t.Errorf("%s: %v", c.sql, err)
				continue
			}
			a, err := w.Ask(ctx, q)
			w.Check(err)
			target, _ := s.Error.Float64()
			for _, row := range a.Errors {
				if e := row[c.column]; e != nil && (*e > 2.5*target || *e < target/4) { // about
					t.Errorf("%s: %v was asked for, and it is %v", c.sql, target, *e)
				}
			}
			for _, inquiry := range price.Questions {
				for _, m := range inquiry.Averages {
					if m.ErrorOfOne/float64(c.values) > target {
						t.Errorf("%s: %s is expected to be off by %v", c.sql, m.Average, m.ErrorOfOne/float64(c.values))
					}
				}
			}
		}
		w.Leave()
	}
	w := curatortest.New(t, curatortest.Plenty)
	ask := func(sql, error string, values int64) (*pricing.Priced, error) {
		e, _ := new(big.Rat).SetString(error)
		return curatortest.Price(w, api.Question{Analyst: "ana", SQL: sql, Settings: api.Settings{Error: e, Values: values}})
	}
	if _, err := ask("SELECT AVG(age) FROM patients", "0.001", 10); err == nil || !strings.Contains(err.Error(), "buys an error of") {
		t.Errorf("%v", err)
	}
	few, err1 := ask("SELECT AVG(age) FROM patients", "2", 1000)
	many, err2 := ask("SELECT AVG(age) FROM patients", "2", 2000)
	if err1 != nil || err2 != nil || few.Epsilon < many.Epsilon*19/10 || few.Epsilon > many.Epsilon*21/10 {
		t.Errorf("twice as many values cost half: %v, %v; %v, %v", few, many, err1, err2)
	}
}

func TestErrorIsRefused(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	ask := func(sql, target string) error {
		e, _ := new(big.Rat).SetString(target)
		_, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: sql, Settings: api.Settings{Error: e}})
		return err
	}
	for _, sql := range []string{
		"SELECT STDDEV(age) FROM patients", "SELECT MEDIAN(age) FROM patients",
		"SELECT COUNT(*), MAX(age) FROM patients", "SELECT SUM(age) / COUNT(*) FROM patients",
		"SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) DESC LIMIT 1",
	} {
		if err := ask(sql, "1000000"); err == nil || !curatortest.ContainsAll(err.Error(), "dp.error cannot be used") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if err := ask("SELECT AVG(age) FROM patients", "1"); err == nil || !strings.Contains(err.Error(), "dp.error needs dp.values") {
		t.Errorf("an average: %v", err)
	}
	// What is said to be possible is.
	for _, c := range [][2]string{{"SELECT COUNT(*) FROM patients", "1"}, {"SELECT COUNT(*) FROM patients", "0.5"},
		{"SELECT COUNT(*), SUM(cost), SUM(age) FROM patients", "20"}} {
		err := ask(c[0], c[1])
		if err == nil {
			t.Errorf("%v was promised", c)
			continue
		}
		found := regexp.MustCompile(`buys an error of ([0-9.e+]+)`).FindStringSubmatch(err.Error())
		if found == nil || ask(c[0], found[1]) != nil {
			t.Errorf("%v: %v; and then %v", c, err, found)
		}
	}
}

var leastAdvised = regexp.MustCompile(`at least ([0-9.e-]+)$`)

// Nobody fills the ledger for next to nothing: a question at less than the least is refused before
// anything is charged, what the refusal says to write is enough, and hardly less is.
func TestLeastPrice(t *testing.T) {
	four := strings.Join([]string{curatortest.ByAge(1), curatortest.ByAge(2), curatortest.ByAge(3), curatortest.ByAge(4)}, " UNION ALL ")
	for _, budget := range []string{curatortest.Pure, curatortest.Concentrated, curatortest.Plenty, curatortest.Rich,
		"{epsilon: 1, per_query: {min: 0.05, default: 0.1}}",
		"{epsilon: 1, delta: 1e-6, per_query: {min: 0.1, default: 0.1}}", "{epsilon: 1, per_query: {min: 0.1, max: 0.1}}"} {
		w := curatortest.New(t, budget)
		records := w.RecordCount()
		for _, sql := range []string{curatortest.ByAge(1), four, "SELECT COUNT(*), SUM(age) FROM patients"} {
			_, err := w.AskAs("ana", sql, curatortest.Amount("1e-9"))
			found := leastAdvised.FindStringSubmatch(plainly(err))
			if found == nil {
				t.Errorf("%s: %.60s: %v", budget, sql, err)
				continue
			}
			if w.RecordCount() != records {
				t.Errorf("%s: %.60s: something was charged", budget, sql)
			}
			if _, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: sql, Epsilon: curatortest.Amount("1e-9")}); err == nil {
				t.Errorf("%s: %.60s: it was explained", budget, sql)
			}
			if _, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: sql, Epsilon: curatortest.Amount(found[1])}); err != nil {
				t.Errorf("%s: %.60s: advised %s, and then: %v", budget, sql, found[1], err)
			}
			less := curatortest.Amount(found[1])
			less -= less>>20 + 3
			if _, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: sql, Epsilon: less}); err == nil {
				t.Errorf("%s: %.60s: less than %s is enough", budget, sql, found[1])
			}
			if _, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: sql}); err != nil {
				t.Errorf("%s: %.60s: the default is too little: %v", budget, sql, err)
			}
		}
		w.Leave()
	}
}

// A statement whose parts but one are paid for does not get that one for a part of the least price.
func TestLeastPriceOfParts(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	for _, budget := range []string{curatortest.Pure, curatortest.Concentrated} {
		w := curatortest.New(t, budget)
		least := pricing.Currency{Pure: w.Dataset.Budget.Pure()}.Amount(w.Dataset.Budget.MinEpsilon)
		sql := curatortest.ByAge(1)
		some := daily.Sample(t, []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, 5)
		for i := 2; i <= 16; i++ {
			sql += " UNION ALL " + curatortest.ByAge(i)
			if !slices.Contains(some, i) {
				continue
			}
			_, err := w.AskAs("ana", sql, w.Dataset.Budget.MinEpsilon)
			found := leastAdvised.FindStringSubmatch(plainly(err))
			if found == nil {
				t.Fatalf("%s: %d questions: %v", budget, i, err)
			}
			a, err := w.AskAs("ana", sql, curatortest.Amount(found[1]))
			w.Check(err)
			paid := a.Cost.Rho
			if w.Dataset.Budget.Pure() {
				paid = a.Cost.Epsilon
			}
			if paid < least-least/1000-10 {
				t.Errorf("%s: %d questions: %d units were paid for what is new, and %d are the least", budget, i, paid, least)
			}
		}
	}
}

// The least price bounds how many answers are kept, whatever the noise is: none takes less of rho
// than it stands for, of a budget that adds up epsilon and rho, or rho alone.
func TestMinOfRho(t *testing.T) {
	for _, noise := range []string{"laplace", "gaussian"} {
		w := curatortest.New(t, "{epsilon: 1, delta: 1e-6, noise: "+noise+"}")
		least := pricing.Currency{}.Amount(w.Dataset.Budget.MinEpsilon)
		for _, epsilon := range []dp.Amount{w.Dataset.Budget.MinEpsilon, w.Dataset.Budget.DefaultEpsilon} {
			q := api.Question{Analyst: "ana", SQL: "SELECT ward, COUNT(*) FROM visits GROUP BY ward", Epsilon: epsilon,
				Settings: api.Settings{Mechanism: "laplace"}, Request: curatortest.FreshID()}
			e, err := w.Explain(ctx, q)
			w.Check(err)
			a, err := w.Ask(ctx, q)
			w.Check(err)
			if a.Cost != e.Cost || a.Cost.Rho < least-least/100 || a.Cost.Rho > (pricing.Currency{}).Amount(epsilon) {
				t.Errorf("%s: epsilon %v takes %v, explained as %v, and the least is a rho of %v", noise, epsilon, a.Cost, e.Cost, least)
			}
		}
	}
}

// dp.error at less than the least price pays that, and is more exact.
func TestLeastAdvisedOfAnError(t *testing.T) {
	for _, budget := range []string{curatortest.Pure, curatortest.Concentrated, curatortest.Plenty, curatortest.Rich} {
		w := curatortest.New(t, budget)
		for _, sql := range []string{"SELECT COUNT(*), SUM(age) FROM patients", curatortest.ByAge(1) + " UNION ALL " + curatortest.ByAge(2),
			"SELECT sex, COUNT(*) FROM patients GROUP BY sex"} {
			q := api.Question{Analyst: "ana", SQL: sql, Settings: api.Settings{Error: big.NewRat(1e15, 1)}, Request: curatortest.FreshID()}
			e, err := w.Explain(ctx, q)
			w.Check(err)
			if !strings.Contains(e.Split, "more exact") {
				t.Errorf("%s", e.Split)
			}
			_, err = w.Ask(ctx, q)
			w.Check(err)
		}
	}
}

// A sparse session has the same least price.
func TestLeastPriceOfASession(t *testing.T) {
	for _, budget := range []string{curatortest.Pure, curatortest.Concentrated} {
		w := curatortest.New(t, budget)
		records := w.RecordCount()
		q := api.SparseQuestion{Analyst: "ana", Above: 1, Sensitivity: 1, Epsilon: w.Dataset.Budget.MinEpsilon - 1,
			Request: curatortest.FreshID()}
		_, err := w.Sparse.Open(ctx, q)
		if found := leastAdvised.FindStringSubmatch(plainly(err)); found == nil ||
			curatortest.Amount(found[1]) != w.Dataset.Budget.MinEpsilon {
			t.Errorf("%s: %v", budget, err)
		}
		if w.RecordCount() != records {
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
	w := curatortest.New(t, "{epsilon: 1, per_query: {min: 0.1, max: 1}}")
	_, err := w.AskAs("ana", curatortest.ByAge(1), curatortest.Amount("0.95"))
	w.Check(err)
	_, err = w.AskAs("ana", curatortest.ByAge(2), curatortest.Amount("0.1"))
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
	settings := []api.Settings{{}, {Mechanism: "laplace"}, {Delta: curatortest.Amount("1e-7"), MaxGroups: 1}}
	type round struct {
		i, j       int
		sql, first string
	}
	var rounds []round
	for i, sql := range []string{
		"SELECT max(n) FROM (" + byWard + ") AS t",
		"SELECT t.ward, n, m FROM (" + byWard + ") AS t JOIN (SELECT ward, SUM(cost) AS m FROM visits GROUP BY ward) AS u ON " +
			"t.ward = u.ward",
		"SELECT ward FROM (SELECT ward FROM visits GROUP BY ward) AS t",
		"WITH t AS (" + byWard + ") SELECT a.ward, b.n FROM t a JOIN t b ON a.ward = b.ward",
		"SELECT COUNT(*) FROM patients UNION ALL SELECT n FROM (" + byWard + ") AS t",
	} {
		for j, first := range []string{"", byWard, "SELECT ward, SUM(cost) AS m FROM visits GROUP BY ward"} {
			rounds = append(rounds, round{i, j, sql, first})
		}
	}
	for _, r := range daily.Sample(t, rounds, 7) {
		t.Run(fmt.Sprint(r.i, r.j), func(t *testing.T) { // whose data the next one takes over
			w := curatortest.NewPrivateKeys(t, 50, curatortest.Amount("1e-5"), curatortest.Amount("1e-6"))
			if r.first != "" {
				w.MustAsk(r.first)
			}
			for range 2 { // the second is free
				explainedIsCharged(w, api.Question{Analyst: "ana", SQL: r.sql, Settings: settings[(r.i+r.j)%len(settings)]})
			}
		})
	}
}

// A stream that the accounts do not admit is not what is charged, and so not what is shown.
func TestExplainedIsChargedBesideAStream(t *testing.T) {
	w := curatortest.NewStreams(t, "{epsilon: 0.012, per_query: {default: 0.005, max: 0.006}}", "")
	w.MustAsk("SELECT COUNT(*) FROM visits")
	explainedIsCharged(w, api.Question{Analyst: "ana", SQL: "SELECT sex, COUNT(*) FROM patients GROUP BY sex",
		Settings: api.Settings{Stream: "on"}})
}

// explainedIsCharged explains a question, asks it, and compares the two with the accounts.
func explainedIsCharged(w *curatortest.World, q api.Question) {
	w.T.Helper()
	e, err := w.Explain(ctx, q)
	w.Check(err)
	before := w.Spent()
	q.Request = curatortest.FreshID()
	a, err := w.Ask(ctx, q)
	w.Check(err)
	after := w.Spent()
	if !e.Affordable || a.Cost != e.Pay || a.Remaining != e.After || after.Rho-before.Rho != e.Pay.Rho ||
		after.Delta-before.Delta != e.Pay.Delta {
		w.T.Errorf("%s: explained %+v, to leave %+v, affordable %v; it cost %+v and left %+v; the accounts went from %+v to %+v", q.SQL,
			e.Pay,
			e.After, e.Affordable, a.Cost, a.Remaining, before, after)
	}
	if pure := w.Dataset.Budget.Pure(); pure && after.Epsilon-before.Epsilon != e.Pay.Epsilon {
		w.T.Errorf("%s: explained %v, and charged %v to %v", q.SQL, e.Pay, before, after)
	}
}

// No question costs more than was asked for, and hardly less.
func TestCostIsWhatWasAsked(t *testing.T) {
	kinds := []string{"COUNT(*)", "COUNT(smoker)", "SUM(age)", "SUM(cost)", "AVG(cost)", "SUM(age * 2)", "AVG(age)"}
	for _, budget := range []string{curatortest.Pure, curatortest.Concentrated} {
		budget := strings.Replace(budget, "per_query: {", "per_query: {min: 1e-12, ", 1)
		ds := curatortest.Parsed(t, hospital.Dataset("hospital", "data", budget))
		c := curator.New(ds, nil, nil, nil)
		rapid.Check(t, func(r *rapid.T) {
			epsilon := dp.Amount(rapid.Uint64Range(1<<20, uint64(dp.One)).Draw(r, "epsilon"))
			picks := rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 6).Draw(r, "aggregates")
			p, err := curatortest.Price(c, api.Question{Analyst: "ana", SQL: "SELECT " + strings.Join(picks, ", ") + " FROM patients",
				Epsilon: epsilon})
			if err != nil {
				if !ds.Budget.Pure() && strings.Contains(err.Error(), "too small") || strings.Contains(err.Error(), "lattice step") {
					return
				}
				r.Fatal(err)
			}
			n := dp.Amount(len(p.Purchases[0].Noise))
			if ds.Budget.Pure() {
				if pricing.Cost(p.Purchases).Epsilon > epsilon || pricing.Cost(p.Purchases).Epsilon+n <= epsilon ||
					p.Tag(p.Purchases) != pricing.Cost(p.Purchases) {
					r.Fatalf("asked for %d units, charged %d", epsilon, pricing.Cost(p.Purchases).Epsilon)
				}
				return
			}
			e := epsilon.Float()
			if most := e * math.Tanh(e/2); pricing.Cost(p.Purchases).Rho.Float() > most ||
				pricing.Cost(p.Purchases).Rho.Float() < most-float64(n+1)*0x1p-40 {
				r.Fatalf("asked for rho %v, charged %v", most, pricing.Cost(p.Purchases).Rho.Float())
			}
			if p.Tag(p.Purchases).Epsilon != epsilon || pricing.Cost(p.Purchases).Epsilon != dp.Unbounded {
				r.Fatalf("the tag is %v, the cost %v", p.Tag(p.Purchases), pricing.Cost(p.Purchases))
			}
		})
	}
}

// An explanation says, for each kind of release, how it is done and why.
func TestExplainSaysWhy(t *testing.T) {
	w := curatortest.NewPrivateKeys(t, 100, curatortest.Amount("1e-5"), curatortest.Amount("1e-6"))
	for _, c := range []struct {
		sql  string
		says []string
	}{
		{"SELECT COUNT(*) FROM patients",
			[]string{"one person is in one group, with one row", `"mechanism":"gaussian"`, "asking it again"}},
		{"SELECT sex, SUM(cost) FROM patients GROUP BY sex HAVING COUNT(*) > 3 ORDER BY 2 LIMIT 1",
			[]string{"of at most 10000.00", "listed by the owner", `"HAVING"`, `"ORDER BY"`, "LIMIT and OFFSET", "counted in people"}},
		{"SELECT ward, SUM(cost), COUNT(DISTINCT pid) FROM visits GROUP BY ward",
			[]string{"one person is in at most 2 groups, with at most 6 rows of at most 2000.00 each",
				"private: a key is shown when its noisy number of people is at least", "counts once in each", "threshold, gaussian",
				"that only one person has is shown with probability"}},
		{"SELECT DISTINCT ward FROM visits", []string{"the private keys of ward"}},
		{"SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) DESC LIMIT 2",
			[]string{"the 2 groups with the best count(*)", "top 2, exponential", "any other pure mechanism", "of the best one left"}},
		{"SELECT sex, MEDIAN(age) FROM patients WHERE sex IN ('F', 'M') GROUP BY sex",
			[]string{"exponential, on ranks", "rank error", "among those that WHERE names"}},
		{"SELECT sum(n) FROM (SELECT COUNT(*) AS n FROM patients) AS t", []string{"the query around the answers"}},
		{"SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM visits", []string{"2 questions share rho equally"}},
		{"SELECT age, COUNT(*) FROM patients GROUP BY age", []string{"all values within its bounds, 0 to 110"}},
	} {
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: c.sql})
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		text, err := json.Marshal(e)
		w.Check(err)
		for _, s := range c.says {
			if !strings.Contains(string(text), s) {
				t.Errorf("%s does not say %q: %s", c.sql, s, text)
			}
		}
		// The parts are the whole, and asking does what was said.
		var sum dp.Cost
		for _, q := range e.Questions {
			for _, m := range q.Measures {
				sum = sum.Add(m.Cost)
			}
		}
		a := w.MustAsk(c.sql)
		if sum.Rho != e.Cost.Rho || sum.Delta != e.Cost.Delta || a.Cost != e.Pay || a.Remaining != e.After {
			t.Errorf("%s: explained %v of %v and %+v; it cost %v and leaves %+v", c.sql, e.Cost, sum, e.After, a.Cost, a.Remaining)
		}
	}
}

func TestSettings(t *testing.T) {
	var s api.Settings
	for _, c := range [][2]string{
		{"dp.epsilon", "0.5"}, {"DP.Delta", "1e-7"}, {"dp.error", "12.5"}, {"dp.confidence", "0.99"}, {"dp.mechanism", "laplace"},
		{"dp.max_rows", "20"}, {"dp.max_groups", "3"}, {"dp.max_sum", "2.5"}, {"dp.stream", "off"}, {"dp.errors", "interval"},
		{"dp.counts", "nonnegative"}, {"dp.values", "1000"},
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
	for _, text := range []string{"auto", "AUTO"} {
		if err := s.Set("dp.max_rows", text); err != nil || !s.ChoosesLimits() || s.Check() != nil {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
		if err := s.Set("dp.max_rows", "default"); err != nil || s.ChoosesLimits() {
			t.Errorf("the default: %+v, %v", s, err)
		}
	}
	names := api.SettingNames()
	if len(names) != 12 {
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
		{"dp.max_groups", "1.5"}, {"dp.max_groups", "1000001"}, {"dp.max_rows", "automatic"}, {"dp.mechanism", "exponential"},
		{"dp.delta", "1"}, {"dp.values", "0.5"}, {"dp.values", "-1"}} {
		if s.Set(bad[0], bad[1]) == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	if _, err := s.Show("dp.budget"); err == nil {
		t.Error("there is a setting dp.budget")
	}
	if got, err := api.ParseSettings(map[string]string{"dp.epsilon": "1", "dp.max_groups": "2"}); err != nil || got.MaxGroups != 2 ||
		got.Epsilon != curatortest.Amount("1") {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := api.ParseSettings(map[string]string{"dp.epsilon": "1", "dp.max": "2"}); err == nil {
		t.Error("an unknown setting was taken")
	}
}

// Settings that a program makes are checked like those that somebody writes.
func TestSettingsOfPrograms(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	r := w.Record()
	for _, s := range []api.Settings{
		{Confidence: math.NaN()}, {Confidence: math.Inf(1)}, {Confidence: 0.2}, {Confidence: -1}, {Mechanism: "none"},
		{Mechanism: "gaussian"}, {MaxGroups: -2}, {MaxGroups: 5},
		{Error: big.NewRat(-1, 1)}, {Error: new(big.Rat)}, {Error: big.NewRat(10, 1),
			Epsilon: curatortest.Amount("0.1")}, {Epsilon: curatortest.Amount("2")},
	} {
		_, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Settings: s,
			Request: curatortest.FreshID()})
		if refused := new(api.Refusal); !errors.As(err, &refused) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if got := r.Take(); len(got) > 0 {
		t.Errorf("refused settings called %v", got)
	}
}

// Fewer groups of each person need less noise, and are another question.
func TestMaxGroups(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	ask := func(n int64) float64 {
		a, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
			Settings: api.Settings{MaxGroups: n}, Request: curatortest.FreshID()})
		w.Check(err)
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
	w := curatortest.New(t, curatortest.Rich)
	for _, m := range []string{"laplace", "gaussian", ""} {
		p, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: "SELECT sex, COUNT(*), SUM(cost) FROM patients GROUP BY sex",
			Settings: api.Settings{Mechanism: m}})
		w.Check(err)
		want := m
		if m == "" {
			want = "gaussian"
		}
		share := pricing.Currency{}.Amount(curatortest.Amount("0.1")) / 2
		for _, n := range p.Purchases[0].Noise {
			if got := n.Cost().Rho; n.Name() != want || got > share || got < share-share/1000 {
				t.Errorf("%q: %s at rho %v of %v", m, n.Name(), got, share)
			}
		}
	}
}
