package duckdb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/test/generate"
	memory "github.com/discreet-dp/discreet/internal/test/reference"
)

func training(t testing.TB, e *Engine, features, target string) *tree.Table {
	t.Helper()
	table, err := planner.PrepareTable(e.dataset, features, target, planner.Options{Public: engine.PublicTables(t.Context(), e)})
	if err != nil {
		t.Fatalf("%s => %s: %v", features, target, err)
	}
	return table
}

// rowsOf collects rows, spelled, with - for NULL.
func rowsOf(fetch func(engine.Collector) error) ([]string, error) {
	var out []string
	err := fetch(sealed.NewCollector(func(codes []int64) {
		out = append(out, strings.ReplaceAll(strings.Trim(fmt.Sprint(codes), "[]"), fmt.Sprint(int64(engine.Null)), "-"))
	}))
	slices.Sort(out)
	return out, err
}

func fetchRows(t testing.TB, e *Engine, features, target string) []string {
	t.Helper()
	table := training(t, e, features, target)
	out, err := rowsOf(func(into engine.Collector) error {
		_, err := e.Fetch(t.Context(), table, into)
		return err
	})
	if err != nil {
		f := e.now.newFetch(table)
		defer f.close()
		t.Fatalf("%s: %v in %s", features, err, f.query.From)
	}
	return out
}

// TestFetchValues: what a value's code is, whatever is stored.
func TestFetchValues(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"),
		`CREATE TABLE t (n INTEGER, s VARCHAR COLLATE NOCASE, e ENUM ('a', 'b', 'q'), i HUGEINT, x DOUBLE, b BOOLEAN, d DATE, m `+
			`TIMESTAMP, k INTEGER)`,
		`INSERT INTO t VALUES
			(1, 'a', 'a', 5, 0.5, true, '2024-01-02', '2024-01-01 00:00:01', 7),
			(2, 'A', 'b', 99999999999999, 1e300, false, '1900-01-01', '1900-01-01', 3),
			(3, 'a ', 'q', -5, 'nan', NULL, 'infinity', 'infinity', 4),
			(4, ' a', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
			(5, '', 'a', 100, -0.04, true, '9999-12-31', '9999-12-31', 900000000),
			(6, NULL, 'a', 101, 0.25, true, '2024-01-31', '2024-01-01 00:00:02', 7),
			(7, 'a text of more than twelve bytes', 'a', 0, 0.35, true, '2024-01-01', '2024-01-01', 7),
			(8, 'a text of more than twelve bytes ', 'a', 0, 9, true, '2024-01-01', '2024-01-01', 7),
			(9, 'a' || chr(0), 'a', 0, 9, true, '2024-01-01', '2024-01-01', 7)`)
	e := open(t, dataset(t, folder, `
source: d.duckdb
unit: row
tables:
  t:
    columns:
      n: {type: integer, bounds: [1, 9]}
      s: {type: text, keys: ["", "a", "A", "a text of more than twelve bytes", null]}
      e: {type: text, keys: [b, a]}
      i: {type: integer, bounds: [0, 100]}
      x: {type: decimal, bounds: [0, 1], granularity: 0.1}
      b: {type: boolean}
      d: {type: date, bounds: [2024-01-01, 2024-01-31]}
      m: {type: timestamp, bounds: [2024-01-01, 2024-01-02]}
      k: {type: integer, keys: [7, 3, 900000000]}
`))
	const first = 19723 // days to 2024-01-01
	const micros = int64(first) * 24 * 60 * 60 * 1e6
	for _, c := range []struct {
		column string
		want   []string // by n
	}{
		{"s", []string{"1", "2", "-1", "-1", "0", "-", "3", "-1", "-1"}},
		{"e", []string{"1", "0", "-1", "-", "1", "1", "1", "1", "1"}},
		{"i", []string{"5", "100", "0", "-", "100", "100", "0", "0", "0"}},
		{"x", []string{"5", "-", "-", "-", "0", "2", "4", "10", "10"}},
		{"b", []string{"1", "0", "-", "-", "1", "1", "1", "1", "1"}},
		{"NOT b", []string{"0", "1", "-", "-", "0", "0", "0", "0", "0"}},
		{"d", []string{fmt.Sprint(first + 1), fmt.Sprint(first), "-", "-", fmt.Sprint(first + 30), fmt.Sprint(first + 30),
			fmt.Sprint(first), fmt.Sprint(first), fmt.Sprint(first)}},
		{"m", []string{fmt.Sprint(micros + 1e6), fmt.Sprint(micros), "-", "-", fmt.Sprint(micros + 24*60*60*1e6),
			fmt.Sprint(micros + 2e6), fmt.Sprint(micros), fmt.Sprint(micros), fmt.Sprint(micros)}},
		{"k", []string{"0", "1", "-1", "-", "2", "0", "0", "0", "0"}},
		{"i > 50", []string{"0", "1", "0", "-", "1", "1", "0", "0", "0"}},
		{"coalesce(b, false)", []string{"1", "0", "0", "0", "1", "1", "1", "1", "1"}},
		{"CASE WHEN i > 50 THEN 'big' WHEN i >= 0 THEN 'small' END", []string{"1", "0", "1", "-", "0", "0", "1", "1", "1"}},
		{"upper(e)", []string{"0", "1", "-1", "-", "0", "0", "0", "0", "0"}},
	} {
		got := fetchRows(t, e, "SELECT n FROM t", c.column+" AS y")
		for i, want := range c.want {
			if want = fmt.Sprint(i+1, " ", want); i < len(got) && got[i] != want {
				t.Errorf("%s: %s, want %s", c.column, got[i], want)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %d rows", c.column, len(got))
		}
	}
}

