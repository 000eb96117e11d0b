package duckdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/contribution"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/policy"
)

func opened(r *engine.Result) string {
	var out [][]int64
	for _, v := range r.Measures {
		out = append(out, v.Open())
	}
	return fmt.Sprint(out)
}

// TestBothShapes asks random questions in both ways: through package contribution, with memory and
// without, and as one SQL statement. Where the definition leaves no choice they agree; the ways
// through bound always do.
func TestBothShapes(t *testing.T) {
	asked, certain := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		s := drawShape(rt)
		s.kind = policy.Many // others have one way
		e, rows := drawTable(rt, t, t.TempDir(), s, 60)
		defer e.Close()
		for range rounds(2, 12) {
			text := drawQuestion(rt)
			p, err := prepareOne(e.dataset, text)
			if err != nil {
				continue
			}
			q := &p.Query
			if len(q.Measures) == 0 {
				continue // it is known beforehand
			}
			e.now.memory, e.now.unordered = 0, false
			first, err := e.now.runBounded(t.Context(), q, everyMeasure(q))
			if err != nil {
				rt.Fatalf("%s: %v; %v", text, err, runAgain(t, e, q))
			}
			e.now.memory = rapid.SampledFrom([]int64{1 << 16, 1 << 19, 1 << 22}).Draw(rt, "memory")
			e.now.unordered = rapid.Bool().Draw(rt, "unordered")
			second, err := e.now.runBounded(t.Context(), q, everyMeasure(q))
			if err != nil || fmt.Sprint(first) != fmt.Sprint(second) {
				rt.Fatalf("%s: %v with memory, %v with %d bytes of it (%v)", text, first, second, e.now.memory, err)
			}
			inSQL, err := e.now.Run(t.Context(), q, e.now.Statements(q))
			if err != nil {
				rt.Fatalf("%s: %v", text, runAgain(t, e, q))
			}
			ref := compute(q, rows)
			asked++
			if !ref.exactly() {
				continue
			}
			certain++
			if opened(inSQL) != fmt.Sprint(first) {
				rt.Fatalf("%s: %v in SQL, %v through bound", text, opened(inSQL), first)
			}
		}
	})
	t.Logf("%d questions, %d of them exactly", asked, certain)
	if !testing.Short() && certain < rounds(1, 100) {
		t.Error("too few questions for a test")
	}
}

// people are columns that say who a row is about: two people who are nearly the same, in every
// type.
var people = []struct{ typ, one, other string }{
	{"BOOLEAN", "true", "false"},
	{"TINYINT", "-1", "1"},
	{"SMALLINT", "-1", "1"},
	{"INTEGER", "-1", "1"},
	{"BIGINT", "9223372036854775807", "9223372036854775806"}, // one in a double
	{"UBIGINT", "18446744073709551615", "18446744073709551614"},
	{"HUGEINT", "18446744073709551616", "0"}, // one in 64 bits
	{"UHUGEINT", "18446744073709551616", "0"},
	{"UUID", "00000000-0000-0000-0000-000000000001", "00000001-0000-0000-0000-000000000001"},
	{"VARCHAR", "a", "A"},
	{"VARCHAR", "a", "a "},
	{"VARCHAR", "", " "},
	{"VARCHAR", "a long text that is one", "a long text that is two"},
	{"BLOB", "x", "y"},
	{"DECIMAL(9,2)", "1.00", "1.01"},
	{"DECIMAL(38,10)", "1.0000000000", "1.0000000001"},
	{"DATE", "1970-01-01", "1970-01-02"},
	{"TIMESTAMP", "1970-01-01 00:00:00", "1970-01-01 00:00:00.000001"},
	{"TIMESTAMPTZ", "1970-01-01 00:00:00+00", "1970-01-01 00:00:00.000001+00"},
	{"TIMESTAMP_NS", "1970-01-01 00:00:00", "1970-01-01 00:00:00.000000001"},
	{"ENUM ('x', 'y', 'z')", "x", "z"},
	{"DOUBLE", "0.1", "0.2"}, // in SQL
	{"VARCHAR COLLATE NOCASE", "a", "A"},
}

