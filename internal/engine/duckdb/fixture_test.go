package duckdb

import (
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	driver "github.com/duckdb/duckdb-go/v2"
	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/policy"
)

// owner runs statements in a DuckDB that nobody has locked, as the owner of the
// data does. With a path it is that database file, otherwise it is in memory.
func owner(t testing.TB, path string, statements ...string) {
	t.Helper()
	conn := must(owners().Conn(t.Context()))(t)
	defer conn.Close()
	file := "file" + strconv.FormatInt(ownersFiles.Add(1), 10)
	attach := "ATTACH ':memory:' AS " + file
	if path != "" {
		attach = "ATTACH " + sqlgen.QuoteText(path) + " AS " + file
	}
	before, after := []string{attach, "USE " + file}, []string{"CHECKPOINT " + file, "USE memory", "DETACH " + file}
	for _, s := range slices.Concat(before, statements, after) {
		if _, err := conn.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%v in %.300s", err, s)
		}
	}
}

// owners is the DuckDB of all who own data: to start one for each file takes longer than to write
// most of them.
var (
	owners = sync.OnceValue(func() *sql.DB {
		connector, err := driver.NewConnector("", nil)
		if err != nil {
			panic(err)
		}
		return sql.OpenDB(connector)
	})
	ownersFiles atomic.Int64
)

