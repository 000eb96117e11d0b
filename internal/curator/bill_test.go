package curator

import (
	"testing"

	"github.com/discreet-dp/discreet/api"
)

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
