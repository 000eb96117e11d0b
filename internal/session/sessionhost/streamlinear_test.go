package sessionhost_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/histogram"
	"github.com/discreet-dp/discreet/internal/planner/cells"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/internal/test/daily"
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
func newClinic(t testing.TB, n int, neighbours, budget, alpha string) *curatortest.World {
	t.Helper()
	return clinicOf(t, clinic(n, 7), fmt.Sprintf(clinicPolicy, neighbours, budget, n, alpha), 1)
}

func clinicOf(t testing.TB, people, text string, seed byte) *curatortest.World {
	t.Helper()
	dir := curatortest.MemoryDir(t)
	curatortest.Check(t, os.MkdirAll(filepath.Join(dir, "data"), 0o755))
	curatortest.Check(t, os.WriteFile(filepath.Join(dir, "data", "patients.csv"), []byte(people), 0o600))
	return curatortest.Open(t, dir, text, seed, duckdb.Limits{})
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
		w := newClinic(t, 3000, neighbours, curatortest.Plenty, "0.01")
		g, err := cells.NewGrid(w.Dataset, w.Dataset.Streams["clinic"])
		w.Check(err)
		r, err := w.Data.Run(ctx, g.Histogram())
		w.Check(err)
		cells, counts := r.Cells(g.Place)
		table, err := histogram.Sparse(g.Domain, cells, counts)
		w.Check(err)
		placed := int64(0)
		for _, n := range counts.Open() {
			placed += n
		}
		if placed != 3000 {
			t.Fatalf("%d people are in cells", placed)
		}
		for _, text := range linearQuestions {
			p, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: text})
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
				sameByCells(w, text, b.Query, terms, table)
			}
		}
		for _, text := range otherQuestions {
			p, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: text})
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
func sameByCells(w *curatortest.World, text string, q *tree.Query, terms [][][]cells.Term, table *histogram.Table) {
	w.T.Helper()
	exactly, err := w.Data.Run(ctx, q)
	w.Check(err)
	for m, groups := range terms {
		for i, all := range groups {
			var sum int64
			for _, x := range all {
				sum += x.Weight * table.Answer(x.Query).Open()[0]
			}
			if want := exactly.Measures[m].Open()[i]; sum != want {
				w.T.Errorf("%s: measure %d of group %d is %d by cells, and %d", text, m, i, sum, want)
			}
		}
	}
}

