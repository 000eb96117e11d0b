package duckdb_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/source/pgtables"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/storekinds"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store/testdata/thirdparty"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// store makes the file d.duckdb in a folder.
func store(t testing.TB, folder string, statements ...string) {
	t.Helper()
	if err := storekinds.Write(t.Context(), filepath.Join(folder, "d.duckdb"), statements); err != nil {
		t.Fatal(err)
	}
}

func dataset(t testing.TB, folder, keys string) *policy.Dataset {
	t.Helper()
	return generate.Dataset(t, folder, "engine: duckdb\nbudget: {epsilon: 1, delta: 1e-6}", keys)
}

func open(t testing.TB, ds *policy.Dataset) *duckdb.Engine {
	t.Helper()
	e := must(duckdb.Open(t.Context(), ds))(t)
	t.Cleanup(func() { e.Close() })
	return e
}

func TestPowerOfTen(t *testing.T) {
	for n, want := range map[int64]int{0: 0, 1: 0, 2: 1, 10: 1, 11: 2, 1e17: 17, 1e17 + 1: 18, math.MaxInt64: 18} {
		if got := sqlengine.PowerOfTen(n); got != want {
			t.Errorf("%d: %d", n, got)
		}
	}
}

// How large the data is is told as a power of ten, and the same before and after it is opened for
// questions.
func TestMagnitude(t *testing.T) {
	for _, c := range []struct {
		rows string
		want int
	}{{"0", 1}, {"8", 1}, {"9", 2}, {"98", 2}, {"99", 3}} { // with two tables of one row each
		folder := t.TempDir()
		store(t, folder,
			"CREATE TABLE a AS SELECT range AS pid, 1 AS n FROM range("+c.rows+")",
			"CREATE TABLE p AS SELECT 1 AS x", "CREATE TABLE q AS SELECT 1 AS x")
		ds := dataset(t, folder, `
source: d.duckdb
unit: a.pid
tables:
  a: {unique: pid, columns: {n: {type: integer, bounds: [0, 9]}}}
  p: {public: true, columns: {x: {type: integer}}}
  q: {public: true, columns: {x: {type: integer}}}`)
		got, err := open(t, ds).Magnitude(t.Context())
		if _, checked, err := duckdb.Inspect(t.Context(), ds); err != nil || checked != got {
			t.Errorf("%s rows: %d, and %d when checked: %v", c.rows, got, checked, err)
		}
		if err != nil || got != c.want {
			t.Errorf("%s rows: %d, %v", c.rows, got, err)
		}
	}
}

// Sizes are rounded up and follow the data, and small ones are not told.
func TestSizes(t *testing.T) {
	folder := t.TempDir()
	store(t, folder,
		"CREATE TABLE a AS SELECT range % 2000 AS pid, repeat('x', 20 + CAST(range % 5 AS INTEGER)) AS n, 'k' || range % 3 AS k, "+
			"CASE WHEN range % 100 = 0 THEN repeat('y', 16000) ELSE NULL END AS r FROM range(5000)",
		"CREATE TABLE p AS SELECT range AS x, range % 10 AS y FROM range(100)")
	e := open(t, dataset(t, folder, `
source: d.duckdb
unit: a.pid
tables:
  a: {max_rows: 3, max_groups: 2, columns: {n: {type: text}, r: {type: text}, k: {type: text, keys: private}}}
  p: {public: true, columns: {x: {type: integer}, y: {type: integer}}}`))
	got := must(e.Sizes(t.Context()))(t)
	a, p := got.Tables["a"], got.Tables["p"]
	// Of a hundred texts 99 are NULL, and the other one has 16,000 bytes.
	if a.Rows != 5793 || a.Lengths["n"] != 23 || a.Lengths["k"] != 8 || a.Lengths["r"] != 182 || a.Values["k"] != 1024 ||
		got.People < 2048 || got.People > 2897 {
		t.Errorf("%+v, %d people", a, got.People)
	}
	if p.Rows != 128 || p.Most["x"] != 1 || p.Most["y"] != 12 {
		t.Errorf("%+v", p)
	}
	if m := e.Machine(t.Context()); m.Threads < 1 || m.Factor < 0.5 || m.Memory <= 0 || m.Cluster || m.SQL {
		t.Errorf("%+v", m)
	}
}

// sized are made-up people with texts as names, so many of them, each with so many visits and a
// note of so many bytes.
func sized(people, visits, length int) []string {
	return []string{
		fmt.Sprintf("CREATE TABLE people AS SELECT concat('p', n) AS pid, repeat('x', %d) AS note, n AS age "+
			"FROM generate_series(1, %d) AS t(n)", length, people),
		fmt.Sprintf("CREATE TABLE visits AS SELECT concat('p', n) AS who, concat('c', n, '-', m) AS code "+
			"FROM generate_series(1, %d) AS t(n) CROSS JOIN generate_series(1, %d) AS u(m)", people, visits),
		"CREATE TABLE codes AS SELECT concat('c', n) AS code FROM generate_series(1, 100) AS t(n)",
	}
}

const (
	sizedPolicy = `
source: %s
unit: people.pid
tables:
  people: {unique: pid, columns: {note: {type: text}, age: {type: integer}}}
  visits: {path: who -> people.pid, max_rows: 3, max_groups: 2, columns: {code: {type: text, keys: private}}}
  codes: {public: true, columns: {code: {type: text}}}
`
	sizesDeclared = `
sizes:
  people: 3000
  tables:
    people: {rows: 4000, lengths: {note: 50}}
    visits: {rows: 90000, lengths: {code: 12, who: 9}, values: {code: 70000}}
`
)

