package curator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pricing"
)

// TestProbes: a question that has no rows, whatever the data is, is answered by its columns alone.
// Neither the engine nor the memory of answers is asked, nothing is written, and it is free when
// nothing is left to pay with.
func TestProbes(t *testing.T) {
	w := newWorld(t, pure)
	for i := range 10 {
		if _, err := w.ask(fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age > %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	r, records := w.record(), w.records()
	const all = "age integer, sex text, zip text, diagnosis text, smoker boolean, cost decimal, pid text"
	for text, want := range map[string]string{
		"SELECT * FROM patients WHERE 0 = 1":                                                           all,
		"SELECT * FROM patients WHERE false LIMIT 0":                                                   all,
		"SELECT age * 2 AS twice, sex FROM patients LIMIT 0":                                           "twice integer, sex text",
		"SELECT sex, COUNT(*) AS n, AVG(age) FROM patients GROUP BY 1 LIMIT 0":                         "sex text, n integer, avg real",
		"SELECT * FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) t LIMIT 0":               "sex text, n integer",
		"SELECT sex FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) t WHERE 0 = 1":         "sex text",
		"SELECT sex, sum(cost) FROM patients WHERE 1 = 0 GROUP BY sex":                                 "sex text, sum decimal",
		"SELECT sex, n / 2.0 AS h FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1) t LIMIT 0": "sex text, h real",
	} {
		a, err := w.ask(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, c := range a.Columns {
			got = append(got, c.Name+" "+c.Kind)
		}
		if strings.Join(got, ", ") != want || len(a.Rows) != 0 || !a.Receipt.Free || a.Receipt.Sequence != 0 {
			t.Errorf("%s: %s %+v", text, strings.Join(got, ", "), a)
		}
		described, err := w.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
		if err != nil || !slices.Equal(described, a.Columns) {
			t.Errorf("%s is described as %+v: %v", text, described, err)
		}
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text})
		if err != nil || !e.Known || e.Cost != (api.Explanation{}).Cost || !e.Affordable {
			t.Errorf("%s is explained as %+v: %v", text, e, err)
		}
	}
	calls := slices.DeleteFunc(r.take(), func(call string) bool { return call == "balances" }) // what is left is told
	if len(calls) != 0 || w.records() != records {
		t.Errorf("%v, and %d records more", calls, w.records()-records)
	}
}

// TestPublicKeys: a list of public keys is exact, free, and the same whatever is in the data.
func TestPublicKeys(t *testing.T) {
	w := newWorld(t, pure)
	for i := range 10 {
		if _, err := w.ask(fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age > %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	r, records := w.record(), w.records()
	for text, want := range map[string]string{
		"SELECT DISTINCT sex FROM patients":                                                "F M X",
		"SELECT sex FROM patients GROUP BY sex ORDER BY sex DESC LIMIT 2":                  "X M",
		"SELECT DISTINCT sex FROM patients WHERE sex <> 'M' AND age > 100":                 "F X",
		"SELECT DISTINCT sex FROM patients WHERE age > 1000":                               "F M X",
		"SELECT * FROM (SELECT DISTINCT sex FROM patients) AS t ORDER BY sex DESC":         "X M F",
		"SELECT DISTINCT sex, smoker FROM patients WHERE sex IN ('F') ORDER BY smoker":     "F false F true",
		"WITH s AS (SELECT sex FROM patients GROUP BY sex) SELECT count(*) FROM s":         "3",
		"SELECT DISTINCT age / 40 AS a FROM patients WHERE age < 100 ORDER BY a":           "0 1 2",
		"SELECT DISTINCT sex FROM patients WHERE age = 7 AND diagnosis = 'HIV' ORDER BY 1": "F M X",
		"SELECT DISTINCT zip FROM patients WHERE zip IN ('1001A', 'nowhere')":              "1001A",
	} {
		a, err := w.ask(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, row := range a.Rows {
			for _, v := range row {
				got = append(got, fmt.Sprint(v))
			}
		}
		noted := strings.Contains(strings.Join(a.Notes, " "), "whether or not the data")
		if strings.Join(got, " ") != want || !a.Receipt.Free || a.Cut || !noted {
			t.Errorf("%s: %v %+v", text, got, a)
		}
		for _, c := range a.Columns {
			if c.Noisy {
				t.Errorf("%s: %+v is not noisy", text, c)
			}
		}
	}
	for _, call := range r.take() {
		if call == "run" || call == "charge" || call == "keep" {
			t.Errorf("it was a %s", call)
		}
	}
	if n := w.records(); n != records {
		t.Errorf("%d records more", n-records)
	}
	// Beside a question they take nothing of its price.
	v := newWorld(t, plenty)
	const beside = "SELECT a.sex, b.n FROM (SELECT DISTINCT sex FROM patients) a JOIN (SELECT sex, COUNT(*) AS n FROM patients " +
		"GROUP BY sex) b ON a.sex = b.sex"
	a, err := v.ask(beside)
	if err != nil || len(a.Rows) != 3 || a.Cost.Epsilon.String() != "0.1" {
		t.Errorf("%+v %v", a, err)
	}
	if again, err := v.ask("SELECT sex, COUNT(*) FROM patients GROUP BY sex"); err != nil || !again.Receipt.Free {
		t.Errorf("the same count was paid for twice: %v", err)
	}
}

// prepare checks and prices a question.
func (c *Curator) prepare(ctx context.Context, q api.Question) (*pricing.Priced, error) {
	statement, s, _, err := c.planner.prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	if statement.Empty {
		return &pricing.Priced{Statement: statement, Settings: s}, nil
	}
	return pricing.Price(c.dataset, statement, s, pricing.Currency{Pure: c.dataset.Budget.Pure()})
}