// TestFetchShop fetches tables that can be found by hand, from all kinds of files.
func TestFetchShop(t *testing.T) {
	for _, kind := range []string{"csv", "parquet", "duckdb"} {
		folder := t.TempDir()
		e := open(t, shopDataset(t, folder, storeShop(t, folder, kind, nil, nil), "substitute", 10, 10))
		for _, c := range []struct{ features, target, want string }{
			// Where everybody has one row, one without a name is one of its own.
			{"SELECT age FROM customers", "region", "20 1|30 0|40 0|50 1|70 0"},
			// Rows of nobody are left out, and those of somebody who is in no other table are not.
			{"SELECT code, amount FROM orders", "amount > 4", "3 1 0|4 1 0|50 3 1|5 1 1|7 2 1|9 2 1"},
			{"SELECT o.amount, c.age FROM orders o JOIN customers c ON o.cust = c.cid WHERE c.age < 60", "c.region",
				"30 5 0|30 7 0|30 9 0|50 3 1"},
			{"SELECT o.amount, c.age FROM orders o LEFT JOIN customers c ON o.cust = c.cid", "c.region",
				"- 4 -|30 5 0|30 7 0|30 9 0|50 3 1|70 50 0"},
			{"SELECT o.code, i.qty FROM orders o JOIN items i ON o.oid = i.order_id", "i.qty > 2 AS many", "1 1 0|1 2 0|1 4 1|2 3 1|3 5 1"},
			{"SELECT w FROM parts", "w > 1", "1 0|2 1|3 1"},
			{"SELECT o.amount, p.label FROM orders o JOIN products p ON o.code = p.code", "o.amount > 4 AS y",
				"3 2 0|4 2 0|5 2 1|50 1 1|7 0 1|9 0 1"},
			{"SELECT c.age, coalesce(n, 0) AS n FROM customers c LEFT JOIN (SELECT cust, COUNT(*) AS n FROM orders GROUP BY cust) AS x " +
				"ON x.cust = c.cid", "region", "20 0 1|30 3 0|40 0 0|50 1 1|70 1 0"},
			{"SELECT age, (SELECT SUM(amount) FROM orders o WHERE o.cust = c.cid) AS paid FROM customers c",
				"EXISTS (SELECT 1 FROM orders o WHERE o.cust = c.cid AND o.code = 2) AS y", "20 - 0|30 21 1|40 - 0|50 3 0|70 50 0"},
			{"SELECT x FROM (SELECT amount AS x, 1 AS kind FROM orders UNION ALL SELECT qty, 2 FROM items) AS u", "kind = 1",
				"1 0|2 0|3 0|3 1|4 0|4 1|5 0|5 1|50 1|7 1|9 1"},
		} {
			want := strings.Split(c.want, "|")
			slices.Sort(want)
			if got := fetchRows(t, e, c.features, c.target); !slices.Equal(got, want) {
				t.Errorf("%s, %s => %s: %s, want %s", kind, c.features, c.target, strings.Join(got, "|"), strings.Join(want, "|"))
			}
		}
	}
}

