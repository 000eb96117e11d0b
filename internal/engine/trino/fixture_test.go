package trino

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

func TestMain(m *testing.M) {
	daily.Checks("8") // a statement takes a tenth of a second
	code := m.Run()
	for _, end := range slices.Backward(atEnd) {
		end()
	}
	os.Exit(code)
}

// atEnd is what tests leave to the end of all of them.
var atEnd []func()

// lasting is a test that makes something for others, too: it is cleared up after all of them.
type lasting struct{ testing.TB }

func (lasting) Cleanup(f func()) { atEnd = append(atEnd, f) }

// rounds returns how many rounds a test has: fewer than all, unless all are asked for.
func rounds[T int | uint64](fewer, all T) T {
	if daily.Full() {
		return all
	}
	return fewer
}

// firstSeed returns where the seeds of a test begin that takes a few of all: elsewhere every day,
// unless -seeds says where.
func firstSeed(t testing.TB, few, all int) int {
	t.Helper()
	if *seeds != 0 || daily.Full() {
		return *seeds
	}
	return few * daily.Choices(t).Below(all/few)
}

// dataset reads a policy with one dataset, whose tables are in a schema. What is given are the
// dataset's keys below the budget.
func dataset(t testing.TB, source, keys string) *policy.Dataset {
	t.Helper()
	return generate.Dataset(t, "", "budget: {epsilon: 1, delta: 1e-6}\nsource: "+source, keys)
}

// schema is a new schema for the tables of a test.
type schema struct {
	*testtrino.Cluster
	catalog, name string
}

func newSchema(t testing.TB, catalog string) schema {
	t.Helper()
	c := testtrino.Shared(t)
	return schema{c, catalog, c.Schema(t, catalog)}
}

func (s schema) source() string { return s.Address(testtrino.Reader, s.catalog, s.name) }

func (s schema) dataset(t testing.TB, keys string) *policy.Dataset {
	return dataset(t, s.source(), keys)
}

func (s schema) table(name string) string { return fmt.Sprintf("%s.%s.%q", s.catalog, s.name, name) }

func open(t testing.TB, ds *policy.Dataset) *Engine {
	t.Helper()
	return openWith(t, ds, testtrino.Shared(t).DB(t, testtrino.Reader))
}

func openWith(t testing.TB, ds *policy.Dataset, db *sql.DB) *Engine {
	t.Helper()
	e, err := OpenTables(t.Context(), ds, Tables{db, func(context.Context) (TableState, error) {
		return TableState{Version: store.Version{State: "made"}, Pinned: true,
			From: func(n string) string { return name(ds.Tables[n]) }}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// Questions are planned as those of every engine are.
var prepare, prepareOne = generate.MustPlan, generate.Plan

// trinoTypes are those in which the columns of a sample are stored, by their type in DuckDB.
var trinoTypes = map[string]string{"BIGINT": "bigint", "INTEGER": "integer", "DOUBLE": "double", "VARCHAR": "varchar",
	"BOOLEAN": "boolean", "DATE": "date", "TIMESTAMP": "timestamp(6)"}

// storeRows makes a table t of a sample's rows, with u in order where nobody has it.
func (s schema) storeRows(t testing.TB, rows []generate.Row) {
	t.Helper()
	list, names := []string{"u bigint"}, []string{"u"}
	for _, c := range generate.Columns {
		list, names = append(list, c.Name+" "+trinoTypes[c.Stored]), append(names, c.Name)
	}
	s.Run(t, "CREATE TABLE "+s.table("t")+" ("+strings.Join(list, ", ")+")")
	for start := 0; start < len(rows); start += 200 {
		var values []string
		for _, r := range rows[start:min(start+200, len(rows))] {
			cells := make([]string, len(names))
			for i, name := range names {
				cells[i] = sqlValue(r[name])
			}
			values = append(values, "("+strings.Join(cells, ", ")+")")
		}
		s.Run(t, "INSERT INTO "+s.table("t")+" VALUES "+strings.Join(values, ", "))
	}
}

func sqlValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return constant(v)
	case float64:
		switch {
		case math.IsInf(v, 0):
			return map[bool]string{true: "infinity()", false: "-infinity()"}[v > 0]
		case math.IsNaN(v):
			return "nan()"
		}
		return "DOUBLE '" + strconv.FormatFloat(v, 'g', -1, 64) + "'"
	case tree.Day:
		return fmt.Sprintf("date_add('day', %d, DATE '1970-01-01')", int64(v))
	case tree.Moment:
		return timestamp(fmt.Sprint(int64(v)))
	case int64:
		return constant(v)
	}
	return fmt.Sprint(v)
}

// sampleKeys is a policy over a sample, in which nobody has several rows.
func sampleKeys() string {
	keys := "unit: t.u\ntables:\n  t:\n    unique: u\n    columns:\n"
	for _, c := range generate.Columns {
		keys += "      " + c.Name + ": " + c.Policy + "\n"
	}
	return keys
}

// runAgain runs a query again to see what Trino says, which nobody else is told.
func runAgain(t testing.TB, e *Engine, q *tree.Query) error {
	t.Helper()
	d := e.Current()
	for _, st := range d.Statements(q) {
		rows, err := d.DB.QueryContext(t.Context(), st.Text)
		if err != nil {
			return fmt.Errorf("%w in %.4000s", err, st.Text)
		}
		for rows.Next() {
		}
		if err := rows.Err(); err != nil {
			return fmt.Errorf("%w in %.4000s", err, st.Text)
		}
		rows.Close()
	}
	return nil
}

// minInt128 is a number that 64 bits do not hold.
func minInt128() *big.Int { return new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 120)) }

