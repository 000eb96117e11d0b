package duckdb

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/policy"
)

// described shows a schema in one line for each column.
func described(schemas []policy.Schema) string {
	var b strings.Builder
	for _, s := range schemas {
		fmt.Fprintf(&b, "%s %s %q\n", s.Table, filepath.Base(s.Source), s.Delimiter)
		for _, c := range s.Columns {
			fmt.Fprintf(&b, "  %s %v %s nullable %v", c.Name, c.Type, c.EngineType, c.Nullable)
			if c.Type == policy.Decimal {
				fmt.Fprintf(&b, " decimals %d", c.Decimals)
			}
			if c.MinText != "" || c.MaxText != "" {
				fmt.Fprintf(&b, " from %s to %s", c.MinText, c.MaxText)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// TestSchemas describes each kind of file, without a look at the values and with one.
func TestSchemas(t *testing.T) {
	folder := t.TempDir()
	const rows = "SELECT 1::INTEGER AS pid, 'a' AS name, 1.25::DECIMAL(9,3) AS cost, true AS ok, DATE '2024-01-31' AS day, 0.5::DOUBLE " +
		"AS rate, 'x'::BLOB AS photo UNION ALL " +
		"SELECT 2, 'b', -3.5, false, DATE '2020-02-29', 'inf'::DOUBLE, 'y'"
	text := "pid,name,day\n1,a,2024-01-31\n2,b,2020-02-29\n3,,\n"
	write(t, folder, "comma.csv", text)
	write(t, folder, "semicolon.csv", strings.ReplaceAll(text, ",", ";"))
	write(t, folder, "tab.tsv", strings.ReplaceAll(text, ",", "\t"))
	owner(t, "", "COPY ("+rows+") TO "+dialect.QuoteText(filepath.Join(folder, "p.parquet")))
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE people AS "+rows,
		"CREATE TABLE visits (pid BIGINT NOT NULL, day TIMESTAMP)", "INSERT INTO visits VALUES (7, 'infinity')")
	csv := func(name, delimiter, pid, day string) string {
		return fmt.Sprintf("%s %s\n  pid integer BIGINT nullable true%s\n  name text VARCHAR nullable true\n  day date DATE nullable "+
			"true%s\n", name, delimiter, pid, day)
	}
	typed := func(head string, bounds bool) string {
		pid, cost, day, rate := " from 1 to 2", " from -3.500 to 1.250", " from 2020-02-29 to 2024-01-31", " from 0.5 to 0.5"
		if !bounds {
			pid, cost, day, rate = "", "", "", ""
		}
		return head + " '\\x00'\n  pid integer INTEGER nullable true" + pid +
			"\n  name text VARCHAR nullable true\n  cost decimal DECIMAL(9,3) nullable true decimals 3" + cost +
			"\n  ok boolean BOOLEAN nullable true\n  day date DATE nullable true" + day +
			"\n  rate decimal DOUBLE nullable true decimals 2" + rate + "\n  photo unsupported BLOB nullable true\n"
	}
	for _, bounds := range []bool{false, true} {
		pid, day, seven := "", "", ""
		if bounds {
			pid, day, seven = " from 1 to 3", " from 2020-02-29 to 2024-01-31", " from 7 to 7"
		}
		for file, want := range map[string]string{
			"comma.csv":     csv("comma", "comma.csv ','", pid, day),
			"semicolon.csv": csv("semicolon", "semicolon.csv ';'", pid, day),
			"tab.tsv":       csv("tab", "tab.tsv '\\t'", pid, day),
			"p.parquet":     typed("p p.parquet", bounds),
			"d.duckdb": typed("people d.duckdb", bounds) + "visits d.duckdb '\\x00'\n  pid integer BIGINT nullable false" + seven +
				"\n  day timestamp TIMESTAMP nullable true\n",
		} {
			schemas, err := Schemas(t.Context(), []string{filepath.Join(folder, file)}, Look{Bounds: bounds})
			if err != nil {
				t.Fatal(err)
			}
			if got := described(schemas); got != want {
				t.Errorf("%s, bounds %v, got:\n%s\nwant:\n%s", file, bounds, got, want)
			}
		}
	}
}

// TestDraftsOpen drafts a policy from each kind of file and asks a question
// with it at once, as a new owner does.
func TestDraftsOpen(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "c.csv", "pid;age;Weird name;ok\n1;30;x;true\n2;40;y;false\n")
	owner(t, "", "COPY (SELECT 1 AS pid, 2.5 AS x, DATE '2024-01-01' AS day) TO "+dialect.QuoteText(filepath.Join(folder, "p.parquet")))
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE people AS SELECT 1 AS pid, [1] AS list",
		"CREATE TABLE visits AS SELECT 1 AS pid, now()::TIMESTAMP AS at")
	for _, bounds := range []bool{false, true} {
		for _, c := range []struct{ file, table, unit string }{{"c.csv", "c", "c.pid"}, {"p.parquet", "p", "row"},
			{"d.duckdb", "visits", "people.pid"}} {
			path := filepath.Join(folder, c.file)
			schemas, err := Schemas(t.Context(), []string{path}, Look{Bounds: bounds})
			if err != nil {
				t.Fatal(err)
			}
			text, err := policy.Draft(schemas, policy.DraftOptions{Dataset: "d", Unit: c.unit, TrustDataBounds: bounds})
			if err != nil {
				t.Fatal(err)
			}
			p, err := policy.Parse(filepath.Join(folder, "p.yaml"), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			e := open(t, p.Datasets["d"])
			if got := ask(t, e, "SELECT COUNT(*) FROM "+c.table); got[0][0] < 1 {
				t.Errorf("%s: %v", c.file, got)
			}
		}
	}
}

// TestSchemasRefuse names files that nothing can be drafted from.
func TestSchemasRefuse(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "empty.duckdb"), "SELECT 1")
	for name, want := range map[string]string{
		"nothing.csv":                              "no such file",
		".":                                        "is a folder",
		write(t, folder, "a.xlsx", "x"):            "is not a file that can be drafted from",
		write(t, folder, "a.csv", ""):              "is empty; the first line",
		write(t, folder, "a.parquet", secret):      "cannot read the schema",
		write(t, folder, "a.duckdb", secret):       "is not a DuckDB file",
		filepath.Join(folder, "empty.duckdb"):      "holds no tables",
		write(t, folder, "b.csv", "i,i\n1,2\n3,4"): "",
	} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, name)
		}
		_, err := Schemas(t.Context(), []string{name}, Look{Bounds: true})
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// The column that says who a row is about is looked at in every table that has it, and no other
// column.
func TestSchemasSeeWhetherTheUnitIsUnique(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "patients.csv", "pid,age\n1,30\n2,30\n3,40\n,50\n")
	write(t, folder, "visits.csv", "pid,day\n1,2024-01-31\n1,2024-02-01\n")
	schemas, err := Schemas(t.Context(), []string{filepath.Join(folder, "patients.csv"), filepath.Join(folder, "visits.csv")},
		Look{Unit: "patients.pid"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false} {
		pid, other := schemas[i].Columns[0], schemas[i].Columns[1]
		if pid.Unique == nil || *pid.Unique != want {
			t.Errorf("%s: got %v; want %v", schemas[i].Table, pid.Unique, want)
		}
		if other.Unique != nil {
			t.Errorf("%s was looked at", other.Name)
		}
	}
}

// Keys are not proposed for texts that nearly every row has another of; of a short file nobody can
// tell.
func TestSchemasSeeTextsThatDiffer(t *testing.T) {
	for rows, differ := range map[int]bool{50: false, 200: true} {
		folder, text := t.TempDir(), "email,town,note,twins\n"
		for i := range rows {
			text += fmt.Sprintf("u%d@example.org,town %d,%d calls and %d more,person %d\n", i, i%7, i, rows-i, i/2)
		}
		write(t, folder, "people.csv", text)
		schemas, err := Schemas(t.Context(), []string{filepath.Join(folder, "people.csv")}, Look{})
		if err != nil {
			t.Fatal(err)
		}
		draft, err := policy.Draft(schemas, policy.DraftOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range strings.Split(draft, "type: text\n")[1:] {
			c := schemas[0].Columns[i]
			want := differ && (c.Name == "email" || c.Name == "note")
			if c.Different != want || strings.Contains(part, "another value") != want ||
				strings.Contains(part, "# keys: [A, B, C]") == want {
				t.Errorf("%d rows: %s: %v\n%s", rows, c.Name, c.Different, part)
			}
		}
	}
}
