package curator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/policy"
)

// replaced is the hospital's patients alone, where somebody is replaced by somebody else.
func replaced(budget string) string {
	text, _, _ := strings.Cut(hospital.Dataset("hospital", "data", budget), "      visits:")
	text = strings.Replace(text, "    unit:", "    neighbours: substitute\n    unit:", 1)
	return strings.Replace(text, "        unique: pid\n", "        unique: pid\n        bad_lines: refuse\n", 1)
}

// How many people there are is exact and free where people are replaced, and nothing is written
// about it; an average pays for its sum alone.
func TestPeopleArePublic(t *testing.T) {
	h := hospital.New(300, 1)
	for _, budget := range []string{plenty, rich} {
		w := build(t, h, replaced(budget), 1)
		for _, text := range []string{"SELECT COUNT(*) FROM patients", "SELECT COUNT(DISTINCT pid) FROM patients",
			"SELECT COUNT(1) FROM patients", "SELECT COUNT(age) FROM patients",
			"SELECT COUNT(*) FROM (SELECT age + 1 AS x FROM patients) AS t"} {
			a := w.mustAsk(text)
			if got := fmt.Sprint(a.Rows); got != fmt.Sprintf("[[%d]]", len(h.Patients)) || !a.Receipt.Free || a.Cost != (dp.Cost{}) ||
				w.records() != 0 || a.Columns[0].Noisy || !contains(strings.Join(a.Notes, "\n"), "300, exactly") || a.Cut {
				t.Errorf("%s: %s, receipt %+v, %d records, columns %+v, notes %q", text, got, a.Receipt, w.records(), a.Columns, a.Notes)
			}
			e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text})
			w.check(err)
			if e.Pay != (dp.Cost{}) || !e.Known || e.Split != "nothing is released: what is public is free" ||
				!contains(strings.Join(e.Free, "\n"), "how many people there are: 300") {
				t.Errorf("%s: explained as %+v", text, e)
			}
		}
		for text, releases := range map[string]int{
			"SELECT AVG(age) FROM patients":                                 1,
			"SELECT COUNT(*), SUM(age), AVG(age) FROM patients":             1,
			"SELECT AVG(age), VAR_POP(age), STDDEV(age) FROM patients":      2,
			"SELECT AVG(cost) FROM patients":                                2, // there may be NULL
			"SELECT AVG(age), COUNT(*) FROM patients WHERE age > 3":         2,
			"SELECT sex, AVG(age) FROM patients GROUP BY sex":               2,
			"SELECT sex, COUNT(*) FROM patients GROUP BY ROLLUP (sex)":      2, // in two questions
			"SELECT COUNT(*) FILTER (WHERE smoker), COUNT(*) FROM patients": 1,
		} {
			e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text})
			w.check(err)
			got := 0
			for _, q := range e.Questions {
				got += len(q.Measures)
			}
			if got != releases {
				t.Errorf("%s: %d releases, and %d were expected", text, got, releases)
			}
		}
		// What is computed of it.
		a := w.mustAsk("SELECT COUNT(*) * 2 AS twice, dp_error(COUNT(*)), dp_low(COUNT(*)), SUM(age) / COUNT(*) " +
			"FROM patients HAVING COUNT(*) = 300")
		if fmt.Sprint(a.Rows[0][:3]) != "[600 0 300]" || a.Columns[0].Noisy || !a.Columns[3].Noisy || a.Errors[0][3] == nil {
			t.Errorf("%v %v", a.Rows, a.Columns)
		}
		if a := w.mustAsk("SELECT COUNT(*) FROM patients HAVING COUNT(*) > 300"); len(a.Rows) != 0 {
			t.Error(a.Rows)
		}
	}
}

