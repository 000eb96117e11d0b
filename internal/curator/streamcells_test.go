package curator

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan/cells"
	"github.com/discreet-dp/discreet/internal/stream/histogram"
)

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
	w := clinicOf(t, strings.Join(lines, "\n"), fmt.Sprintf(clinicPolicy, "", plenty, 3000, "0.01"), 1)
	g, err := cells.NewGrid(w.dataset, w.dataset.Streams["clinic"])
	w.check(err)
	r, err := w.data.Run(ctx, g.Histogram())
	w.check(err)
	cells, counts := r.Cells(g.Place)
	table, err := histogram.Sparse(g.Domain, cells, counts)
	w.check(err)
	rnd := rand.New(rand.NewPCG(5, 5))
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
	linear, asked := 0, 0
	for range 6000 {
		if linear > 300 {
			break
		}
		text := "SELECT " + agg() + " FROM patients WHERE " + cond(2)
		switch rnd.IntN(5) {
		case 0:
			k := one("sex", "zip", "smoker", "year", "ward", "age / 10", "CASE WHEN "+cond(1)+" THEN 'a' WHEN "+cond(0)+" THEN 'b' END",
				"coalesce("+cond(0)+", true)")
			text = "SELECT " + k + " AS k, " + agg() + " FROM patients WHERE " + cond(2) + " GROUP BY k"
		}
		p, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: text})
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
			w.sameByCells(text, b.Query, terms, table)
		}
	}
	if linear < 300 {
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
		rnd := rand.New(rand.NewPCG(5, 6))
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
		g, err := cells.NewGrid(w.dataset, w.dataset.Streams["clinic"])
		w.check(err)
		r, err := w.data.Run(ctx, g.Histogram())
		w.check(err)
		cells, counts := r.Cells(g.Place)
		table, err := histogram.Sparse(g.Domain, cells, counts)
		w.check(err)
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
		linear := 0
		for range 800 {
			text := "SELECT COUNT(*) FROM patients WHERE " + one("", "NOT ") + "(" + atom() + one(" AND ", " OR ") + one("", "NOT ") +
				atom() + ")"
			if rnd.IntN(4) == 0 {
				k := one("d", "s", "w", "y", "x")
				text = "SELECT " + k + " AS k, COUNT(*), SUM(CASE WHEN " + atom() + " THEN 1 ELSE 0 END) FROM patients WHERE " + atom() +
					" GROUP BY " + k
			}
			p, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: text})
			if err != nil {
				continue
			}
			for _, b := range p.Purchases {
				terms, ok := g.Linear(nil, b.Query)
				if !ok {
					continue
				}
				linear++
				w.sameByCells(text, b.Query, terms, table)
			}
		}
		if linear < 100 {
			t.Errorf("only %d questions were linear", linear)
		}
	}
}