// shopTables are tables with people who have many rows, and one with people who have one.
var shopTables = [][2]string{
	{"SELECT code, amount FROM orders", "amount > 1 AS y"},
	{"SELECT o.amount, o.code, i.qty FROM orders o JOIN items i ON o.oid = i.order_id", "i.qty > 2 AS y"},
	{"SELECT o.amount, t.tag FROM orders o JOIN tags t ON o.code = t.code", "o.amount > 1 AS y"},
	{"SELECT w FROM parts", "w > 1 AS y"},
	{"SELECT o.amount, p.w, i.qty FROM orders o JOIN items i ON o.oid = i.order_id JOIN parts p ON p.item = i.iid WHERE o.amount >= 0",
		"p.w > 0 AS y"},
	{"SELECT amount, CASE WHEN shop = 'x' THEN 'x' WHEN shop = 'y' THEN 'y' ELSE 'other' END AS s FROM orders", "code"},
	{"SELECT age FROM customers", "region"},
	{"SELECT x FROM (SELECT amount AS x FROM orders UNION ALL SELECT qty FROM items) AS u", "x > 1 AS y"},
}

// farFetched says how neighbours are farther apart than a person's rows, or nothing.
func (f family) farFetched(t testing.TB, features, target string, mutate func(string) string) string {
	table := training(t, f.with, features, target)
	var rows [3][]string
	for i, e := range []*Engine{f.without, f.with, f.replaced} {
		fetch := e.now.newFetch(table)
		defer fetch.close()
		fetch.query.From = mutate(fetch.query.From)
		var err error
		if rows[i], err = rowsOf(func(into engine.Collector) error { return e.now.fetch(t.Context(), fetch, into) }); err != nil {
			return "it does not run"
		}
	}
	most := int(table.MaxRows())
	for _, i := range []int{1, 2} {
		if came, went := different(rows[0], rows[i]); came > most || went > 0 {
			return fmt.Sprintf("somebody came: %d rows came and %d went, of at most %d", came, went, most)
		}
	}
	if came, went := different(rows[1], rows[2]); came > most || went > most {
		return fmt.Sprintf("somebody was replaced: %d rows came and %d went, of at most %d", came, went, most)
	}
	return ""
}

// different counts rows that came and that went.
func different(a, b []string) (came, went int) {
	n := map[string]int{}
	for _, x := range a {
		n[x]--
	}
	for _, x := range b {
		n[x]++
	}
	for _, k := range n {
		came, went = came+max(0, k), went+max(0, -k)
	}
	return came, went
}

// TestFetchNeighbours: nobody, whatever they have in however many tables, is in a table with more
// rows than MaxRows, and nobody else's rows change.
func TestFetchNeighbours(t *testing.T) {
	for _, seed := range seeds(t, 1, 6) {
		f := shops(t, seed)
		for _, c := range shopTables {
			if far := f.farFetched(t, c[0], c[1], unchanged); far != "" {
				t.Errorf("%s => %s: %s", c[0], c[1], far)
			}
		}
		f.close()
	}
}

// TestPlantedFetch shows that the comparison finds engines that cut wrongly.
func TestPlantedFetch(t *testing.T) {
	var opened []family // by their seeds
	whole := t
	defer func() {
		for _, f := range opened {
			f.close()
		}
	}()
	replace := func(old, new string) func(string) string {
		return func(text string) string { return regexp.MustCompile(old).ReplaceAllString(text, new) }
	}
	for name, mutate := range map[string]func(string) string{
		"rows are not cut":          replace(` i <= \d+`, " true"),
		"one row too many":          replace(` i <= (\d+)`, " i <= $1 + 1"),
		"everybody is cut together": replace(`PARTITION BY u `, ""),
		"rows are cut before the join": func(text string) string {
			return replace(` i <= \d+`, " true")(strings.ReplaceAll(text, `FROM "csv orders"`,
				`FROM (SELECT * FROM "csv orders" QUALIFY row_number() OVER (PARTITION BY cust ORDER BY oid) <= 1)`))
		},
		"what is kept depends on others": replace(`hash\(CAST\(\$(\d+) AS VARCHAR\), u, `,
			`hash(CAST($$$1 AS VARCHAR), u, (SELECT count(*) FROM "csv orders"), `),
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(12) {
				if int(seed) == len(opened) {
					opened = append(opened, shops(whole, seed))
				}
				f := opened[seed]
				for _, c := range shopTables {
					if far := f.farFetched(t, c[0], c[1], mutate); far != "" && far != "it does not run" {
						t.Logf("found by %s: %s", c[0], far)
						return
					}
				}
			}
			t.Error("not found")
		})
	}
}