// TestWhoIsWho has two people with three rows each and a row about nobody, of which two a person
// count, in every type that a person can have.
func TestWhoIsWho(t *testing.T) {
	for i, p := range daily.Sample(t, people, 9) {
		folder := t.TempDir()
		path := filepath.Join(folder, "d.duckdb")
		owner(t, path, "CREATE TABLE t (u "+p.typ+")", fmt.Sprintf("INSERT INTO t VALUES ('%s'), ('%s'), (NULL), ('%s'), ('%s'), ('%s'), "+
			"('%s')", p.one, p.other, p.one, p.one, p.other, p.other))
		e := open(t, dataset(t, folder, "source: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 1\n    columns: "+
			"{}\n"))
		if got := fmt.Sprint(ask(t, e, "SELECT COUNT(*) FROM t")); got != "[[4]]" {
			t.Errorf("%d: %s: %s", i, p.typ, got)
		}
		_, err := e.now.newBounded(bothOf(prepare(t, e.dataset, "SELECT COUNT(*) FROM t")))
		if inSQL := errors.Is(err, errNotBulk); inSQL != (p.typ == "DOUBLE") {
			t.Errorf("%s: %v", p.typ, err)
		}
	}
}

// TestBoundedIsQuiet: a failure is engine.ErrRun, whatever it is.
func TestBoundedIsQuiet(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE t AS SELECT i % 10 AS u, 'k' AS k FROM range(100000) r(i)")
	e := open(t, dataset(t, folder, "source: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 1\n    columns: {k: "+
		"{type: text, keys: [k]}}\n"))
	q := &prepare(t, e.dataset, "SELECT k, COUNT(*) FROM t GROUP BY k").Query
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Run(ctx, q); err == nil || err.Error() != engine.ErrRun.Error() {
		t.Error(err)
	}
	if got := fmt.Sprint(ask(t, e, "SELECT k, COUNT(*) FROM t GROUP BY k")); got != "[[20]]" {
		t.Error(got)
	}
}

// TestMemoryOfTheMachine: the limit is known, and no more than the default.
func TestMemoryOfTheMachine(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE t AS SELECT 1 AS u")
	e := open(t, dataset(t, folder, "source: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 1\n    columns: {}\n"))
	if m := e.now.memory; m < 1<<20 || m > contribution.DefaultMemory {
		t.Errorf("%d bytes", m)
	}
	if _, err := e.now.DB.Exec("SELECT parse_formatted_bytes('1 GiB')"); err != nil {
		t.Error("DuckDB does not say how much memory there is:", err)
	}
}

