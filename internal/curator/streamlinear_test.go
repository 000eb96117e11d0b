package curator

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/plan/cells"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/stream/histogram"
	"github.com/discreet-dp/discreet/policy"
)

// clinicPolicy has a stream over columns of every kind.
const clinicPolicy = `datasets:
  hospital:
    engine: duckdb
    source: data
    unit: patients.pid
    %s
    budget: %s
    analysts: {ana: {share: 1}, ben: {share: 0.5}}
    tables:
      patients:
        unique: pid
        columns:
          age:    {type: integer, bounds: [0, 110], nullable: false}
          year:   {type: integer, bounds: [2020, 2023]}
          weight: {type: decimal, bounds: [0, 200], granularity: 0.5}
          sex:    {type: text, keys: [F, M]}
          zip:    {type: text, keys: [A, B, C], nullable: false}
          ward:   {type: integer, keys: [3, 1]}
          smoker: {type: boolean}
          born:   {type: date, bounds: [2024-01-30, 2024-03-02]}
          seen:   {type: timestamp, bounds: [2024-01-01, 2024-01-03], nullable: false}
          cost:   {type: decimal, bounds: [0, 100], granularity: 0.01}
    views:
      women: SELECT age, zip, sex FROM patients WHERE sex = 'F'
    streams:
      clinic:
        table: patients
        columns: {age: {width: 10}, year: , weight: {edges: [50, 80.5]}, sex: , zip: , ward: , smoker: , born: {width: 10}, seen: {width: 24h}}
        size: %d
        alpha: %s
        predictor: weights
`

// clinic writes messy people: values that are not listed, beyond bounds, missing, and not of their
// type.
func clinic(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	one := func(all ...string) string { return all[r.IntN(len(all))] }
	var b strings.Builder
	b.WriteString("pid,age,year,weight,sex,zip,ward,smoker,born,seen,cost\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,%d,%s,%s,%s,%s,%s,%s,%s,%s,%d.25\n", i, r.IntN(130)-10,
			one("2019", "2020", "2021", "2022", "2023", "2050", "", "x"),
			one(fmt.Sprint(float64(r.IntN(500))/2), fmt.Sprint(float64(r.IntN(20000))/100), ""), one("F", "M", "X", "f", "", "Q"),
			one("A", "B", "C", "D"), one("3", "1", "2", "7", "", "-1"),
			one("true", "false", ""), one("2024-02-01", "2024-02-09", "2024-02-10", "2024-03-02", "2030-01-01", ""),
			one("2024-01-01 00:00:00", "2024-01-01 23:59:59.999999", "2024-01-02 00:00:00", "2024-01-02 12:00:00", "2024-01-03 00:00:00"),
			r.IntN(120))
	}
	return b.String()
}

// newClinic is a world of such people.
func newClinic(t testing.TB, n int, neighbours, budget, alpha string) *world {
	t.Helper()
	return clinicOf(t, clinic(n, 7), fmt.Sprintf(clinicPolicy, neighbours, budget, n, alpha), 1)
}

func clinicOf(t testing.TB, people, text string, seed byte) *world {
	t.Helper()
	w := &world{t: t, dir: inMemory(t)}
	w.check(os.MkdirAll(filepath.Join(w.dir, "data"), 0o755))
	w.check(os.WriteFile(filepath.Join(w.dir, "data", "patients.csv"), []byte(people), 0o600))
	path := filepath.Join(w.dir, "policy.yaml")
	w.check(os.WriteFile(path, []byte(text), 0o600))
	p, err := policy.Load(path)
	w.check(err)
	w.dataset = p.Datasets["hospital"]
	w.data, err = duckdb.Open(ctx, w.dataset)
	w.check(err)
	t.Cleanup(func() { w.data.Close() })
	w.openBooks()
	w.Curator = New(w.dataset, w.data, w.books, seeded(seed))
	return w
}

