package curator

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/internal/interactive"
)

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
		_, err := c.w.Curator.ask(ctx, api.Question{Analyst: "ana", SQL: sql, Epsilon: c.epsilon,
			Request: freshID()}, terms{free: true})
		if got := r.take(); !errors.Is(err, interactive.ErrNotFree) || slices.Contains(got, "run") || slices.Contains(got, "charge") {
			t.Errorf("%s: %v, after %v", name, err, got)
		}
		if c.w.spent() != spent || c.w.records() != records {
			t.Errorf("%s: something was charged", name)
		}
		c.w.mustAsk(sql) // it is as before
	}
}