// Random conditions, on messy people with rows that are nobody's.
func TestCellsRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing of it runs at once")
	}
	people := clinic(3000, 11)
	lines := strings.Split(people, "\n")
	for i := 1; i < 200; i++ {
		_, rest, _ := strings.Cut(lines[i], ",")
		lines[i] = "," + rest
	}
	w := clinicOf(t, strings.Join(lines, "\n"), fmt.Sprintf(clinicPolicy, "", curatortest.Plenty, 3000, "0.01"), 1)
	g, err := cells.NewGrid(w.Dataset, w.Dataset.Streams["clinic"])
	w.Check(err)
	r, err := w.Data.Run(ctx, g.Histogram())
	w.Check(err)
	cells, counts := r.Cells(g.Place)
	table, err := histogram.Sparse(g.Domain, cells, counts)
	w.Check(err)
	rnd := rand.New(rand.NewPCG(5, uint64(daily.Turn(1000)))) // others every day
	one := func(all ...string) string { return all[rnd.IntN(len(all))] }
	num := func() string {
		return one("0", "10", "30", "29.5", "50", "60", "110", "109", "111", "-1", "2021", "2020", "2019", "2024", "3", "1", "80.5",
			"80.25", "50.0", "0.5", "NULL")
	}
	op := func() string { return one("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM") }
	col := func() string { return one("age", "year", "weight", "ward") }
	var cond func(d int) string
	value := func() string {
		return one(col(), col()+" / 10", "-"+col(), "abs("+col()+")", "coalesce("+col()+", 0)",
			"CASE WHEN smoker THEN "+num()+" ELSE "+col()+" END", "greatest("+col()+", "+num()+")", "year + ward",
			"nullif("+col()+", "+num()+")", "CAST(smoker AS integer)", "extract(year FROM born)", "extract(month FROM born)",
			"round(weight)", "floor(weight/10)", "year % 2", "length(zip)")
	}
	cond = func(d int) string {
		if d > 0 {
			switch rnd.IntN(6) {
			case 0:
				return "(" + cond(d-1) + " AND " + cond(d-1) + ")"
			case 1:
				return "(" + cond(d-1) + " OR " + cond(d-1) + ")"
			case 2:
				return "NOT (" + cond(d-1) + ")"
			case 3:
				return "(" + cond(d-1) + ") IS " + one("TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "UNKNOWN", "NOT UNKNOWN")
			case 4:
				return "coalesce(" + cond(d-1) + ", " + one("true", "false") + ")"
			}
		}
		switch rnd.IntN(9) {
		case 0, 1:
			return col() + " " + op() + " " + num()
		case 2:
			return value() + " " + op() + " " + num()
		case 3:
			return one("sex", "zip") + " " + one("=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM") + " " +
				one("'F'", "'M'", "'A'", "'B'", "'X'", "NULL", "' F'", "''")
		case 4:
			return one("sex", "zip") + one(" IN ", " NOT IN ") + "(" +
				one("'F'", "'A'", "'F', 'M'", "'A', 'C'", "'F', NULL", "'A','B','C','D'") + ")"
		case 5:
			return one("smoker", "NOT smoker", "smoker IS NULL", "smoker = (sex = 'F')", "smoker <> (zip = 'A')")
		case 6:
			return "born " + op() + " DATE '" + one("2024-01-30", "2024-02-09", "2024-02-08", "2024-02-19", "2024-02-29", "2024-03-02",
				"2024-03-03", "2020-01-01") + "'"
		case 7:
			return "seen " + op() + " TIMESTAMP '" +
				one("2024-01-01", "2024-01-02", "2024-01-01 23:59:59.999999", "2024-01-03", "2024-01-04") + "'"
		}
		return col() + one(" IS NULL", " IS NOT NULL", " BETWEEN "+num()+" AND "+num(), " IN ("+num()+", "+num()+")",
			" NOT IN ("+num()+", "+num()+")")
	}
	agg := func() string {
		return one("COUNT(*)", "COUNT(*)", "COUNT(sex)", "COUNT(DISTINCT pid)", "SUM(CASE WHEN "+cond(1)+" THEN 1 ELSE 0 END)",
			"COUNT(*) FILTER (WHERE "+cond(1)+")", "AVG(CASE WHEN "+cond(1)+" THEN 1 WHEN smoker THEN 0 END)",
			"SUM(CASE WHEN "+cond(0)+" THEN 2.5 WHEN "+cond(0)+" THEN -1 END)", "COUNT(CASE WHEN "+cond(0)+" THEN year END)",
			"SUM(CAST(smoker AS integer)) FILTER (WHERE "+cond(0)+")")
	}
	linear, asked, enough := 0, 0, daily.Rounds(150, 3000)
	for range 20 * enough {
		if linear > enough {
			break
		}
		text := "SELECT " + agg() + " FROM patients WHERE " + cond(2)
		switch rnd.IntN(5) {
		case 0:
			k := one("sex", "zip", "smoker", "year", "ward", "age / 10", "CASE WHEN "+cond(1)+" THEN 'a' WHEN "+cond(0)+" THEN 'b' END",
				"coalesce("+cond(0)+", true)")
			text = "SELECT " + k + " AS k, " + agg() + " FROM patients WHERE " + cond(2) + " GROUP BY k"
		}
		p, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: text})
		if err != nil {
			continue
		}
		asked++
		for _, b := range p.Purchases {
			terms, ok := g.Linear(nil, b.Query)
			if !ok {
				continue
			}
			linear++
			sameByCells(w, text, b.Query, terms, table)
		}
	}
	if linear < enough {
		t.Errorf("only %d of %d questions were linear", linear, asked)
	}
}

const keyedPolicy = `datasets:
  hospital:
    engine: duckdb
    source: data
    unit: %s
    budget: {epsilon: 100, per_query: {default: 0.1, max: 1}}
    analysts: {ana: {share: 1}}
    tables:
      patients:
        %s
        columns:
          d: {type: date, keys: [2024-01-30, 2024-02-09]}
          s: {type: timestamp, keys: ["2024-01-01 00:00:00", "2024-01-02 00:00:00"]}
          w: {type: integer, keys: [50, -1, 3], bounds: [-10, 60]}
          y: {type: integer, keys: [2020, 2021, 2022, 2023], bounds: [2020, 2023]}
          x: {type: text, keys: [F, "f ", "ä", null]}
          n: {type: integer, bounds: [-7, 8], nullable: false}
          e: {type: decimal, bounds: [-1, 1], granularity: 0.25}
    streams:
      clinic:
        table: patients
        columns: {d: , s: , w: , y: , x: , n: {width: 4}, e: {edges: [-0.5, 0.25]}}
        size: 3000
        alpha: 0.01
`