// Questions that are functions of the cells.
var linearQuestions = []string{
	"SELECT COUNT(*) FROM patients",
	"SELECT COUNT(sex) FROM patients",
	"SELECT COUNT(*) FROM patients WHERE sex = 'F'",
	"SELECT COUNT(*) FROM patients WHERE sex <> 'F'",
	"SELECT COUNT(*) FROM patients WHERE NOT (sex = 'F' OR zip = 'A')",
	"SELECT COUNT(*) FROM patients WHERE sex IS NULL",
	"SELECT COUNT(*) FROM patients WHERE sex IS DISTINCT FROM 'M'",
	"SELECT COUNT(*) FROM patients WHERE sex IN ('F', 'M') AND age < 50",
	"SELECT COUNT(*) FROM patients WHERE sex NOT IN ('F', 'M')",
	"SELECT COUNT(*) FROM patients WHERE age >= 30 AND age < 60 AND zip = 'B'",
	"SELECT COUNT(*) FROM patients WHERE age BETWEEN 30 AND 59",
	"SELECT COUNT(*) FROM patients WHERE age > 29.5",
	"SELECT COUNT(*) FROM patients WHERE age / 10 = 3",
	"SELECT COUNT(*) FROM patients WHERE age = 110",
	"SELECT COUNT(*) FROM patients WHERE age < 0 OR age >= 110",
	"SELECT COUNT(*) FROM patients WHERE year = 2021",
	"SELECT COUNT(*) FROM patients WHERE year > 2021 OR year IS NULL",
	"SELECT COUNT(*) FROM patients WHERE year % 2 = 1",
	"SELECT COUNT(*) FROM patients WHERE weight < 50",
	"SELECT COUNT(*) FROM patients WHERE weight >= 80.5 AND ward = 3",
	"SELECT COUNT(*) FROM patients WHERE weight > 80.25",
	"SELECT COUNT(*) FROM patients WHERE ward <> 3",
	"SELECT COUNT(*) FROM patients WHERE ward IN (1, 3)",
	"SELECT COUNT(*) FROM patients WHERE smoker",
	"SELECT COUNT(*) FROM patients WHERE smoker IS NOT TRUE",
	"SELECT COUNT(*) FROM patients WHERE NOT smoker",
	"SELECT COUNT(*) FROM patients WHERE born < '2024-02-09'",
	"SELECT COUNT(*) FROM patients WHERE born >= DATE '2024-02-09' AND born < DATE '2024-02-29'",
	"SELECT COUNT(*) FROM patients WHERE seen < TIMESTAMP '2024-01-02 00:00:00'",
	"SELECT COUNT(*) FROM patients WHERE seen >= TIMESTAMP '2024-01-02 00:00:00' AND sex = 'M'",
	"SELECT COUNT(*) FILTER (WHERE sex = 'F' AND zip = 'A' AND age < 50), COUNT(*) FROM patients",
	"SELECT SUM(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) FROM patients WHERE zip <> 'A'",
	"SELECT AVG(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) FROM patients",
	"SELECT AVG(CASE WHEN sex = 'F' THEN 1.0 ELSE 0 END), COUNT(*) FROM patients WHERE age < 20",
	"SELECT AVG(CASE WHEN sex = 'F' OR smoker THEN 100 ELSE 0 END) FROM patients",
	"SELECT AVG(CASE WHEN smoker THEN 0 ELSE -1 END) FROM patients",
	"SELECT SUM(CASE WHEN sex = 'F' THEN 3 WHEN sex = 'M' THEN -2 END) FROM patients",
	"SELECT SUM(CAST(smoker AS integer)) FROM patients",
	"SELECT sex, COUNT(*) FROM patients GROUP BY sex",
	"SELECT sex, zip, COUNT(*), AVG(CASE WHEN smoker THEN 1 ELSE 0 END) FROM patients WHERE age < 70 GROUP BY sex, zip",
	"SELECT year, COUNT(*) FROM patients GROUP BY year",
	"SELECT age / 10, COUNT(*) FROM patients GROUP BY 1",
	"SELECT CASE WHEN age < 50 THEN 'young' ELSE 'old' END AS k, smoker, COUNT(*) FROM patients GROUP BY k, smoker",
	"SELECT CASE WHEN sex = 'F' AND age < 50 THEN 'a' WHEN zip = 'A' THEN 'b' END AS k, COUNT(*) FROM patients GROUP BY k",
	"SELECT coalesce(sex = 'F', false) AS k, COUNT(*) FROM patients GROUP BY k",
	"SELECT COUNT(*) FROM (SELECT age AS a, sex = 'F' AS f FROM patients WHERE zip = 'A') AS t WHERE f AND a < 40",
	"SELECT COUNT(*) FROM women WHERE age < 40",
	"WITH t AS (SELECT CASE WHEN smoker THEN 1 ELSE 0 END AS s, sex FROM patients) SELECT SUM(s), COUNT(s) FROM t WHERE sex = 'M'",
	"SELECT VAR_POP(CASE WHEN smoker THEN 1 ELSE 0 END) FROM patients",
}

