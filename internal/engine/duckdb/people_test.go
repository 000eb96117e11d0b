package duckdb

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// everything spells a result: combinations of private keys, people, sums and values.
func everything(r *engine.Result) string {
	var values [][][]int64
	for _, groups := range r.Values {
		var all [][]int64
		for _, v := range groups {
			all = append(all, v.Open())
		}
		values = append(values, all)
	}
	places := make([]int, r.Persons.Len())
	for i := range places {
		places[i] = i
	}
	var members [][]int32
	r.Members.Each(func(own []int32) { members = append(members, own) })
	return fmt.Sprint(r.Combos.Pick(places), r.Persons.Open(), members, opened(r), values)
}

// TestPeopleAsInSQL asks for every aggregate of people with many rows through package contribution,
// with memory and without, and as SQL with windows. Where nobody is cut they are the same; where
// somebody is, the ways through bound are.
func TestPeopleAsInSQL(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"), `CREATE TABLE t AS SELECT hash(i) % 900 AS u,
		CASE hash(i, 1) % 4 WHEN 0 THEN 'a' WHEN 1 THEN 'b' WHEN 2 THEN 'no key' END AS k,
		['x', 'y', '', 'a text of more than twelve bytes', NULL][CAST(1 + hash(i, 2) % 5 AS BIGINT)] AS p,
		CASE WHEN hash(i, 3) % 9 > 0 THEN CAST(hash(i, 4) % 70 AS BIGINT) - 10 END AS w,
		CASE WHEN hash(i, 5) % 7 > 0 THEN CAST(hash(i, 6) % 4 AS BIGINT) * 3000000000000 END AS far,
		DATE '2024-01-01' + CAST(hash(i, 7) % 5 AS INTEGER) AS d, hash(i, 8) % 2 = 0 AS b FROM range(9000) r(i)`)
	for _, limits := range []struct {
		text string
		cut  bool
	}{{"max_rows: 100, max_groups: 200", false}, {"max_rows: 2, max_groups: 2", true}} {
		e := open(t, datasetWith(t, folder, "{epsilon: 1, delta: 1e-6}", `
source: d.duckdb
unit: t.u
tables:
  t:
    `+strings.ReplaceAll(limits.text, ", ", "\n    ")+`
    columns:
      k: {type: text, keys: [a, b, c, null]}
      p: {type: text, keys: private}
      w: {type: integer, bounds: [0, 50], keys: private}
      far: {type: integer, bounds: [0, 9000000000000]}
      d: {type: date, bounds: [2024-01-01, 2024-01-04]}
      b: {type: boolean}
`))
		for _, text := range daily.Sample(t, []string{
			"SELECT COUNT(DISTINCT w) FROM t", "SELECT k, COUNT(DISTINCT p) FROM t GROUP BY k",
			"SELECT k, COUNT(DISTINCT far) FROM t GROUP BY k",
			"SELECT COUNT(DISTINCT b), COUNT(DISTINCT d), COUNT(DISTINCT w + 1) FROM t WHERE w > 3",
			"SELECT k, MEDIAN(w), MIN(far), MAX(far) FROM t GROUP BY k", "SELECT k, MEDIAN(d), COUNT(*), SUM(w) FROM t GROUP BY k",
			"SELECT p, COUNT(*) FROM t GROUP BY p", "SELECT w, p, COUNT(*), SUM(far), COUNT(DISTINCT w) FROM t GROUP BY w, p",
			"SELECT p, k, b, COUNT(*), MEDIAN(w) FROM t GROUP BY p, k, b", "SELECT p, COUNT(*) FROM t WHERE w > 1000 GROUP BY p",
		}, 3) {
			q := &prepare(t, e.dataset, text).Query
			inSQL, err := e.now.Run(t.Context(), q, e.now.Statements(q))
			if err != nil {
				t.Fatalf("%s: %v", text, runAgain(t, e, q))
			}
			want := everything(inSQL)
			checkMembers(t, q, inSQL)
			for _, memory := range []int64{1 << 30, 1 << 21} {
				e.now.memory = memory
				known, err := e.now.runPeople(t.Context(), q)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				got, err := e.now.Finish(t.Context(), q, known, nil)
				if err == nil {
					checkMembers(t, q, got)
				}
				switch {
				case err != nil:
					t.Fatal(err)
				case limits.cut && memory == 1<<30:
					want = everything(got)
				case everything(got) != want:
					t.Errorf("%s, %s, %d bytes:\n%.2000s\nand not\n%.2000s", text, limits.text, memory, everything(got), want)
				}
			}
		}
	}
}

// checkMembers counts the people of each combination, who are weighed, once more.
func checkMembers(t *testing.T, q *tree.Query, r *engine.Result) {
	t.Helper()
	counts, some := make([]int64, r.Persons.Len()), false
	r.Members.Each(func(own []int32) {
		some = true
		if int64(len(own)) > q.MaxGroups() || !slices.IsSorted(own) || len(slices.Compact(slices.Clone(own))) != len(own) {
			t.Errorf("somebody is in %v, of %d", own, q.MaxGroups())
		}
		for _, c := range own {
			counts[c]++
		}
	})
	if want := q.Weighs() && len(counts) > 0; some != want || want && !slices.Equal(counts, r.Persons.Open()) {
		t.Errorf("%v are weighed, and %v are there", counts, r.Persons.Open())
	}
}

// TestNobodyIsReadToo: rows are read as often where nobody has a group of private keys as where
// somebody has: all is computed, about no groups.
func TestNobodyIsReadToo(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE t AS SELECT i % 9 AS u, 'p' || i AS p, i AS w FROM range(50) r(i)")
	e := open(t, datasetWith(t, folder, "{epsilon: 1, delta: 1e-6}", "\nsource: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n"+
		"    max_groups: 2\n    columns:\n      p: {type: text, keys: private}\n      w: {type: integer, bounds: [0, 50]}\n"))
	for where, combos := range map[string]int{"w = 50": 0, "w = 49": 1} {
		q := &prepare(t, e.dataset, "SELECT p, COUNT(*), MEDIAN(w), COUNT(DISTINCT w) FROM t WHERE "+where+" GROUP BY p").Query
		known, err := e.now.runPeople(t.Context(), q)
		if err != nil || len(known.Combos) != combos || len(known.Persons) != combos ||
			len(known.Sums)+len(known.Values) != len(q.Measures) {
			t.Errorf("%s: %v (%v)", where, known, err)
			continue
		}
		for m, sums := range known.Sums {
			if len(sums) != combos {
				t.Errorf("%s: measure %d has %v", where, m, sums)
			}
		}
		inSQL, err1 := e.now.Run(t.Context(), q, e.now.Statements(q))
		got, err2 := e.now.Finish(t.Context(), q, known, nil)
		if err1 != nil || err2 != nil || everything(got) != everything(inSQL) {
			t.Errorf("%s: %v, %v", where, err1, err2)
		}
	}
}

// TestExistsBesideValue: a subquery that is a value is joined to the row after EXISTS was read, and
// must not move what EXISTS names. When it did, one order of one person decided about every
// customer.
func TestExistsBesideValue(t *testing.T) {
	text := `SELECT COUNT(*) FROM customers c
	 WHERE EXISTS (SELECT 1 FROM (SELECT cust, CASE WHEN amount = 50 THEN 9 ELSE 0 END AS pad, amount + 0 AS pad2, code AS test FROM orders) o WHERE o.cust = c.cid AND o.test = 9)
	 AND (SELECT COUNT(*) FROM orders o WHERE o.cust = c.cid) >= 0`
	var got [2]string
	for i, rich := range []string{"1", "50"} {
		folder := t.TempDir()
		owner(t, filepath.Join(folder, "shop.duckdb"),
			"CREATE TABLE customers AS SELECT range AS cid, 'N' AS region, 3 AS age, 'x' AS city FROM range(1000)",
			"CREATE TABLE orders AS SELECT range AS oid, range AS cust, 1 AS code, CASE WHEN range = 7 THEN "+rich+" ELSE 2 END AS "+
				"amount, 'x' AS shop FROM range(1000)",
			"CREATE TABLE items AS SELECT range AS iid, range // 2 AS order_id, 3 AS qty FROM range(6)",
			"CREATE TABLE parts AS SELECT range AS item, 1 AS w FROM range(10)",
			"CREATE TABLE products AS SELECT range AS code, 'p' || range AS label FROM range(9)",
			"CREATE TABLE tags AS SELECT range AS code, 't' || range % 3 AS tag FROM range(9)")
		e := open(t, shopDataset(t, folder, "shop.duckdb", "substitute", 2, 2))
		got[i] = answer(t, e, text)
	}
	if got[0] != got[1] {
		t.Errorf("one order of one person moves COUNT(*) from %s to %s", got[0], got[1])
	}
}

// TestOnePersonTwoTypes: a whole number is one person, whatever types of whole numbers the columns
// have. What else is alike is in table_test.go.
func TestOnePersonTwoTypes(t *testing.T) {
	types := []string{"INTEGER", "UTINYINT", "UHUGEINT", "DECIMAL(9,0)"}
	for want, who := range map[string]string{"[10]": "", "[9]": " WHERE range <> 7"} {
		folder := t.TempDir()
		keys := "source: d.duckdb\nunit: customers.cid\ntables:\n  customers: {unique: cid, columns: {}}\n"
		statements := []string{"CREATE TABLE customers AS SELECT CAST(range AS INTEGER) AS cid FROM range(10)" + who}
		for i, typ := range types {
			statements = append(statements,
				fmt.Sprintf("CREATE TABLE orders%d AS SELECT CAST(range AS %s) AS cust FROM range(10)%s", i, typ, who))
			keys += fmt.Sprintf("  orders%d: {path: cust -> customers.cid, max_rows: 2, max_groups: 2, columns: {}}\n", i)
		}
		owner(t, filepath.Join(folder, "d.duckdb"), statements...)
		e := open(t, dataset(t, folder, keys))
		for i, typ := range types {
			if got := answer(t, e, fmt.Sprintf("SELECT COUNT(DISTINCT who) FROM (SELECT cid AS who FROM customers UNION ALL "+
				"SELECT cust AS who FROM orders%d) AS u", i)); got != want {
				t.Errorf("%s%s: %s people, and not %s", typ, who, got, want)
			}
		}
	}
}

// TestRowsFanOut: where every row is a person a join with a public table can make several rows of
// one, which are cut like anybody's.
func TestRowsFanOut(t *testing.T) {
	const visits = "SELECT * FROM (VALUES (1, 5), (1, 6), (2, 7), (2, 7), (9, 1)) AS v(code, cost)"
	const tables = `
unit: row
tables:
  visits: {%s columns: {code: {type: integer, bounds: [0, 9]}, cost: {type: integer, bounds: [0, 10]}}}
  tags: {source: tags.csv, public: true, max_rows: 2, columns: {code: {type: integer}, tag: {type: text, nullable: false}}}
`
	for name, c := range map[string]struct{ source, statement string }{
		"csv":            {"source: visits.csv,", "COPY (" + visits + ") TO '%s/visits.csv' (HEADER)"},
		"csv with rowid": {"source: visits.csv,", "COPY (SELECT 1 AS rowid, * FROM (" + visits + ")) TO '%s/visits.csv' (HEADER)"},
		"parquet":        {"source: visits.parquet,", "COPY (" + visits + ") TO '%s/visits.parquet'"},
		"parquet, shadowed": {"source: visits.parquet,", "COPY (SELECT 1 AS file_row_number, 1 AS rowid, * FROM (" + visits +
			")) TO '%s/visits.parquet'"},
		"database":           {"", "CREATE TABLE visits AS " + visits},
		"database, shadowed": {"", "CREATE TABLE visits AS SELECT 1 AS rowid, * FROM (" + visits + ")"},
		"view":               {"", "CREATE VIEW visits AS " + visits},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, folder, "tags.csv", "code,tag\n1,a\n1,b\n1,c\n1,a\n2,a\n2,b\n3,c\n")
			keys, path := fmt.Sprintf(tables, c.source), ""
			if c.source == "" {
				keys, path = "source: d.duckdb"+keys, filepath.Join(folder, "d.duckdb")
			}
			owner(t, path, strings.ReplaceAll(c.statement, "%s", folder))
			e := open(t, dataset(t, folder, keys))
			for _, q := range []struct{ text, want string }{
				{"SELECT COUNT(*), SUM(cost) FROM visits", "[5] [26]"},
				// The first two visits have four tags, and count as two rows at most: with 2 * 10
				// in a sum.
				{"SELECT COUNT(*), SUM(cost) FROM visits v JOIN tags t ON v.code = t.code", "[8] [68]"},
				{"SELECT COUNT(*) FROM visits v JOIN tags t ON v.code = t.code WHERE v.code = 2", "[4]"},
				{"SELECT tag, COUNT(*) FROM visits v JOIN tags t ON v.code = t.code WHERE v.code = 2 GROUP BY tag", "[2 2 0]"},
			} {
				if got := answer(t, e, q.text); got != q.want {
					t.Errorf("%s: %s, want %s", q.text, got, q.want)
				}
			}
			q := question(t, e, "SELECT tag, COUNT(DISTINCT cost), COUNT(*) FROM visits v JOIN tags t ON v.code = t.code WHERE v.code = "+
				"1 GROUP BY tag")
			r, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatal(runAgain(t, e, q))
			}
			total := int64(0)
			for _, n := range r.Measures[0].Open() {
				total += n
			}
			if q.MaxGroups() != 2 || total < 4 || total > 6 {
				t.Errorf("%d rows of two people in two groups each: %s", total, describeResult(q, r))
			}
		})
	}
}

// TestRowsKeepTheirGroups: which groups of a row are kept does not depend on how many rows come
// before it.
func TestRowsKeepTheirGroups(t *testing.T) {
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
		const text = "SELECT tag, COUNT(*) FROM visits v JOIN tags t ON v.code = t.code GROUP BY tag"
		results[answer(t, e, text)] = true
		q := question(t, e, text)
		changed, _ := mutant(e.now.Statements(q), func(text string) string { return strings.ReplaceAll(text, "u.h", "u.r") })
		r := must(e.now.Run(t.Context(), q, changed))(t)
		planted[describeResult(q, r)] = true
	}
	if len(results) != 1 {
		t.Errorf("%v", results)
	}
	if len(planted) < 2 {
		t.Error("a choice by the row's number is not found")
	}
}

const togetherKeys = `
source: v.duckdb
unit: people.pid
tables:
  people: {unique: pid, columns: {}}
  visits:
    path: pid -> people.pid
    max_rows: 20
    max_groups: 3
    columns: {day: {type: integer, bounds: [0, 9]}, cost: {type: integer, bounds: [0, 9]}}
`

// TestWindowsTogether: two windows put equal rows of a person into one order, wherever and beside
// whatever rows they are stored. A database that sorts twice would put them into two, of which
// other people's rows decide.
func TestWindowsTogether(t *testing.T) {
	const rows = "SELECT range // 10 AS pid, hash(range) % 3 AS day, hash(range, 1) % 2 AS cost FROM range(3000)"
	var stored []*Engine
	for _, visits := range []string{rows, "SELECT * FROM (" + rows + ") ORDER BY hash(pid), day DESC",
		"SELECT pid, day, cost FROM (SELECT *, random() AS r FROM (" + rows + ")) ORDER BY r"} {
		folder := t.TempDir()
		owner(t, filepath.Join(folder, "v.duckdb"), "CREATE TABLE people AS SELECT range AS pid FROM range(300)",
			"CREATE TABLE visits AS "+visits)
		stored = append(stored, open(t, dataset(t, folder, togetherKeys)))
	}
	number := "row_number() OVER (PARTITION BY pid ORDER BY cost)"
	for _, other := range daily.Sample(t, []string{"row_number() OVER (PARTITION BY pid ORDER BY cost DESC)",
		"row_number() OVER (PARTITION BY pid, day)",
		"ntile(5) OVER (PARTITION BY pid ORDER BY cost DESC)", "row_number() OVER (PARTITION BY pid, day ORDER BY cost)"}, 2) {
		q := question(t, stored[0], "SELECT COUNT(*) FROM (SELECT "+number+" AS a, "+other+" AS b FROM visits) t WHERE a = b")
		seen := map[string]bool{}
		for _, e := range stored {
			for range 3 {
				r := must(e.Run(t.Context(), q))(t)
				seen[fmt.Sprint(r.Measures[0].Open())] = true
			}
		}
		if len(seen) != 1 {
			t.Errorf("%s beside %s: of one table there are the counts %v", other, number, seen)
		}
	}
}

// TestMaxSum: the sum of a person's rows in a group is clamped, after it was added up, by every way
// to add: few groups and many, people who are numbers and texts, in Go and in SQL, short sums and
// long ones, together with other measures, and rows of people who have one.
func TestMaxSum(t *testing.T) {
	const rows = 3000
	for unit, person := range map[string]string{"integer": "BIGINT", "text": "VARCHAR", "sql": "DOUBLE"} {
		t.Run(unit, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "d.duckdb")
			// A person has 30 rows in three of 90 groups, some of them negative and some NULL.
			owner(t, path, fmt.Sprintf("CREATE TABLE items AS SELECT (i %% 100)::%s AS who, "+
				"(i %% 100 %% 30 * 3 + i // 100 %% 3)::INT AS g, "+
				"CASE WHEN i %% 11 <> 0 THEN (i * 7919 %% 61) - 20 END::INT AS x FROM range(%d) AS r(i)", person, rows),
				fmt.Sprintf("CREATE TABLE people AS SELECT i::%s AS who, (i * 7 %% 50) - 10 AS x FROM range(100) AS r(i)", person))
			e := open(t, dataset(t, folder, `source: d.duckdb
unit: people.who
tables:
  people: {unique: who, columns: {x: {type: integer, bounds: [-10, 40], max_sum: 15}}}
  items:
    path: who -> people.who
    max_rows: 30
    max_groups: 3
    columns:
      g: {type: integer, bounds: [0, 89]}
      x: {type: integer, bounds: [-20, 40], max_sum: 25}
`))
			value := func(i int) (int64, bool) { return int64(i*7919%61 - 20), i%11 != 0 }
			totals := func(groups int, of func(i int) int, scale int64) string {
				out := make([]int64, groups)
				partials := map[[2]int]int64{}
				for i := range rows {
					if v, ok := value(i); ok {
						partials[[2]int{i % 100, of(i)}] += v * scale
					}
				}
				for at, v := range partials {
					out[at[1]] += min(max(v, -25*scale), 25*scale)
				}
				return fmt.Sprint(out)
			}
			group := func(i int) int { return i%100%30*3 + i/100%3 }
			all, short := totals(1, func(int) int { return 0 }, 1), totals(3, func(i int) int { return group(i) % 3 }, 1)
			single := int64(0)
			for i := range 100 {
				single += min(max(int64(i*7%50-10), -15), 15)
			}
			for text, want := range map[string]string{
				"SELECT SUM(x) FROM items":                                   all,
				"SELECT SUM(x), MEDIAN(x) FROM items":                        all,
				"SELECT g % 3, SUM(x) FROM items GROUP BY g % 3":             short,
				"SELECT g, SUM(x) FROM items GROUP BY g":                     totals(90, group, 1),
				"SELECT g, SUM(x) FROM items WHERE g >= 0 GROUP BY g":        totals(90, group, 1),
				"SELECT SUM(x) FROM people":                                  fmt.Sprintf("[%d]", single),
				"SELECT SUM(CASE WHEN x IS NOT NULL THEN x END) FROM people": fmt.Sprintf("[%d]", single),
				"SELECT SUM(p.x) FROM people AS p WHERE p.x > -100":          fmt.Sprintf("[%d]", single),
			} {
				q := question(t, e, text)
				at := len(q.Measures) - 1
				m := q.Measures[at]
				if m.Most == nil || q.Sensitivity(m, dp.L1).L1().Int64() != q.MaxGroups()*m.Most.Int64() {
					t.Fatalf("%s: %s", text, q.Format())
				}
				r, err := e.Run(t.Context(), q)
				if err != nil {
					t.Fatal(runAgain(t, e, q))
				}
				if got := fmt.Sprint(r.Measures[at].Open()); got != want {
					t.Errorf("%s: %s, want %s", text, got, want)
				}
			}
		})
	}
}
