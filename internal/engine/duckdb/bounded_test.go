package duckdb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/bound"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

func opened(r *engine.Result) string {
	var out [][]int64
	for _, v := range r.Measures {
		out = append(out, v.Open())
	}
	return fmt.Sprint(out)
}

// TestBothShapes asks random questions in both ways: through package bound, with memory and
// without, and as one SQL statement. Where the definition leaves no choice they agree; the ways
// through bound always do.
func TestBothShapes(t *testing.T) {
	asked, certain := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		s := drawShape(rt)
		s.kind = policy.Many // others have one way
		e, rows := drawTable(rt, t, t.TempDir(), s, 60)
		defer e.Close()
		for range 12 {
			text := drawQuestion(rt)
			p, err := prepareOne(e.dataset, text)
			if err != nil {
				continue
			}
			q := &p.Query
			e.now.memory, e.now.unordered = 0, false
			first, err := e.now.runBounded(t.Context(), q, everyMeasure(q))
			if err != nil {
				rt.Fatalf("%s: %v; %v", text, err, why(t, e, q))
			}
			e.now.memory = rapid.SampledFrom([]int64{1 << 16, 1 << 19, 1 << 22}).Draw(rt, "memory")
			e.now.unordered = rapid.Bool().Draw(rt, "unordered")
			second, err := e.now.runBounded(t.Context(), q, everyMeasure(q))
			if err != nil || fmt.Sprint(first) != fmt.Sprint(second) {
				rt.Fatalf("%s: %v with memory, %v with %d bytes of it (%v)", text, first, second, e.now.memory, err)
			}
			inSQL, err := e.now.Run(t.Context(), q, e.now.Statements(q))
			if err != nil {
				rt.Fatalf("%s: %v", text, why(t, e, q))
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
	if !testing.Short() && certain < 100 {
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
	for i, p := range people {
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
		if inSQL := errors.Is(err, errShape); inSQL != (p.typ == "DOUBLE") {
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
	if m := e.now.memory; m < 1<<20 || m > bound.DefaultMemory {
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
		got, err := e.now.runBounded(t.Context(), q, everyMeasure(q))
		if err != nil {
			t.Fatal(err)
		}
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
	rows := "SELECT hash(i) % 5000 AS u, 'k' || (hash(i * 31) % 40) AS k, CAST(hash(i + 7) % 100 AS INTEGER) AS v FROM range(400000) r(i)"
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
		b, err := e.now.newBounded(bothOf(prepare(t, ds, "SELECT k, COUNT(*), SUM(v) FROM "+table+" GROUP BY k")))
		if err != nil {
			t.Fatal(err)
		}
		defer b.close()
		b.spec.Salt = [32]byte{1}
		passes := 0
		got, err := b.runWith(t.Context(), e.now.source, func() { passes++ })
		if err != nil {
			t.Fatal(err)
		}
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
