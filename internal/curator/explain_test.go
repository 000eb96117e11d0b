package curator_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// freely asks only where it is free, and checks that nothing was charged, run or kept.
func freely(w *curatortest.World, q api.Question) (*api.Answer, *api.Explanation) {
	w.T.Helper()
	spent, records := w.Spent(), w.RecordCount()
	r := w.Record()
	a, err := w.AskFree(ctx, q)
	if got := r.Take(); slices.Contains(got, "run") || slices.Contains(got, "charge") || slices.Contains(got, "keep") {
		w.T.Errorf("%s: it called %v", q.SQL, got)
	}
	if w.Spent() != spent || w.RecordCount() != records {
		w.T.Errorf("%s: something was charged", q.SQL)
	}
	var price *api.PriceError
	if errors.As(err, &price) {
		return nil, price.Explanation
	}
	w.Check(err)
	if a.Cost != (dp.Cost{}) || !a.Receipt.Free {
		w.T.Errorf("%s: it cost %v, %+v", q.SQL, a.Cost, a.Receipt)
	}
	return a, nil
}

// What an average is expected to be off by, from how many values there are, is about what its
// answer is off by; and an answer says whether a limit on what one person counts can have left
// something out.
func TestExpected(t *testing.T) {
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		w := curatortest.New(t, budget)
		for sql, spreads := range map[string]int{
			"SELECT COUNT(*) AS n, AVG(age) FROM patients":                  1,
			"SELECT COUNT(cost) AS n, AVG(cost) FROM visits":                1,
			"SELECT COUNT(*) AS n, SUM(cost) FROM visits":                   0,
			"SELECT COUNT(DISTINCT pid) FROM visits":                        0,
			"SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward":    0,
			"SELECT COUNT(DISTINCT pid), COUNT(*) FROM visits":              0,
			"SELECT COUNT(DISTINCT pid) FROM visits WHERE ward = 'surgery'": 0,
		} {
			q := api.Question{Analyst: "ana", SQL: sql, Settings: api.Settings{Epsilon: dp.One}, Request: curatortest.FreshID()}
			e, err := w.Explain(ctx, q)
			w.Check(err)
			got := e.Questions[0].Averages
			if len(got) != spreads || e.NoError != "" {
				t.Errorf("%s: averages %v, dp.error: %q", sql, got, e.NoError)
				continue
			}
			a, err := w.Ask(ctx, q)
			w.Check(err)
			if cut := strings.Contains(sql, "visits") && !strings.HasPrefix(sql, "SELECT COUNT(DISTINCT pid) FROM"); a.Cut != cut {
				t.Errorf("%s: cut %v", sql, a.Cut)
			}
			if spreads == 0 {
				continue
			}
			for values, most := range map[int64]float64{1: got[0].ErrorMost, 1 << 20: got[0].ErrorOfOne / (1 << 20)} {
				said := q
				said.Settings.Values = values
				e, err := w.Explain(ctx, said)
				w.Check(err)
				if of := e.Questions[0].Averages[0]; of.Error == nil || *of.Error != most || of.Values != values || got[0].Error != nil {
					t.Errorf("%s: of %d values %+v, want an error of %v", sql, values, of, most)
				}
			}
			expected := got[0].ErrorOfOne / curatortest.AsFloat(a.Rows[0][0])
			if half := *a.Errors[0][1]; half < 0.75*expected || half > 1.35*expected {
				t.Errorf("%s: %v was expected, and it is off by %v", sql, expected, half)
			}
		}
		w.Leave()
	}
}

// A question that is asked only where it is free gets its price, as an explanation says it, until
// somebody has paid, then the same answer, and after the data has changed a price again.
func TestFree(t *testing.T) {
	for _, c := range []struct {
		w    *curatortest.World
		sqls []string
	}{
		{curatortest.New(t, curatortest.Plenty), []string{
			"SELECT COUNT(*) FROM patients",
			"SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex",
			"SELECT sex, 100 * n / SUM(n) OVER () AS share FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS t",
		}},
		{curatortest.NewStreams(t, curatortest.Plenty, ""), []string{"SELECT COUNT(*) FROM patients WHERE sex = 'F'"}},
	} {
		w := c.w
		for _, sql := range c.sqls {
			q := api.Question{Analyst: "ana", SQL: sql, Request: curatortest.FreshID()}
			_, price := freely(w, q)
			same, err := w.Explain(ctx, q)
			w.Check(err)
			if price == nil || price.Known || !reflect.DeepEqual(price, same) {
				t.Fatalf("%s: the price is %+v and not %+v", sql, price, same)
			}
			paid, err := w.Ask(ctx, q)
			w.Check(err)
			for _, who := range []string{"ana", "ben"} {
				a, price := freely(w, api.Question{Analyst: who, SQL: sql, Request: curatortest.FreshID()})
				if price != nil || !reflect.DeepEqual(a.Rows, paid.Rows) {
					t.Errorf("%s: %s gets %v, %+v, and it was %v", sql, who, a, price, paid.Rows)
				}
			}
			if _, price := freely(w, api.Question{Analyst: "ana", SQL: sql, Epsilon: dp.One / 2,
				Request: curatortest.FreshID()}); price == nil {
				t.Errorf("%s: a sharper one is free", sql)
			}
		}
	}
	w := curatortest.New(t, curatortest.Plenty)
	q := api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Request: curatortest.FreshID()}
	w.MustAsk(q.SQL)
	w.Check(hospital.New(200, 2).Write(filepath.Join(w.Dir, "data")))
	if _, price := freely(w, q); price == nil {
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
		w       *curatortest.World
		epsilon dp.Amount
	}{
		"plain": {curatortest.New(t, curatortest.Plenty), 0}, "sharper": {curatortest.New(t, curatortest.Plenty),
			dp.One / 2}, "stream": {curatortest.NewStreams(t, curatortest.Plenty, ""), 0},
	} {
		const sql = "SELECT COUNT(*) FROM patients WHERE sex = 'F'"
		if name == "sharper" {
			c.w.MustAsk(sql)
		}
		spent, records := c.w.Spent(), c.w.RecordCount()
		r := c.w.Record()
		_, err := c.w.AskAsFree(ctx, api.Question{Analyst: "ana", SQL: sql, Epsilon: c.epsilon, Request: curatortest.FreshID()})
		if got := r.Take(); !errors.Is(err, sessionhost.ErrNotFree) || slices.Contains(got, "run") || slices.Contains(got, "charge") {
			t.Errorf("%s: %v, after %v", name, err, got)
		}
		if c.w.Spent() != spent || c.w.RecordCount() != records {
			t.Errorf("%s: something was charged", name)
		}
		c.w.MustAsk(sql) // it is as before
	}
}