// must ends a test where there is an error: must(Open(ctx, ds))(t).
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		mustDo(t, err)
		return v
	}
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	mustDo(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// dataset reads a policy with one dataset whose files are in a folder. What
// is given are the dataset's keys below the budget.
func dataset(t testing.TB, folder, keys string) *policy.Dataset {
	t.Helper()
	return datasetWith(t, folder, "{epsilon: 1}", keys)
}

func datasetWith(t testing.TB, folder, budget, keys string) *policy.Dataset {
	t.Helper()
	return generate.Dataset(t, folder, "engine: duckdb\nbudget: "+budget, keys)
}

func open(t testing.TB, ds *policy.Dataset) *Engine {
	t.Helper()
	e := must(Open(t.Context(), ds))(t)
	t.Cleanup(func() { e.Close() })
	return e
}

// Questions are planned as those of every engine are.
var prepare, prepareOne = generate.MustPlan, generate.Plan

// check returns what is found in the data.
func check(t testing.TB, ds *policy.Dataset) ([]engine.Finding, error) {
	found, _, err := Inspect(t.Context(), ds)
	return found, err
}

// ask returns the exact vectors of a question, in the order of its measures.
func ask(t testing.TB, e *Engine, text string) [][]int64 {
	t.Helper()
	q := &prepare(t, e.dataset, text).Query
	result, err := e.Run(t.Context(), q)
	if err != nil {
		t.Fatalf("%s: %v", text, runAgain(t, e, q))
	}
	out := make([][]int64, len(result.Measures))
	for i, v := range result.Measures {
		out[i] = v.Open()
	}
	return out
}

// watchSpills gives a test a folder of its own for temporary files. What it returns
// fails the test where a folder for large questions is left in it.
func watchSpills(t *testing.T) func() {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	return func() {
		t.Helper()
		if found, err := filepath.Glob(filepath.Join(folder, "discreet-spill-*")); err != nil || len(found) > 0 {
			t.Errorf("left behind: %v, %v", found, err)
		}
	}
}

// runAgain runs a query again to see what DuckDB says, which nobody else is told.
func runAgain(t testing.TB, e *Engine, q *tree.Query) error {
	t.Helper()
	for _, st := range e.now.Statements(q) {
		rows, err := e.now.DB.QueryContext(t.Context(), st.Text, st.Args...)
		if err != nil {
			return fmt.Errorf("%w in %.4000s", err, st.Text)
		}
		for rows.Next() {
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return fmt.Errorf("%w in %.4000s", err, st.Text)
		}
	}
	return nil
}

// mutant returns statements with their text changed, and whether any was.
func mutant(all []sqlgen.Statement, change func(string) string) ([]sqlgen.Statement, bool) {
	out, changed := slices.Clone(all), false
	for i := range out {
		out[i].Text = change(out[i].Text)
		changed = changed || out[i].Text != all[i].Text
	}
	return out, changed
}

// TestMain lets rapid try fewer tables than it would, unless all are asked for. They are others in
// every run.
func TestMain(m *testing.M) {
	daily.Checks("4")
	debug.SetGCPercent(400) // plans are made and dropped by the thousand
	code := m.Run()
	for _, f := range allFamilies {
		f.close()
	}
	os.RemoveAll(familiesFolder)
	os.Exit(code)
}

// rounds returns how many rounds a test has: fewer than all, unless all are asked for.
func rounds[T int | uint64](fewer, all T) T {
	if daily.Full() {
		return all
	}
	return fewer
}

// seeds returns from which seeds a test makes what it asks: some, others every day, or all.
func seeds(t testing.TB, fewer, all int) []uint64 {
	t.Helper()
	out := make([]uint64, all)
	for i := range out {
		out[i] = uint64(i)
	}
	return daily.Sample(t, out, fewer)
}

// turnOf returns at which of n turns what is asked by turns begins, which is another every day.
func turnOf(t testing.TB, n int) int {
	t.Helper()
	return daily.Choices(t).Below(n)
}

// shape says who is a person in a random table.
type shape struct {
	kind               policy.UnitKind
	maxRows, maxGroups int
	neighbours         string
}

func drawShape(t *rapid.T) shape {
	return shape{
		rapid.SampledFrom([]policy.UnitKind{policy.Row, policy.Unique, policy.Many, policy.Many}).Draw(t, "unit"),
		rapid.IntRange(1, 3).Draw(t, "max_rows"), rapid.IntRange(1, 6).Draw(t, "max_groups"),
		rapid.SampledFrom([]string{"add-remove", "substitute"}).Draw(t, "neighbours"),
	}
}

// keys writes the dataset's part of the policy.
func (s shape) keys(source string) string {
	unit, bounded := "t.u", fmt.Sprintf("    max_rows: %d\n    max_groups: %d\n", s.maxRows, s.maxGroups)
	switch s.kind {
	case policy.Row:
		unit, bounded = "row", ""
	case policy.Unique:
		bounded = "    unique: u\n"
	}
	columns := ""
	for _, c := range generate.Columns {
		columns += "      " + c.Name + ": " + c.Policy + "\n"
	}
	return fmt.Sprintf("source: %s\nunit: %s\nneighbours: %s\ntables:\n  t:\n%s    columns:\n%s", filepath.Base(source), unit,
		s.neighbours, bounded, columns)
}

// storeRows writes the rows into a file of a kind and returns its path.
func storeRows(t testing.TB, folder, kind string, rows []row) string {
	t.Helper()
	path := filepath.Join(folder, "t."+kind)
	if kind == "csv" {
		return write(t, folder, "t.csv", csvText(rows))
	}
	columns, names := []string{"u BIGINT"}, []string{"u"}
	for _, c := range generate.Columns {
		columns, names = append(columns, c.Name+" "+c.Stored), append(names, c.Name)
	}
	statements := []string{"CREATE TABLE t (" + strings.Join(columns, ", ") + ")"}
	for start := 0; start < len(rows); start += 500 {
		var values []string
		for _, r := range rows[start:min(start+500, len(rows))] {
			cells := make([]string, len(names))
			for i, name := range names {
				cells[i] = sqlValue(r[name])
			}
			values = append(values, "("+strings.Join(cells, ", ")+")")
		}
		statements = append(statements, "INSERT INTO t VALUES "+strings.Join(values, ", "))
	}
	if kind == "duckdb" {
		owner(t, path, statements...)
	} else {
		owner(t, "", append(statements, "COPY t TO "+sqlgen.QuoteText(path)+" (FORMAT parquet)")...)
	}
	return path
}

func sqlValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return strings.ReplaceAll(sqlgen.QuoteText(v), "\x00", "' || chr(0) || '")
	case float64:
		return sqlgen.QuoteText(strconv.FormatFloat(v, 'g', -1, 64)) + "::DOUBLE"
	case tree.Day:
		return fmt.Sprintf("(DATE '1970-01-01' + (%d)::INTEGER)", int64(v))
	case tree.Moment:
		return fmt.Sprintf("make_timestamp((%d)::BIGINT)", int64(v))
	case int64:
		return sqlgen.QuoteText(strconv.FormatInt(v, 10)) + "::BIGINT"
	}
	return fmt.Sprint(v)
}

// csvText writes rows as CSV. An empty text is NULL there, which the caller's rows must say too.
func csvText(rows []row) string {
	var b strings.Builder
	b.WriteString("u")
	for _, c := range generate.Columns {
		b.WriteString("," + c.Name)
	}
	b.WriteString("\n")
	for _, r := range rows {
		b.WriteString(csvValue(r["u"]))
		for _, c := range generate.Columns {
			b.WriteString("," + csvValue(r[c.Name]))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func csvValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return `"` + v + `"`
	}
	return fmt.Sprint(v)
}

type row = generate.Row

var one = big.NewRat(1, 1)