// Questions that tell people of one cell apart, or are about something else.
var otherQuestions = []string{
	"SELECT COUNT(*) FROM patients WHERE age > 30",
	"SELECT COUNT(*) FROM patients WHERE age = 30",
	"SELECT COUNT(*) FROM patients WHERE age = 35",
	"SELECT COUNT(*) FROM patients WHERE age NOT IN (33, 34)",
	"SELECT COUNT(*) FROM patients WHERE weight = 60.5",
	"SELECT COUNT(*) FROM patients WHERE born <> '2024-02-12'",
	"SELECT COUNT(*) FROM patients WHERE seen = TIMESTAMP '2024-01-01 12:00:00'",
	"SELECT COUNT(*) FROM patients WHERE age % 2 = 0",
	"SELECT COUNT(*) FROM patients WHERE weight < 50.5",
	"SELECT COUNT(*) FROM patients WHERE weight > 80.75",
	"SELECT COUNT(*) FROM patients WHERE sex = 'X'",
	"SELECT COUNT(*) FROM patients WHERE sex <> 'X'",
	"SELECT COUNT(*) FROM patients WHERE sex < 'G'",
	"SELECT COUNT(*) FROM patients WHERE sex LIKE 'F%'",
	"SELECT COUNT(*) FROM patients WHERE lower(sex) = 'f'",
	"SELECT COUNT(*) FROM patients WHERE ward = 2",
	"SELECT COUNT(*) FROM patients WHERE ward > 1",
	"SELECT COUNT(*) FROM patients WHERE born <= '2024-02-09'",
	"SELECT COUNT(*) FROM patients WHERE seen <= TIMESTAMP '2024-01-02 00:00:00'",
	"SELECT COUNT(*) FROM patients WHERE extract(hour FROM seen) = 3",
	"SELECT COUNT(*) FROM patients WHERE cost < 50",
	"SELECT COUNT(*) FROM patients WHERE sex = 'F' AND cost < 50",
	"SELECT COUNT(DISTINCT pid) FROM patients",
	"SELECT COUNT(DISTINCT sex) FROM patients",
	"SELECT SUM(age) FROM patients",
	"SELECT AVG(year) FROM patients",
	"SELECT MEDIAN(age) FROM patients",
	"SELECT age, COUNT(*) FROM patients GROUP BY age",
	"SELECT sex FROM patients GROUP BY sex ORDER BY COUNT(*) DESC LIMIT 1",
	"SELECT sex, COUNT(*) FROM patients WHERE sex IN ('F', 'Q') GROUP BY sex",
	"SELECT COUNT(*) FROM patients WHERE sqrt(age) < 5",
}

// The stream's cells, as the engine counts them, give every linear question the number that the
// engine gives it itself.
func TestLinearQuestionsAreExact(t *testing.T) {
	for _, neighbours := range []string{"", "neighbours: substitute"} {
		w := newClinic(t, 3000, neighbours, plenty, "0.01")
		g, err := cells.NewGrid(w.dataset, w.dataset.Streams["clinic"])
		w.check(err)
		r, err := w.data.Run(ctx, g.Histogram())
		w.check(err)
		cells, counts := r.Cells(g.Place)
		table, err := histogram.Sparse(g.Domain, cells, counts)
		w.check(err)
		placed := int64(0)
		for _, n := range counts.Open() {
			placed += n
		}
		if placed != 3000 {
			t.Fatalf("%d people are in cells", placed)
		}
		for _, text := range linearQuestions {
			p, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: text})
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			for _, b := range p.Purchases {
				terms, ok := g.Linear(nil, b.Query)
				if !ok {
					t.Errorf("%s: not seen as linear", text)
					continue
				}
				w.sameByCells(text, b.Query, terms, table)
			}
		}
		for _, text := range otherQuestions {
			p, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: text})
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			for _, b := range p.Purchases {
				if _, ok := g.Linear(nil, b.Query); ok {
					t.Errorf("%s: seen as linear", text)
				}
			}
		}
	}
}

// sameByCells compares what a question's cells add up to with what the engine says.
func (w *world) sameByCells(text string, q *tree.Query, terms [][][]cells.Term, table *histogram.Table) {
	w.t.Helper()
	exactly, err := w.data.Run(ctx, q)
	w.check(err)
	for m, groups := range terms {
		for i, all := range groups {
			var sum int64
			for _, x := range all {
				sum += x.Weight * table.Answer(x.Query).Open()[0]
			}
			if want := exactly.Measures[m].Open()[i]; sum != want {
				w.t.Errorf("%s: measure %d of group %d is %d by cells, and %d", text, m, i, sum, want)
			}
		}
	}
}