// TestConstantsArrive: what is spelled is what arrives, sign by sign.
func TestConstantsArrive(t *testing.T) {
	db := testtrino.Shared(t).DB(t, testtrino.Reader)
	texts := []string{"", "'", "it''s", "\x00a\x00", "\\", "😀é", "?", "$1 --", strings.Repeat("x", 5000)}
	var got, into []any
	for range texts {
		got = append(got, nil)
	}
	for i := range got {
		into = append(into, &got[i])
	}
	if err := db.QueryRowContext(t.Context(), "SELECT "+printList(texts)).Scan(into...); err != nil {
		t.Fatal(err)
	}
	for i, want := range texts {
		if got[i] != want {
			t.Errorf("%q has become %q", want, got[i])
		}
	}
	var n, lowest, found any
	text := "SELECT " + constant(int64(-1<<63)) + ", " + printInteger(minInt128()) + ", 5 IN (" + constant([]int64{4, 5}) + ")"
	if err := db.QueryRowContext(t.Context(), text).Scan(&n, &lowest, &found); err != nil {
		t.Fatal(err)
	}
	if n != int64(-1<<63) || lowest != minInt128().String() || found != true {
		t.Error(n, lowest, found)
	}
}

// TestCancel: a question that is canceled has stopped, and so has what the cluster ran for it.
func TestCancel(t *testing.T) {
	cluster := testtrino.Shared(t)
	keys := "unit: orders.custkey\ntables:\n  orders:\n    max_rows: 5\n    max_groups: 1\n    columns:\n" +
		"      totalprice: {type: decimal, bounds: [0, 1000], granularity: 0.01}\n"
	e := open(t, dataset(t, cluster.Address(testtrino.Reader, "tpch", "sf100"), keys))
	q := &prepare(t, e.dataset, "SELECT COUNT(*), SUM(totalprice) FROM orders").Query
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := e.Run(ctx, q)
	if !errors.Is(err, engine.ErrRun) || engine.EndingOf(err) != engine.Stopped {
		t.Fatalf("%v, %v", err, engine.EndingOf(err))
	}
	const running = "SELECT count(*) FROM system.runtime.queries WHERE state = 'RUNNING' AND query LIKE " +
		"'%sf100%' AND query NOT LIKE '%runtime%'"
	for range 600 {
		if cluster.Rows(t, testtrino.Admin, running)[0][0] == "0" {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error("the cluster still runs it")
}