// TestFetchRowUnit: where every row is a person, a join with a public table makes several rows of
// one, which are cut, and which are kept does not depend on how many rows come before.
func TestFetchRowUnit(t *testing.T) {
	const keys = `
source: .
unit: row
tables:
  visits: {columns: {code: {type: integer, bounds: [0, 9]}}}
  tags: {public: true, max_rows: 2, columns: {code: {type: integer}, tag: {type: text, nullable: false}}}
`
	results, planted := map[string]bool{}, map[string]bool{}
	for before := range 6 {
		folder := t.TempDir()
		write(t, folder, "visits.csv", "code\n"+strings.Repeat("9\n", before)+"1\n")
		write(t, folder, "tags.csv", "code,tag\n1,a\n1,b\n1,c\n1,d\n1,e\n1,f\n")
		e := open(t, dataset(t, folder, keys))
		const features, target = "SELECT v.code FROM visits v JOIN tags t ON v.code = t.code", "t.tag"
		table := training(t, e, features, target)
		got := fetchRows(t, e, features, target)
		if table.MaxRows() != 2 || len(got) != 2 || !table.Bounded() {
			t.Errorf("%d rows, and %d are allowed", len(got), table.MaxRows())
		}
		results[fmt.Sprint(got)] = true
		f := e.now.newFetch(table)
		f.query.From = strings.ReplaceAll(f.query.From, "u.h", "u.r")
		rows, err := rowsOf(func(into engine.Collector) error { return e.now.fetch(t.Context(), f, into) })
		f.close()
		if err != nil {
			t.Fatal(err)
		}
		planted[fmt.Sprint(rows)] = true
		if n := len(fetchRows(t, e, "SELECT code FROM visits", "code > 3 AS y")); n != before+1 {
			t.Errorf("%d rows of %d people", n, before+1)
		}
	}
	if len(results) != 1 {
		t.Errorf("%v", results)
	}
	if len(planted) < 2 {
		t.Error("a choice by the row's number is not found")
	}
}

// TestFetchCut compares with the reference how many rows of everybody are kept, and that they are
// theirs.
func TestFetchCut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var stored strings.Builder
	rows := memory.Table{Columns: []string{"u", "who", "x"}}
	for range 400 {
		u, x := int64(r.IntN(20)), int64(r.IntN(12))
		fmt.Fprintf(&stored, "%d,%d,%d\n", u, u, x)
		rows.Rows = append(rows.Rows, []any{u, u, x})
	}
	folder := t.TempDir()
	write(t, folder, "visits.csv", "u,who,x\n"+stored.String())
	write(t, folder, "people.csv", "u\n1\n")
	e := open(t, dataset(t, folder, `
source: .
unit: people.u
tables:
  people: {unique: u, columns: {u: {type: integer}}}
  visits: {path: u -> people.u, max_rows: 5, max_groups: 2, columns: {who: {type: integer, bounds: [0, 20]}, x: {type: integer, bounds: [0, 9]}}}
`))
	table := training(t, e, "SELECT who, x FROM visits", "x > 4 AS y")
	got := fetchRows(t, e, "SELECT who, x FROM visits", "x > 4 AS y")
	again := fetchRows(t, e, "SELECT x, who FROM visits", "x > 4 AS y")
	want, err := rowsOf(func(into engine.Collector) error {
		_, err := memory.New(e.dataset, map[string]memory.Table{"visits": rows}).Fetch(t.Context(), table, into)
		return err
	})
	if err != nil || !slices.Equal(got, again) {
		t.Fatal("the same table twice is not the same: ", err)
	}
	count := func(rows []string) map[string]int {
		out := map[string]int{}
		for _, r := range rows {
			who, _, _ := strings.Cut(r, " ")
			out[who]++
		}
		return out
	}
	if a, b := count(got), count(want); fmt.Sprint(a) != fmt.Sprint(b) || len(a) != 20 || a["3"] != 5 {
		t.Errorf("%v, want %v", a, b)
	}
	have := map[string]int{}
	for _, r := range rows.Rows {
		x := min(r[2].(int64), 9)
		y := 0
		if x > 4 {
			y = 1
		}
		have[fmt.Sprint(r[1], x, y)]++
	}
	for _, r := range got {
		if have[r]--; have[r] < 0 {
			t.Errorf("%s is nobody's, or too often there", r)
		}
	}
}

