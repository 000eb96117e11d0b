package discreet_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
)

func TestParametersAreBound(t *testing.T) {
	db := open(t, deployment(t))
	const sql = "SELECT sex, COUNT(*) FROM patients WHERE age > $1 AND zip <> $2 GROUP BY sex"
	q := api.Question{Dataset: "north", Analyst: "ana", SQL: sql,
		Parameters: []api.Parameter{{Kind: "integer", Text: "40"}, {Text: "it's"}}}
	d, err := db.Describe(background, api.Question{Dataset: "north", Analyst: "ana", SQL: sql})
	if err != nil || fmt.Sprint(d.Parameters) != "[integer text]" {
		t.Fatal(d, err)
	}
	bound, err := db.Describe(background, q)
	if err != nil || !reflect.DeepEqual(d, bound) {
		t.Errorf("%v against %v, %v", bound, d, err)
	}
	e, err := db.Explain(background, q)
	if err != nil || e.Known {
		t.Fatal(e, err)
	}
	a, err := db.Ask(background, q)
	if err != nil || !slices.Equal(a.Columns, d.Columns) {
		t.Fatal(a, err)
	}
	// The same question with its values written out is the same question.
	b, err := db.Ask(background, api.Question{Dataset: "north", Analyst: "ana",
		SQL: "SELECT sex, COUNT(*) FROM patients WHERE zip <> 'it''s' AND age > 40 GROUP BY sex"})
	if err != nil || !b.Receipt.Free || !reflect.DeepEqual(a.Rows, b.Rows) {
		t.Errorf("%+v, %v", b, err)
	}
}

// TestPlacesOfParameters checks where questions with parameters are refused: in their own text, and
// not in the one with values.
func TestPlacesOfParameters(t *testing.T) {
	db := open(t, deployment(t))
	q := api.Question{Dataset: "north", Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients WHERE zip = $1 AND nobody = $2",
		Parameters: []api.Parameter{{Text: strings.Repeat("x", 1000)}, {Text: "y"}}}
	_, asked := db.Ask(background, q)
	_, explained := db.Explain(background, q)
	_, described := db.Describe(background, q)
	for _, err := range []error{asked, explained, described} {
		var r *api.Refusal
		if !errors.As(err, &r) || r.Position != strings.Index(q.SQL, "nobody") {
			t.Errorf("%#v", err)
		}
	}
	q.Parameters = nil
	if _, err := db.Ask(background, q); err == nil || !strings.Contains(err.Error(), "2 parameters, but 0 values") {
		t.Error(err)
	}
}