func TestCellsKeyed(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing of it runs at once")
	}
	for _, unit := range [][2]string{{"patients.pid", "unique: pid"}, {"row", "max_rows: 1"}} {
		rnd := rand.New(rand.NewPCG(6, uint64(daily.Turn(1000)))) // others every day
		one := func(all ...string) string { return all[rnd.IntN(len(all))] }
		var b strings.Builder
		b.WriteString("pid,d,s,w,y,x,n,e\n")
		for i := range 3000 {
			fmt.Fprintf(&b, "%d,%s,%s,%s,%s,%s,%d,%s\n", i, one("2024-01-30", "2024-02-09", "2024-02-10", "", "x"),
				one("2024-01-01 00:00:00", "2024-01-02 00:00:00", "2024-01-02 00:00:01", ""),
				one("50", "51", "-1", "-1.1", "3", "3.2", "3.3", "100", "", "-50"),
				one("2019", "2020", "2021", "2022.4", "2023", "2030", ""), one("F", "f ", "f", "ä", "Ä", "", "q"), rnd.IntN(30)-15,
				one("-1", "-0.5", "-0.6", "-0.75", "0.25", "0.2", "0.1", "0.125", "-0.625", "1", "7", ""))
		}
		text := fmt.Sprintf(keyedPolicy, unit[0], unit[1])
		if unit[0] == "row" {
			text = strings.Replace(text, "        max_rows: 1\n", "", 1)
		}
		w := clinicOf(t, b.String(), text, 1)
		g, err := cells.NewGrid(w.Dataset, w.Dataset.Streams["clinic"])
		w.Check(err)
		r, err := w.Data.Run(ctx, g.Histogram())
		w.Check(err)
		cells, counts := r.Cells(g.Place)
		table, err := histogram.Sparse(g.Domain, cells, counts)
		w.Check(err)
		atom := func() string {
			switch rnd.IntN(8) {
			case 0:
				return "d " + one("=", "<>", "IS DISTINCT FROM", "<") + " DATE '" + one("2024-01-30", "2024-02-09", "2024-02-10") + "'"
			case 1:
				return "s " + one("=", "<>", "IS DISTINCT FROM", ">=") + " TIMESTAMP '" + one("2024-01-01", "2024-01-02", "2024-01-03") +
					"'"
			case 2:
				return "w " + one("=", "<>", "IS DISTINCT FROM", "<=") + one("50.5", "50", "-1", "3", "3.0", "3.1", "60", "100")
			case 3:
				return "y " + one("=", "<>", "<", ">=") + one("2019", "2020", "2021", "2023", "2024", "2021.5")
			case 4:
				return "x " + one("=", "<>", "IS DISTINCT FROM") + one("'F'", "'f '", "'f'", "'ä'")
			case 5:
				return "n " + one("=", "<>", "<", ">=", ">", "<=") + one("-7", "-3", "-4", "1", "0", "5", "4", "8", "9", "-8", "4.5")
			case 6:
				return "e " + one("=", "<>", "<", ">=", ">", "<=") +
					one("-1", "-0.5", "-0.75", "-0.6", "0.25", "0.2", "0", "1", "2", "-0.51")
			}
			return one("d", "s", "w", "y", "x", "e") + one(" IS NULL", " IS NOT NULL")
		}
		linear, n := 0, daily.Rounds(400, 8000)
		for range n {
			text := "SELECT COUNT(*) FROM patients WHERE " + one("", "NOT ") + "(" + atom() + one(" AND ", " OR ") + one("", "NOT ") +
				atom() + ")"
			if rnd.IntN(4) == 0 {
				k := one("d", "s", "w", "y", "x")
				text = "SELECT " + k + " AS k, COUNT(*), SUM(CASE WHEN " + atom() + " THEN 1 ELSE 0 END) FROM patients WHERE " + atom() +
					" GROUP BY " + k
			}
			p, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: text})
			if err != nil {
				continue
			}
			for _, b := range p.Purchases {
				terms, ok := g.Linear(nil, b.Query)
				if !ok {
					continue
				}
				linear++
				sameByCells(w, text, b.Query, terms, table)
			}
		}
		if linear < n/8 {
			t.Errorf("only %d questions were linear", linear)
		}
	}
}
