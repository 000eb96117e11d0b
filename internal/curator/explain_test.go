package curator

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
)

// An explanation says, for each kind of release, how it is done and why.
func TestExplainSaysWhy(t *testing.T) {
	w := privately(t, 100, amount("1e-5"), amount("1e-6"))
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
				"that one person alone has is shown with probability"}},
		{"SELECT DISTINCT ward FROM visits", []string{"the private keys of ward"}},
		{"SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) DESC LIMIT 2",
			[]string{"the 2 groups with the best count(*)", "top 2, exponential", "any other pure mechanism", "of the best one left"}},
		{"SELECT sex, MEDIAN(age) FROM patients WHERE sex IN ('F', 'M') GROUP BY sex",
			[]string{"exponential, on ranks", "rank error", "among those that WHERE names"}},
		{"SELECT sum(n) FROM (SELECT COUNT(*) AS n FROM patients) AS t", []string{"the query around the answers"}},
		{"SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM visits", []string{"2 questions share rho equally"}},
		{"SELECT age, COUNT(*) FROM patients GROUP BY age", []string{"all values that the column can have"}},
	} {
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: c.sql})
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		text, err := json.Marshal(e)
		w.check(err)
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
		a := w.mustAsk(c.sql)
		if sum.Rho != e.Cost.Rho || sum.Delta != e.Cost.Delta || a.Cost != e.Pay || a.Remaining != e.After {
			t.Errorf("%s: explained %v of %v and %+v; it cost %v and leaves %+v", c.sql, e.Cost, sum, e.After, a.Cost, a.Remaining)
		}
	}
}

// TestDescribe asks every question that the tests have, and compares its columns with those that
// were described before.
func TestDescribe(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	described := 0
	for _, budget := range []string{plenty, "{epsilon: 100, delta: 1e-6, per_query: {default: 0.1, max: 1}}"} {
		w := newWorld(t, budget)
		records := w.records()
		for _, text := range append(append([]string{}, questions...), attacks...) {
			before, err := w.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
			if n := w.records(); n != records {
				t.Fatalf("%s: describing is in the ledger", text)
			}
			a, asked := w.ask(text)
			records = w.records()
			switch {
			case asked == nil && err != nil:
				t.Errorf("%s: answered and not described: %v", text, err)
			case asked == nil:
				described++
				if !slices.Equal(before, a.Columns) {
					t.Errorf("%s:\ndescribed %+v\nanswered  %+v", text, before, a.Columns)
				}
			}
		}
	}
	if described < 2*len(questions) {
		t.Errorf("%d questions were described", described)
	}
}

// TestDescribeReadsNothing has neither data nor ledger.
func TestDescribeReadsNothing(t *testing.T) {
	w := newWorld(t, pure)
	c := New(w.dataset, nil, nil, nil)
	for _, text := range questions {
		if _, err := c.Describe(ctx, api.Question{Analyst: "ana", SQL: text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, q := range []api.Question{{Analyst: "nobody", SQL: questions[0]}, {Analyst: "ana", SQL: "SELECT pid FROM patients"},
		{Analyst: "ana", SQL: "SELECT"}} {
		if _, err := c.Describe(ctx, q); err == nil {
			t.Errorf("%+v is described", q)
		}
	}
}

// What a refusal advises can be paid: it looks at every account that the question is
// charged to, and not only at the one that refused first.
func TestAdviceCanBePaid(t *testing.T) {
	for name, budget := range map[string]string{"pure": pure, "zCDP": concentrated} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, budget) // ana may use all of it, ben half
			_, err := w.askAs("ben", byAge(1), amount("0.11"))
			w.check(err)
			_, err = w.askAs("ben", byAge(2), amount("1"))
			if err == nil {
				t.Fatal("ben got more than there is")
			}
			found := regexp.MustCompile(`epsilon of at most ([0-9.]+),`).FindStringSubmatch(err.Error())
			if found == nil {
				t.Fatalf("no advice in: %v", err)
			}
			if _, err := w.askAs("ben", byAge(2), amount(found[1])); err != nil {
				t.Errorf("advised %s, and then: %v", found[1], err)
			}
		})
	}
}

// Where nothing is left no smaller epsilon is advised, though another account has some.
func TestNothingLeft(t *testing.T) {
	w := newWorld(t, pure)
	_, err := w.askAs("ben", byAge(1), amount("0.5"))
	w.check(err)
	_, err = w.askAs("ben", byAge(2), amount("1"))
	if err == nil || !strings.Contains(err.Error(), "Nothing is left to ask with") {
		t.Errorf("got: %v", err)
	}
}

// What was spent under a budget with a delta has no pure epsilon. Where the owner takes the delta
// away, that is said, and not that another window or a higher limit would help.
func TestAdviceWithoutDelta(t *testing.T) {
	w := newWorld(t, concentrated)
	_, err := w.askAs("ana", byAge(1), amount("0.1"))
	w.check(err)
	w.dataset.Budget.Delta, w.dataset.Budget.KeysDelta = 0, 0
	_, err = w.askAs("ana", byAge(2), amount("0.1"))
	if err == nil || !strings.Contains(err.Error(), "give the budget its delta back") {
		t.Errorf("got: %v", err)
	}
}