// TestDescribeOpensNothing describes while the data is gone.
func TestDescribeOpensNothing(t *testing.T) {
	path := deployment(t)
	if err := os.RemoveAll(filepath.Join(filepath.Dir(path), "north")); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	for sql, want := range map[string]string{
		people: "[count integer]",
		"SELECT sex, AVG(age) AS a FROM patients GROUP BY sex LIMIT $1":                                              "[sex text a real]",
		"SELECT SUM(cost) * $1::numeric AS s FROM patients":                                                          "[s decimal]",
		"SELECT sum(n) AS people FROM (SELECT sex, COUNT(*) AS n FROM patients WHERE zip IN ($1) GROUP BY sex) AS t": "[people decimal]",
	} {
		d, err := db.Describe(background, api.Question{Dataset: "north", Analyst: "ana", SQL: sql})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		var got []string
		for _, c := range d.Columns {
			got = append(got, c.Name, c.Kind)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
	}
}

// TestDescribeByKinds: where a client says of which kinds its values are, the columns are those
// that the answer has with such values.
func TestDescribeByKinds(t *testing.T) {
	db := open(t, deployment(t))
	for _, x := range []struct{ sql, kind, value, want string }{
		{"SELECT COUNT(*) * $1 AS x FROM patients", "", "2", "integer"},
		{"SELECT COUNT(*) * $1 AS x FROM patients", "integer", "2", "integer"},
		{"SELECT COUNT(*) * $1 AS x FROM patients", "decimal", "3.5", "decimal"},
		{"SELECT $1 AS x, COUNT(*) FROM patients", "integer", "7", "integer"},
		{"SELECT $1 AS x, COUNT(*) FROM patients", "date", "2024-01-31", "date"},
		{"SELECT $1 AS x, COUNT(*) FROM patients", "text", "a", "text"},
		{"SELECT COUNT(*) AS x FROM patients WHERE age > $1", "text", "7", "integer"}, // as its place has it
		{"SELECT COUNT(*) AS x FROM patients WHERE age > $1", "boolean", "7", "integer"},
	} {
		q := api.Question{Dataset: "north", Analyst: "ana", SQL: x.sql, Kinds: []string{x.kind}}
		d, err := db.Describe(background, q)
		if err != nil || d.Columns[0].Kind != x.want {
			t.Errorf("%s, %s: %v, %v; want %s", x.sql, x.kind, d, err, x.want)
			continue
		}
		kind := x.kind
		if kind == "boolean" { // which does not fit, and is not what it is described by
			kind = "integer"
		}
		if kind == "" {
			kind = d.Parameters[0]
		}
		q.Parameters = []api.Parameter{{Kind: kind, Text: x.value}}
		if bound, err := db.Describe(background, q); err != nil || bound.Columns[0].Kind != x.want {
			t.Errorf("%s with %s: %v, %v; want %s", x.sql, x.value, bound, err, x.want)
		}
	}
}

// TestDescribeKnown: a sum has one type, whether it is known to be 0 with some values or not, and a
// question is described as it is with values that rows can meet.
func TestDescribeKnown(t *testing.T) {
	db := open(t, deployment(t))
	for _, x := range []struct{ sql, open, known string }{
		{"SELECT SUM(cost) FILTER (WHERE age > $1) FROM patients", "50", "300"},
		{"SELECT SUM(CASE WHEN age > $1 THEN cost ELSE 0 END) FROM patients", "50", "300"},
		{"SELECT SUM(cost) FILTER (WHERE cost > $1) FROM visits", "10", "1000000000"},
		{"SELECT SUM(cost) FILTER (WHERE day > $1 AND day < $2) FROM visits", "2024-02-01 2024-06-01", "2024-06-01 2024-06-01"},
		{"SELECT SUM(age) FILTER (WHERE age >= $1) FROM patients", "50", "300"},
		{"SELECT SUM(age) FILTER (WHERE age >= $1) / 2 FROM patients", "50", "300"},
		{"SELECT SUM(CASE WHEN age > $1 THEN 1 ELSE 0 END) / 2 FROM patients", "50", "300"},
		{"SELECT SUM(age) FILTER (WHERE age > $1) * SUM(cost) FROM patients", "50", "300"},
		{"SELECT dp_error(SUM(cost) FILTER (WHERE age > $1)) FROM patients", "50", "300"},
		{"SELECT COUNT(*) FILTER (WHERE age > $1) * SUM(cost) FROM patients", "50", "300"},
	} {
		q := api.Question{Dataset: "north", Analyst: "ana", SQL: x.sql}
		told, err := db.Describe(background, q)
		if err != nil {
			t.Errorf("%s: %v", x.sql, err)
			continue
		}
		for _, values := range []string{x.open, x.known} {
			q.Parameters = nil
			for i, v := range strings.Fields(values) {
				q.Parameters = append(q.Parameters, api.Parameter{Kind: told.Parameters[i], Text: v})
			}
			d, err := db.Describe(background, q)
			if err != nil {
				t.Errorf("%s with %s: %v", x.sql, values, err)
				continue
			}
			got, want := d.Columns[0], told.Columns[0]
			if got.Kind != want.Kind || got.Type != want.Type || got.Decimals != want.Decimals || values == x.open && got != want {
				t.Errorf("%s with %s: %+v, and %+v was told", x.sql, values, got, want)
			}
		}
	}
}

// TestDescribeLimit: a number of rows that is a parameter may be 0, so that rows have columns.
func TestDescribeLimit(t *testing.T) {
	db := open(t, deployment(t))
	q := api.Question{Dataset: "north", Analyst: "ana", SQL: "SELECT * FROM patients WHERE age > $1 LIMIT $2"}
	d, err := db.Describe(background, q)
	if err != nil || fmt.Sprint(d.Parameters) != "[integer integer]" || len(d.Columns) < 2 {
		t.Fatal(d, err)
	}
	q.Parameters = []api.Parameter{{Kind: "integer", Text: "30"}, {Kind: "integer", Text: "0"}}
	a, err := db.Ask(background, q)
	if err != nil || !a.Receipt.Free || len(a.Rows) > 0 || !slices.Equal(a.Columns, d.Columns) {
		t.Errorf("%+v, %v", a, err)
	}
	q.Parameters[1].Text = "1"
	if _, err := db.Ask(background, q); !errors.As(err, new(*api.Refusal)) {
		t.Error(err)
	}
}

// A key of a column of integers is an integer, with bounds or without, and whatever lists its
// values; where every row is a person, two tables cannot be joined, and the refusal says so.
func TestKeysAreIntegers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("t.csv", "n,d\n1,1.5\n2,2.5\n")
	db := open(t, write("p.yaml", `datasets:
  d:
    engine: duckdb
    source: t.csv
    unit: row
    budget: {epsilon: 1}
    analysts: {ana: }
    tables: {t: {columns: {n: {type: integer, keys: [1, 2, 3]}, d: {type: decimal, granularity: 0.5}}}}
`))
	for _, sql := range []string{"SELECT n, COUNT(*) FROM t GROUP BY n", "SELECT d.n, COUNT(*) FROM t d WHERE n IN (1, 2) GROUP BY 1"} {
		d, err := db.Describe(background, api.Question{Analyst: "ana", SQL: sql})
		if err != nil || d.Columns[0].Kind != "integer" || d.Columns[0].Type != "int8" {
			t.Errorf("%s: %+v, %v", sql, d, err)
		}
	}
	const strangers = "so private tables cannot be joined; ask about one table"
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM t a JOIN t b ON a.n = b.n":                            strangers,
		"SELECT COUNT(*) FROM t a, t b":                                             strangers,
		"SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t b WHERE b.n = t.n)":   strangers,
		"SELECT COUNT(*) FROM t WHERE n > (SELECT MAX(n) FROM t b WHERE b.n = t.n)": strangers,
		"SELECT floor(d), COUNT(*) FROM t GROUP BY 1":                               "or compare it in WHERE",
	} {
		_, err := db.Describe(background, api.Question{Analyst: "ana", SQL: sql})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	const narrowed = "SELECT floor(d), COUNT(*) FROM t WHERE d >= 0 AND d < 100 GROUP BY 1"
	if _, err := db.Describe(background, api.Question{Analyst: "ana", SQL: narrowed}); err != nil {
		t.Error(err)
	}
}