// TestManyKeys groups by integers that are far apart, dates and booleans with NULL, in several
// keys.
func TestManyKeys(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"), `CREATE TABLE t AS SELECT i AS u,
		CASE i % 4 WHEN 0 THEN 5 WHEN 1 THEN -9000000000 WHEN 2 THEN 9000000000 END AS far,
		CASE i % 3 WHEN 0 THEN true WHEN 1 THEN false END AS b,
		DATE '2024-01-01' + CAST(i % 3 AS INTEGER) AS y,
		CASE i % 5 WHEN 0 THEN 'a text that is long' WHEN 1 THEN 'b' WHEN 2 THEN 'no key' END AS s
		FROM range(6000) r(i)`)
	e := open(t, dataset(t, folder, `
source: d.duckdb
unit: t.u
tables:
  t:
    max_rows: 1
    max_groups: 1
    columns:
      far: {type: integer, keys: [5, -9000000000, 9000000000, null]}
      b: {type: boolean}
      y: {type: date, bounds: [2024-01-01, 2024-01-02]}
      s: {type: text, keys: ['a text that is long', b, null]}
`))
	for _, keys := range []string{"far", "b", "y", "s", "far, b", "s, y", "b, far, s", "far, b, y, s"} {
		q := &prepare(t, e.dataset, "SELECT COUNT(*) FROM t GROUP BY "+keys).Query
		got := must(e.now.runBounded(t.Context(), q, everyMeasure(q)))(t)
		want, err := e.now.Run(t.Context(), q, e.now.Statements(q))
		if err != nil || opened(want) != fmt.Sprint(got) {
			t.Errorf("%s: %v in SQL, %v through bound (%v)", keys, opened(want), got, err)
		}
	}
}

// TestOrderIsSeen reads a table once, in the order of people or in another one, which is known
// before.
func TestOrderIsSeen(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "d.duckdb")
	rows := "SELECT hash(i) % 5000 AS u, 'k' || (hash(i * 31) % 40) AS k, CAST(hash(i + 7) % 100 AS INTEGER) AS v FROM range(200000) r(i)"
	owner(t, path, "CREATE TABLE shuffled AS "+rows, "CREATE TABLE clustered AS "+rows+" ORDER BY u")
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("k%d", i))
	}
	var answers []string
	for _, table := range []string{"shuffled", "clustered"} {
		// The table's name is in the salt; what is compared is the same question.
		ds := dataset(t, folder, fmt.Sprintf("source: d.duckdb\nunit: %[1]s.u\ntables:\n  %[1]s:\n    max_rows: 3\n    max_groups: 4\n    "+
			"columns:\n      k: {type: text, keys: [%[2]s]}\n      v: {type: integer, bounds: [10, 90]}\n", table,
			strings.Join(names, ", ")))
		e := open(t, ds)
		b := must(e.now.newBounded(bothOf(prepare(t, ds, "SELECT k, COUNT(*), SUM(v) FROM "+table+" GROUP BY k"))))(t)
		defer b.close()
		b.spec.Salt = [32]byte{1}
		passes := 0
		got := must(b.runWith(t.Context(), e.now.source, func() { passes++ }))(t)
		answers = append(answers, fmt.Sprint(got))
		if passes != 1 || b.spec.Unordered != (table == "shuffled") {
			t.Errorf("%s was read %d times, and it is thought to be in no order: %v", table, passes, b.spec.Unordered)
		}
	}
	if answers[0] != answers[1] {
		t.Error("the order changes the answer")
	}
}

func everyMeasure(q *tree.Query) []int {
	out := make([]int, len(q.Measures))
	for i := range out {
		out[i] = i
	}
	return out
}

func bothOf(p *tree.Plan) (*tree.Query, []int) { return &p.Query, everyMeasure(&p.Query) }

// TestOrderOfOne: rows that are chosen to be in the order of people but for those of one person are
// read as often with that person as without.
func TestOrderOfOne(t *testing.T) {
	const mine = "INSERT INTO t SELECT -1, 'mine' UNION ALL SELECT 2000000, 'mine'"
	for _, c := range daily.Sample(t, []struct{ order, question string }{
		{"", "SELECT COUNT(*) FROM t WHERE k = 'mine' OR k = 'theirs'"},
		{"", "SELECT k, COUNT(*) FROM t GROUP BY k"},
		{" ORDER BY u", "SELECT COUNT(*) FROM t JOIN p ON t.k = p.k"},
		{" ORDER BY u", "SELECT COUNT(*) FROM t LEFT JOIN p ON t.k = p.k"},
		{" ORDER BY u", "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM p WHERE p.k = t.k)"},
	}, 2) {
		for _, target := range []string{"SELECT 1", "INSERT INTO t SELECT 37, 'theirs'"} {
			folder := t.TempDir()
			owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE t AS SELECT CAST(hash(i) % 1000000 AS BIGINT) AS u, 'a' AS k FROM "+
				"range(300000) r(i)"+c.order, "CREATE TABLE p AS SELECT 'mine' AS k UNION ALL SELECT 'theirs'", mine, target)
			ds := dataset(t, folder, "source: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 1\n    columns: {k: "+
				"{type: text, keys: [mine, theirs]}}\n  p:\n    public: true\n    columns: {k: {type: text}}\n")
			e := open(t, ds)
			b := must(e.now.newBounded(bothOf(prepare(t, ds, c.question))))(t)
			passes := 0
			if _, err := b.runWith(t.Context(), e.now.source, func() { passes++ }); err != nil || passes != 1 {
				t.Errorf("%s with %q: read %d times (%v)", c.question, target, passes, err)
			}
			b.close()
		}
	}
}

// TestSidesArePublic: which side of a join is put into the hash table is the smaller table, by
// numbers that are public. One row more of one of them does not turn the join round.
func TestSidesArePublic(t *testing.T) {
	questions := []string{
		"SELECT COUNT(*) FROM a JOIN b ON a.u = b.u",
		"SELECT COUNT(*) FROM b JOIN a ON a.u = b.u",
		"SELECT COUNT(*) FROM a LEFT JOIN b ON a.u = b.u",
		"SELECT COUNT(*) FROM a LEFT JOIN b ON a.u = b.u AND b.v > 3",
		"SELECT COUNT(*) FROM a LEFT JOIN b ON a.u = b.u AND b.v > 3 AND b.v > a.v",
		"SELECT COUNT(*) FROM a FULL JOIN b ON a.u = b.u",
		"SELECT COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE a.u = b.u AND b.v > 3)",
		"SELECT COUNT(*) FROM a WHERE u NOT IN (SELECT u FROM b WHERE b.v > 3)",
	}
	plans := func(a, b int) (out [][]string) {
		folder := t.TempDir()
		rows := "CREATE TABLE %s AS SELECT CAST(hash(i) %% 9000 AS BIGINT) AS u, i %% 7 AS v FROM range(%d) r(i)"
		owner(t, filepath.Join(folder, "d.duckdb"), fmt.Sprintf(rows, "a", a), fmt.Sprintf(rows, "b", b),
			"CREATE TABLE p AS SELECT i AS u, i % 7 AS w FROM range(9000) r(i)")
		ds := dataset(t, folder, "source: d.duckdb\nunit: p.u\ntables:\n  p:\n    unique: u\n    columns: {w: {type: integer, "+
			"bounds: [0, 6]}}\n  a:\n    path: u -> p.u\n    max_rows: 2\n    max_groups: 1\n    columns: {v: {type: integer, "+
			"bounds: [0, 6]}}\n  b:\n    path: u -> p.u\n    max_rows: 2\n    max_groups: 1\n    columns: {v: {type: integer, "+
			"bounds: [0, 6]}}\n")
		e := open(t, ds)
		for _, text := range questions {
			q, err := e.now.newBounded(bothOf(prepare(t, ds, text)))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			var name, plan string
			if err := e.now.DB.QueryRowContext(t.Context(), "EXPLAIN (FORMAT json) SELECT "+strings.Join(q.query.Columns, ", ")+" FROM "+
				q.query.From, q.query.Args...).Scan(&name, &plan); err != nil {
				t.Fatal(err)
			}
			q.close()
			var nodes []planNode
			mustDo(t, json.Unmarshal([]byte(plan), &nodes))
			out = append(out, nodes[0].scans())
		}
		return out
	}
	even := plans(10_000, 10_000)
	for _, sizes := range [][2]int{{10_001, 10_000}, {10_000, 10_001}, {9_000, 11_000}} {
		for i, got := range plans(sizes[0], sizes[1]) {
			if !slices.Equal(got, even[i]) {
				t.Errorf("%s: with %v rows the tables are read %v, and %v with as many", questions[i], sizes, got, even[i])
			}
		}
	}
	for want, got := range map[string][][]string{"a": plans(3_000, 40_000)[:6], "b": plans(40_000, 3_000)[:6]} {
		for i, tables := range got {
			if last := tables[len(tables)-1]; last != want {
				t.Errorf("%s: %s is put into the hash table, and %s is smaller", questions[i], last, want)
			}
		}
	}
}

type planNode struct {
	Name     string         `json:"name"`
	Children []planNode     `json:"children"`
	Extra    map[string]any `json:"extra_info"`
}

// scans are the tables below, those that are put into a hash table last.
func (n planNode) scans() (out []string) {
	if table, ok := n.Extra["Table"].(string); ok {
		out = append(out, table[strings.LastIndex(table, ".")+1:])
	}
	for _, c := range n.Children {
		out = append(out, c.scans()...)
	}
	return out
}

// TestOneRowOutOfOrder: a table that is stored by person stays one where few rows are out of order,
// and is read once; the integers are those of a table in no order.
func TestOneRowOutOfOrder(t *testing.T) {
	turn := turnOf(t, 2)
	const one = "INSERT INTO t SELECT u, k FROM t WHERE u = "
	for i, c := range daily.Sample(t, []struct{ name, more string }{
		{"in order", "SELECT 1"},
		{"one row behind", one + "37 LIMIT 1"},
		{"one beyond all", "INSERT INTO t SELECT 999999999, 'a' UNION ALL SELECT 12, 'a'"},
		{"ten behind", "INSERT INTO t SELECT i * 9901, 'b' FROM range(10) r(i)"},
		{"a thousand", "INSERT INTO t SELECT hash(i) % 30000, 'b' FROM range(1000) r(i)"},
		{"one in front", "CREATE OR REPLACE TABLE t AS SELECT 299990 AS u, 'a' AS k UNION ALL FROM t"},
		{"one in between", "CREATE OR REPLACE TABLE t AS SELECT * EXCLUDE i FROM (SELECT *, rowid AS i FROM t UNION ALL " +
			"SELECT 3, 'a', 150000) ORDER BY i"},
	}, 2) {
		for k, unit := range []string{"u", "lpad(CAST(u AS VARCHAR), 12, '0')"} {
			if !daily.Full() && (i+k+turn)%2 != 0 {
				continue // numbers or texts, by turns
			}
			folder := t.TempDir()
			owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE t AS SELECT i // 10 AS u, chr(CAST(97 + hash(i) % 3 AS "+
				"INTEGER)) AS k FROM range(300000) r(i)", c.more, "CREATE OR REPLACE TABLE t AS SELECT * REPLACE ("+unit+
				" AS u) FROM t")
			ds := dataset(t, folder, "source: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 2\n    columns: {k: "+
				"{type: text, keys: [a, b, c]}}\n")
			answers := map[string]string{}
			for _, threads := range daily.Sample(t, []int{1, 2, 4}, 2) {
				e := must(OpenWith(t.Context(), ds, Limits{Threads: threads}))(t)
				for _, text := range []string{"SELECT k, COUNT(*) FROM t GROUP BY k",
					"SELECT k, COUNT(*) FROM t WHERE length(upper(k)) = 1 GROUP BY k"} {
					b := must(e.now.newBounded(bothOf(prepare(t, ds, text))))(t)
					passes := 0
					got, err := b.runWith(t.Context(), e.now.source, func() { passes++ })
					if err != nil || passes != 1 || b.spec.Unordered {
						t.Errorf("%s, %d threads: read %d times, in no order: %v (%v)", c.name, threads, passes, b.spec.Unordered, err)
					}
					b.spec.Unordered = true
					want, err := b.run(t.Context(), e.now.source)
					if answers[text] == "" {
						answers[text] = fmt.Sprint(want)
					}
					if err != nil || fmt.Sprint(got) != fmt.Sprint(want) || answers[text] != fmt.Sprint(want) {
						t.Errorf("%s: %v in order, %v in none, %s elsewhere (%v)", c.name, got, want, answers[text], err)
					}
					b.close()
				}
				e.Close()
			}
		}
	}
}

// TestFewPass: rows that pass a condition come in the chunks in which they are stored, however few
// they are. Put together with those of other chunks they would be in another order, and be read
// again.
func TestFewPass(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE t AS SELECT i // 10 AS u, CAST(hash(i) % 1000 AS INTEGER) AS v FROM "+
		"range(2000000) r(i)")
	ds := dataset(t, folder, "source: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 1\n    columns: {v: "+
		"{type: integer, bounds: [0, 1000]}}\n")
	for _, threads := range daily.Sample(t, []int{1, 2, 4}, 1) {
		e := must(OpenWith(t.Context(), ds, Limits{Threads: threads}))(t)
		for _, text := range []string{"SELECT COUNT(*) FROM t WHERE v % 100 = 3", "SELECT COUNT(*) FROM t WHERE v % 10 < 9"} {
			b := must(e.now.newBounded(bothOf(prepare(t, ds, text))))(t)
			passes := 0
			if _, err := b.runWith(t.Context(), e.now.source, func() { passes++ }); err != nil || passes != 1 {
				t.Errorf("%s, %d threads: read %d times (%v)", text, threads, passes, err)
			}
			b.close()
		}
		e.Close()
	}
}

// TestPassesArePublic: how often rows are read follows from the size of the table and the memory,
// and not from which rows pass a condition: the last one that does not fit is no switch.
func TestPassesArePublic(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE t AS SELECT CAST(hash(i) % 100000 AS BIGINT) AS u, CAST(hash(i + 7) % 1000 "+
		"AS INTEGER) AS v, 'k' || (hash(i * 31) % 10) AS k FROM range(500000) r(i)")
	ds := dataset(t, folder, "source: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 6\n    columns: {v: "+
		"{type: integer, bounds: [0, 1000]}, k: {type: text, keys: [k0, k1, k2, k3, k4, k5, k6, k7, k8, k9]}}\n")
	e := open(t, ds)
	for _, memory := range append([]int64{3 << 20}, daily.Sample(t, []int64{6 << 20, 32 << 20}, 1)...) {
		e.now.memory = memory
		seen := map[int][]int{}
		for _, most := range append([]int{10, 1000}, daily.Sample(t, []int{300, 600, 800}, 1)...) {
			b, err := e.now.newBounded(bothOf(prepare(t, ds, fmt.Sprintf("SELECT k, COUNT(*), SUM(v) FROM t WHERE v <= %d GROUP BY k",
				most))))
			if err != nil {
				t.Fatal(err)
			}
			passes := 0
			must(b.runWith(t.Context(), e.now.source, func() { passes++ }))(t)
			seen[passes] = append(seen[passes], most)
			b.close()
		}
		if len(seen) > 1 || memory < 6<<20 && seen[1] != nil {
			t.Errorf("%d bytes: read so often, by what passes: %v", memory, seen)
		}
		t.Logf("%d bytes: %v", memory, seen)
	}
}