// freely asks only where it is free, and checks that nothing was charged, run or kept.
func (w *world) freely(q api.Question) (*api.Answer, *api.Explanation) {
	w.t.Helper()
	spent, records := w.spent(), w.records()
	r := w.record()
	a, err := w.AskFree(ctx, q)
	if got := r.take(); slices.Contains(got, "run") || slices.Contains(got, "charge") || slices.Contains(got, "keep") {
		w.t.Errorf("%s: it called %v", q.SQL, got)
	}
	if w.spent() != spent || w.records() != records {
		w.t.Errorf("%s: something was charged", q.SQL)
	}
	var price *api.PriceError
	if errors.As(err, &price) {
		return nil, price.Explanation
	}
	w.check(err)
	if a.Cost != (dp.Cost{}) || !a.Receipt.Free {
		w.t.Errorf("%s: it cost %v, %+v", q.SQL, a.Cost, a.Receipt)
	}
	return a, nil
}

// A question that is asked only where it is free gets its price, as an explanation says it, until
// somebody has paid, then the same answer, and after the data has changed a price again.
func TestFree(t *testing.T) {
	for _, c := range []struct {
		w    *world
		sqls []string
	}{
		{newWorld(t, plenty), []string{
			"SELECT COUNT(*) FROM patients",
			"SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex",
			"SELECT sex, 100 * n / SUM(n) OVER () AS share FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS t",
		}},
		{streamWorld(t, plenty, ""), []string{"SELECT COUNT(*) FROM patients WHERE sex = 'F'"}},
	} {
		w := c.w
		for _, sql := range c.sqls {
			q := api.Question{Analyst: "ana", SQL: sql, Request: freshID()}
			_, price := w.freely(q)
			same, err := w.Explain(ctx, q)
			w.check(err)
			if price == nil || price.Known || !reflect.DeepEqual(price, same) {
				t.Fatalf("%s: the price is %+v and not %+v", sql, price, same)
			}
			paid, err := w.Ask(ctx, q)
			w.check(err)
			for _, who := range []string{"ana", "ben"} {
				a, price := w.freely(api.Question{Analyst: who, SQL: sql, Request: freshID()})
				if price != nil || !reflect.DeepEqual(a.Rows, paid.Rows) {
					t.Errorf("%s: %s gets %v, %+v, and it was %v", sql, who, a, price, paid.Rows)
				}
			}
			if _, price := w.freely(api.Question{Analyst: "ana", SQL: sql, Epsilon: dp.One / 2, Request: freshID()}); price == nil {
				t.Errorf("%s: a sharper one is free", sql)
			}
		}
	}
	w := newWorld(t, plenty)
	q := api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Request: freshID()}
	w.mustAsk(q.SQL)
	w.check(hospital.New(200, 2).Write(filepath.Join(w.dir, "data")))
	if _, price := w.freely(q); price == nil {
		t.Error("an answer about other data is given")
	}
	var refusal *api.Refusal
	if _, err := w.AskFree(ctx, api.Question{Analyst: "ana", SQL: "SELECT * FROM patients"}); !errors.As(err, &refusal) {
		t.Errorf("got %v", err)
	}
	if _, err := w.AskFree(ctx, api.Question{Analyst: "eve", SQL: q.SQL}); !errors.As(err, &refusal) {
		t.Errorf("got %v", err)
	}
}

// Whatever says that a question is free, no charge is made for one that nobody pays for: not by the
// engine, not for the difference to an earlier answer, and not by a stream.
func TestNobodyPaysForFree(t *testing.T) {
	for name, c := range map[string]struct {
		w       *world
		epsilon dp.Amount
	}{
		"plain": {newWorld(t, plenty), 0}, "sharper": {newWorld(t, plenty), dp.One / 2}, "stream": {streamWorld(t, plenty, ""), 0},
	} {
		const sql = "SELECT COUNT(*) FROM patients WHERE sex = 'F'"
		if name == "sharper" {
			c.w.mustAsk(sql)
		}
		spent, records := c.w.spent(), c.w.records()
		r := c.w.record()
		_, err := c.w.AskAsFree(ctx, api.Question{Analyst: "ana", SQL: sql, Epsilon: c.epsilon, Request: freshID()})
		if got := r.take(); !errors.Is(err, sessionhost.ErrNotFree) || slices.Contains(got, "run") || slices.Contains(got, "charge") {
			t.Errorf("%s: %v, after %v", name, err, got)
		}
		if c.w.spent() != spent || c.w.records() != records {
			t.Errorf("%s: something was charged", name)
		}
		c.w.mustAsk(sql) // it is as before
	}
}