// readSizes opens data and returns its sizes and its magnitude.
func readSizes(t *testing.T, e interface {
	Sizes(context.Context) (publictime.Sizes, error)
	Magnitude(context.Context) (int, error)
}) string {
	t.Helper()
	sizes := must(e.Sizes(t.Context()))(t)
	magnitude := must(e.Magnitude(t.Context()))(t)
	return fmt.Sprint(sizes, magnitude)
}

// Where sizes are declared they are told, and the number of rows with them, whatever is stored and
// wherever; public tables are counted, and names of people have a length that is no count.
func TestSizesDeclared(t *testing.T) {
	want := publictime.Sizes{People: 3000, Fanout: policy.DefaultFanout, Tables: map[string]publictime.Table{
		"people": {Rows: 4000, Lengths: map[string]int64{"note": 50, "pid": publictime.NameLength}},
		"visits": {Rows: 90000, Lengths: map[string]int64{"code": 12, "who": 9}, Values: map[string]int64{"code": 70000}},
		"codes":  {Rows: 128, Lengths: map[string]int64{"code": 8}, Most: map[string]int64{"code": 1}}}}
	told := fmt.Sprint(want, 5)
	for _, data := range daily.Sample(t, [][]string{sized(10, 1, 3), sized(1500, 10, 2), sized(5000, 40, 3000)}, 1) {
		folder := t.TempDir()
		store(t, folder, data...)
		ds := dataset(t, folder, fmt.Sprintf(sizedPolicy, "d.duckdb")+sizesDeclared)
		if got := readSizes(t, open(t, ds)); got != told {
			t.Errorf("a file: %s, want %s", got, told)
		}
		s := must(thirdparty.Open(t.Context(), data...))(t)
		theirs := must(duckdb.OpenStore(t.Context(), ds, s))(t)
		defer theirs.Close()
		if got := readSizes(t, theirs); got != told {
			t.Errorf("a store: %s, want %s", got, told)
		}
	}
}

// The same of a database that is copied, of which the owner's check knows what PostgreSQL
// estimates.
func TestSizesDeclaredPostgres(t *testing.T) {
	statements := append(sized(5000, 20, 60), "GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+testpg.Reader, "ANALYZE")
	server := testpg.Shared(t)
	t.Cleanup(func() { server.Run(t, "postgres", "DROP DATABASE sizes WITH (FORCE)", "DROP ROLE "+testpg.Reader) })
	source := server.Database(t, "sizes", statements...)
	ds := dataset(t, t.TempDir(), fmt.Sprintf(sizedPolicy, source)+sizesDeclared)
	got := readSizes(t, open(t, ds))
	if !strings.Contains(got, "visits:{90000 map[code:12 who:9] map[code:70000] map[]}") || !strings.HasSuffix(got, "3000 1000} 5") {
		t.Error(got)
	}
	doubts := pgtables.Doubts{}
	for name := range ds.Tables {
		doubts[name] = &pgtables.Doubt{}
	}
	found, magnitude, err := duckdb.InspectDoubts(t.Context(), ds, doubts)
	if err != nil || magnitude != 5 {
		t.Error(magnitude, err)
	}
	var tables []string
	for _, f := range found {
		if strings.Contains(f.Text, "'sizes' declares") {
			tables = append(tables, f.Table+"."+f.Column)
		}
	}
	if got := strings.Join(tables, " "); got != "people. visits. visits.code" {
		t.Errorf("outgrown: %s", got)
	}
	if all, err := duckdb.ProposeSizes(t.Context(), ds, nil); err != nil || all.Tables["visits"].Rows != 131072 || all.People != 8192 ||
		all.Tables["people"].Lengths["note"] != 128 {
		t.Errorf("%+v, %v", all, err)
	}
}

// The owner's check says where the data has outgrown what is declared, and what is proposed has
// room.
func TestSizesOutgrown(t *testing.T) {
	folder := t.TempDir()
	statements := sized(5000, 20, 60)
	for _, name := range []string{"people", "visits", "codes"} {
		statements = append(statements, "COPY "+name+" TO '"+filepath.Join(folder, name)+".csv' (HEADER)")
	}
	store(t, folder, statements...)
	for _, source := range daily.Sample(t, []string{"d.duckdb", "."}, 1) {
		text := fmt.Sprintf(sizedPolicy, source)
		ds := dataset(t, folder, text+sizesDeclared)
		found, _, err := duckdb.Inspect(t.Context(), ds)
		if err != nil {
			t.Fatal(err)
		}
		var where []string
		for _, f := range found {
			if strings.Contains(f.Text, "'sizes' declares") && !f.Broken && !f.Unread {
				where = append(where, f.Table+"."+f.Column)
			}
		}
		if got := strings.Join(where, " "); got != "people.pid people. people.note visits. visits.code" {
			t.Errorf("%s: outgrown: %s", source, got)
		}
		proposed := must(duckdb.ProposeSizes(t.Context(), ds, nil))(t)
		block := proposed.Text(ds)
		if !strings.Contains(block, "rows: 131072\n          lengths: {code: 16, who: 8}\n") || !strings.Contains(block, "people: 8192\n") {
			t.Error(block)
		}
		ds = dataset(t, folder, text+strings.ReplaceAll("\n"+block, "\n    ", "\n"))
		if found, _, err := duckdb.Inspect(t.Context(), ds); err != nil || strings.Contains(fmt.Sprint(found), "'sizes' declares") {
			t.Errorf("what is proposed is outgrown: %v, %v", found, err)
		}
	}
}