// TestFetchFails: whatever goes wrong is one error, and a panic of whoever takes the rows does not
// end the process.
func TestFetchFails(t *testing.T) {
	folder := t.TempDir()
	e := open(t, shopDataset(t, folder, storeShop(t, folder, "csv", nil, nil), "substitute", 2, 1))
	table := training(t, e, "SELECT amount FROM orders", "code")
	nobody := sealed.NewCollector(func([]int64) {})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Fetch(ended, table, nobody); !errors.Is(err, engine.ErrRun) {
		t.Error(err)
	}
	if _, err := e.Fetch(t.Context(), table, sealed.NewCollector(func([]int64) { panic(secret) })); err == nil ||
		err.Error() != engine.ErrRun.Error() {
		t.Error(err)
	}
	f := e.now.newFetch(table)
	f.query.From = "nowhere"
	if err := e.now.fetch(t.Context(), f, nobody); err == nil || err.Error() != engine.ErrRun.Error() {
		t.Error(err)
	}
	f.close()
	if _, err := e.Fetch(t.Context(), table, nobody); err != nil {
		t.Error("afterwards nothing works: ", err)
	}
}

// TestFetchPrintsNoText: no name and no text of the analyst is in the SQL.
func TestFetchPrintsNoText(t *testing.T) {
	ds := generate.Worlds()[0]
	db := generate.Make(generate.NewDice("marks", 1), ds)
	source := filepath.Join(t.TempDir(), "made.duckdb")
	owner(t, source, db.SQL()...)
	ds.Source = source
	e := open(t, ds)
	o := planner.Options{Public: memory.New(ds, db.Tables).Public()}
	m := generate.NewMaker(ds, o)
	printed := 0
	from := uint64(turnOf(t, 50))
	for i := range rounds[uint64](120, 500) {
		i += 120 * from
		features, target := m.Table(generate.NewDice("marks", i))
		table, err := planner.PrepareTable(ds, features, target, o)
		if err != nil {
			continue
		}
		f := e.now.newFetch(table)
		if text := strings.Join(f.query.Columns, " ") + f.query.From; strings.Contains(strings.ToLower(text), generate.Mark) {
			t.Errorf("%s\nis printed as\n%s", features, text)
		}
		f.close()
		printed++
	}
	if printed < rounds(20, 100) {
		t.Errorf("only %d were printed", printed)
	}
}

// TestFetchWide fetches as many columns as there may be, with everything that they can be.
func TestFetchWide(t *testing.T) {
	folder := t.TempDir()
	e := open(t, shopDataset(t, folder, storeShop(t, folder, "csv", nil, nil), "substitute", 2, 1))
	for _, from := range []struct {
		columns []string
		from    string
		rows    int
	}{
		{[]string{"age + %d", "age > %d", "CASE WHEN age > %d THEN 'old' ELSE 'young' END"}, "customers", 5},
		// of the first customer two of three
		{[]string{"amount + %d", "amount > %d", "CASE WHEN code > %d THEN 'dear' ELSE 'cheap' END"}, "orders", 5},
	} {
		var list []string
		for i := range 499 {
			kind := i % 2
			if i > 480 {
				kind = 2
			}
			list = append(list, fmt.Sprintf(from.columns[kind]+" AS c%d", i%7+1, i))
		}
		rows := fetchRows(t, e, "SELECT "+strings.Join(list, ", ")+" FROM "+from.from, fmt.Sprintf(from.columns[1], 8)+" AS y")
		if len(rows) != from.rows {
			t.Errorf("%d rows", len(rows))
		}
		for _, r := range rows {
			if n := len(strings.Fields(r)); n != 500 {
				t.Errorf("%d codes", n)
			}
		}
	}
}
