package curator

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
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
