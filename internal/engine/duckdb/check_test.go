package duckdb

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/source/pgtables"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store/testdata/thirdparty"
)

// TestCheck makes each finding appear, and disappear when the data is right.
func TestCheck(t *testing.T) {
	const good = "u,i,d,n\n1,5,0.5,1\n2,6,,2\n3,7,1.5,3\n"
	const unique = `
source: t.csv
unit: t.u
tables:
  t:
    unique: u
    columns:
      i: {type: integer, bounds: [0, 10]}
      d: {type: decimal, bounds: [-1, 2], granularity: 0.5}
      n: {type: integer, nullable: false}
`
	many := strings.Replace(unique, "unique: u", "max_rows: 2\n    max_groups: 1", 1)
	for name, c := range map[string]struct{ keys, data, column, text string }{
		"good":               {unique, good, "", ""},
		"good, many rows":    {many, good + "3,8,1.5,3\n", "", ""},
		"not unique":         {unique, good + "3,8,1.5,3\n", "u", "THE GUARANTEE DOES NOT HOLD"},
		"nobody":             {many, good + ",8,1.5,3\n", "u", "many of the rows are about nobody"},
		"wrong type":         {unique, good + "4,abc,1.5,3\n", "i", "many of the values are not integer; they count as NULL"},
		"all of wrong type":  {unique, "u,i,d,n\n1,x,0.5,1\n2,y,1,1\n", "i", "all of the values are not integer"},
		"most of wrong type": {unique, "u,i,d,n\n1,x,0.5,1\n2,y,1,1\n3,4,1,1\n", "i", "most of the values are not integer"},
		"beyond the bounds":  {unique, good + "4,11,1.5,3\n", "i", "many of the values are beyond the bounds"},
		"below the bounds":   {unique, good + "4,9,-1.5,3\n", "d", "many of the values are beyond the bounds"},
		"unexpected NULL":    {unique, good + "4,9,1.5,\n", "n", "there are NULLs"},
		"a missing field":    {unique, good + "4,9\n", "", "line 5 has 2 values, and the header has 4. These lines are no rows"},
		"not UTF-8":          {unique, good + "4,9,\xe9,3\n", "", "line 5 is not UTF-8. These lines are no rows"},
		"one in a hundred":   {many, good + strings.Repeat("9,1,1,1\n", 100) + "4,xyzzy,1,1\n", "i", "some of the values are not integer"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, folder, "t.csv", c.data)
			found := must(check(t, dataset(t, folder, c.keys)))(t)
			if c.text == "" {
				if len(found) > 0 {
					t.Errorf("%+v", found)
				}
				return
			}
			if len(found) != 1 || found[0].Table != "t" || found[0].Column != c.column || !strings.Contains(found[0].Text, c.text) {
				t.Fatalf("%+v", found)
			}
			if unread := strings.HasPrefix(name, "all of") || strings.HasPrefix(name, "most of"); found[0].Unread != unread {
				t.Errorf("%+v", found)
			}
			if found[0].Broken != (name == "not unique") {
				t.Errorf("%+v", found)
			}
			for _, value := range []string{"abc", "xyzzy", "11", "1.5"} {
				if strings.Contains(found[0].Text, value) {
					t.Errorf("it quotes a value: %+v", found[0])
				}
			}
		})
	}
}

