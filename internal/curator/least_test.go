package curator

import (
	"errors"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
)

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
			if _, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: sql, Epsilon: amount(found[1])}); err != nil {
				t.Errorf("%s: %.60s: advised %s, and then: %v", budget, sql, found[1], err)
			}
			less := amount(found[1])
			less -= less>>20 + 3
			if _, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: sql, Epsilon: less}); err == nil {
				t.Errorf("%s: %.60s: less than %s is enough", budget, sql, found[1])
			}
			if _, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: sql}); err != nil {
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