// An average has the error of its sum over the number of people: a replaced person moves the sum by
// the width of the bounds.
func TestAverageOfEverybody(t *testing.T) {
	h := hospital.New(300, 1)
	w := build(t, h, replaced(plenty), 7)
	truth := 0.0
	for _, p := range h.Patients {
		truth += float64(p.Age) / float64(len(h.Patients))
	}
	// Before, half of the price went to a count, and this was above twice as much.
	want := math.Sqrt2 * 110 / 300 / 0.5
	p, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: "SELECT AVG(age), VAR_POP(age) FROM patients", Epsilon: amount("1")})
	w.check(err)
	exactly, err := w.data.Run(ctx, query(p))
	w.check(err)
	const n = 4000
	sum, hits, spread := 0.0, 0.0, 0.0
	for range n {
		a := w.release(p, p, exactly)
		x, err := a.Rows[0][0].(json.Number).Float64()
		w.check(err)
		sum += (x - truth) * (x - truth) / n
		if math.Abs(x-truth) <= *a.Errors[0][0]+1e-9 {
			hits += 1.0 / n
		}
		v, err := a.Rows[0][1].(json.Number).Float64()
		w.check(err)
		spread += v / n
	}
	if got := math.Sqrt(sum); math.Abs(got/want-1) > 0.06 {
		t.Errorf("the error of the average is %.4f, and %.4f was expected", got, want)
	}
	if slack := 4 * math.Sqrt(0.95*0.05/n); hits < 0.95-slack || hits > 0.95+2*slack {
		t.Errorf("the error bar holds in %.4f of the answers", hits)
	}
	exact := 0.0
	for _, p := range h.Patients {
		exact += (float64(p.Age) - truth) * (float64(p.Age) - truth) / float64(len(h.Patients))
	}
	if math.Abs(spread/exact-1) > 0.05 {
		t.Errorf("the variance is %.1f on average, and exactly %.1f", spread, exact)
	}
}

// People with many rows are counted once each, and an average of theirs divides by how many there
// are.
func TestPeopleWithManyRows(t *testing.T) {
	text := strings.Replace(replaced(plenty), "        unique: pid\n", "        max_rows: 3\n        max_groups: 2\n", 1)
	w := build(t, hospital.New(300, 1), text, 1)
	if a := w.mustAsk("SELECT COUNT(DISTINCT pid) FROM patients"); fmt.Sprint(a.Rows) != "[[300]]" || w.records() != 0 {
		t.Error(a.Rows)
	}
	if a := w.mustAsk("SELECT COUNT(*) FROM patients"); a.Receipt.Free || !a.Columns[0].Noisy {
		t.Error("how many rows there are is not public")
	}
	e, err := w.Explain(ctx, api.Question{Analyst: "ana",
		SQL: "SELECT AVG(n) FROM (SELECT pid, COUNT(*) AS n FROM patients GROUP BY pid) AS t"})
	w.check(err)
	if len(e.Questions[0].Measures) != 1 {
		t.Errorf("%+v", e.Questions[0].Measures)
	}
}

// The number is of the state of the data, and is counted again when that changes.
func TestPeopleOfAVersion(t *testing.T) {
	w := build(t, hospital.New(300, 1), replaced(plenty), 1)
	w.mustAsk("SELECT COUNT(*) FROM patients")
	w.check(hospital.New(301, 1).Write(filepath.Join(w.dir, "data")))
	data, err := duckdb.Open(ctx, w.dataset)
	w.check(err)
	defer data.Close()
	w.runner.engine = data
	if a := w.mustAsk("SELECT COUNT(*) FROM patients"); fmt.Sprint(a.Rows) != "[[301]]" {
		t.Error(a.Rows)
	}
}

// It is not told where it does not follow from the relation.
func TestPeopleThatArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte("datasets:\n"+replaced(plenty)), 0o600); err != nil {
		t.Fatal(err)
	}
	made, err := policy.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	public := made.Datasets["hospital"]
	for what, edit := range map[string]func(string) string{
		"add-remove":     func(s string) string { return strings.Replace(s, "substitute", "add-remove", 1) },
		"lines left out": func(s string) string { return strings.Replace(s, "        bad_lines: refuse\n", "", 1) },
		"a second table": func(s string) string {
			_, visits, _ := strings.Cut(hospital.Dataset("hospital", "data", plenty), "      visits:")
			return s + "      visits:" + visits
		},
	} {
		w := build(t, hospital.New(300, 1), edit(replaced(plenty)), 1)
		if a := w.mustAsk("SELECT COUNT(*) FROM patients"); a.Receipt.Free || !a.Columns[0].Noisy {
			t.Errorf("%s: how many people there are was told", what)
		}
		if _, err := w.planner.people.count(ctx); !errors.Is(err, engine.ErrPrivate) {
			t.Errorf("%s: %v", what, err)
		}
		// Planted: the query of a policy that makes it public, under this one.
		q := plan.CountPeople(public)
		if err := w.verifier.checks.people(w.dataset, q); err == nil {
			t.Errorf("%s: the second check does not object", what)
		}
		if _, _, err := engine.RunPeople(ctx, w.data, w.dataset, q); !errors.Is(err, engine.ErrPrivate) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