// TestCheckStored looks at stores with types, where a wrong type is an error of Open's, and
// a value can still be beyond 64 bits.
func TestCheckStored(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS SELECT unnest([1, 2, "+
		"170141183460469231731687303715884105727::HUGEINT]) AS i, unnest([1, 2, 2]) AS u")
	found, err := check(t, dataset(t, folder, "source: t.duckdb\nunit: t.u\ntables: {t: {unique: u, columns: {i: {type: "+
		"integer}}}}"))
	if err != nil || len(found) != 2 || !found[0].Broken || found[1].Broken || found[1].Column != "i" {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestNoColumns: a policy may list no column. Then rows can be counted.
func TestNoColumns(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "i\n1\n2\n")
	owner(t, "", "COPY (SELECT unnest([1, 2]) AS i) TO "+sqlgen.QuoteText(filepath.Join(folder, "t.parquet")))
	for _, source := range []string{"t.csv", "t.parquet"} {
		ds := dataset(t, folder, "source: "+source+"\nunit: row\ntables: {t: {columns: {}}}")
		if found, err := check(t, ds); err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %v", source, found, err)
		}
		if got := ask(t, open(t, ds), "SELECT COUNT(*) FROM t"); got[0][0] != 2 {
			t.Errorf("%s: %v", source, got)
		}
	}
}

// TestCheckSpelling: a table in which nobody is of the unit's table is worth a word.
func TestCheckSpelling(t *testing.T) {
	for visits, want := range map[string]int{"pid\n1.0\n2.0\n": 1, "pid\n1.0\n2\n": 0, "pid\n": 0} {
		folder := t.TempDir()
		write(t, folder, "p.csv", "pid\n1\n2\n")
		write(t, folder, "v.csv", visits)
		found, err := check(t, dataset(t, folder, "source: .\nunit: p.pid\ntables: {p: {unique: pid, columns: {}}, v: {path: "+
			"pid -> p.pid, max_rows: 1, max_groups: 1, columns: {}}}"))
		if err != nil || len(found) != want || want == 1 && (found[0].Broken ||
			!strings.Contains(found[0].Text, "nobody of v.pid is in p.pid: are the ids spelt alike?")) {
			t.Errorf("%q: %+v, %v", visits, found, err)
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
		owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE a AS SELECT range AS pid, 1 AS n FROM range("+c.rows+")",
			"CREATE TABLE p AS SELECT 1 AS x", "CREATE TABLE q AS SELECT 1 AS x")
		ds := dataset(t, folder, `
source: d.duckdb
unit: a.pid
tables:
  a: {unique: pid, columns: {n: {type: integer, bounds: [0, 9]}}}
  p: {public: true, columns: {x: {type: integer}}}
  q: {public: true, columns: {x: {type: integer}}}`)
		got, err := open(t, ds).Magnitude(t.Context())
		if _, checked, err := Inspect(t.Context(), ds); err != nil || checked != got {
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
	owner(t, filepath.Join(folder, "d.duckdb"),
		"CREATE TABLE a AS SELECT range % 2000 AS pid, repeat('x', 20 + CAST(range % 5 AS INTEGER)) AS n, 'k' || range % 3 AS k, "+
			"CASE WHEN range % 100 = 0 THEN repeat('y', 16000) ELSE NULL END AS r FROM range(5000)",
		"CREATE TABLE p AS SELECT range AS x, range % 10 AS y FROM range(100)")
	e := open(t, datasetWith(t, folder, "{epsilon: 1, delta: 1e-6}", `
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
	for _, data := range [][]string{sized(10, 1, 3), sized(1500, 10, 2), sized(5000, 40, 3000)} {
		folder := t.TempDir()
		owner(t, filepath.Join(folder, "d.duckdb"), data...)
		ds := datasetWith(t, folder, "{epsilon: 1, delta: 1e-6}", fmt.Sprintf(sizedPolicy, "d.duckdb")+sizesDeclared)
		if got := readSizes(t, open(t, ds)); got != told {
			t.Errorf("a file: %s, want %s", got, told)
		}
		s := must(thirdparty.Open(t.Context(), data...))(t)
		theirs := must(OpenStore(t.Context(), ds, s))(t)
		defer theirs.Close()
		if got := readSizes(t, theirs); got != told {
			t.Errorf("a store: %s, want %s", got, told)
		}
	}
}

// The same of a database that is copied, of which the owner's check knows what PostgreSQL
// estimates.
func TestSizesDeclaredPostgres(t *testing.T) {
	c := newClinic(t, append(sized(5000, 20, 60), "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader", "ANALYZE")...)
	ds := datasetWith(t, t.TempDir(), "{epsilon: 1, delta: 1e-6}", fmt.Sprintf(sizedPolicy, c.source())+sizesDeclared)
	got := readSizes(t, open(t, ds))
	if !strings.Contains(got, "visits:{90000 map[code:12 who:9] map[code:70000] map[]}") || !strings.HasSuffix(got, "3000 1000} 5") {
		t.Error(got)
	}
	doubts := pgtables.Doubts{}
	for name := range ds.Tables {
		doubts[name] = &pgtables.Doubt{}
	}
	found, magnitude, err := InspectDoubts(t.Context(), ds, doubts)
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
	if all, err := ProposeSizes(t.Context(), ds); err != nil || all.Tables["visits"].Rows != 131072 || all.People != 8192 ||
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
	owner(t, filepath.Join(folder, "d.duckdb"), statements...)
	for _, source := range []string{"d.duckdb", "."} {
		text := fmt.Sprintf(sizedPolicy, source)
		ds := datasetWith(t, folder, "{epsilon: 1, delta: 1e-6}", text+sizesDeclared)
		found := must(check(t, ds))(t)
		var where []string
		for _, f := range found {
			if strings.Contains(f.Text, "'sizes' declares") && !f.Broken && !f.Unread {
				where = append(where, f.Table+"."+f.Column)
			}
		}
		if got := strings.Join(where, " "); got != "people.pid people. people.note visits. visits.code" {
			t.Errorf("%s: outgrown: %s", source, got)
		}
		proposed := must(ProposeSizes(t.Context(), ds))(t)
		block := proposed.Text(ds)
		if !strings.Contains(block, "rows: 131072\n          lengths: {code: 16, who: 8}\n") || !strings.Contains(block, "people: 8192\n") {
			t.Error(block)
		}
		ds = datasetWith(t, folder, "{epsilon: 1, delta: 1e-6}", text+strings.ReplaceAll("\n"+block, "\n    ", "\n"))
		if found, err := check(t, ds); err != nil || strings.Contains(fmt.Sprint(found), "'sizes' declares") {
			t.Errorf("what is proposed is outgrown: %v, %v", found, err)
		}
	}
}
