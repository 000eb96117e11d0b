package duckdb

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/test/daily"
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
	owner(t, "", "COPY ("+rows+") TO "+sqlgen.QuoteText(filepath.Join(folder, "p.parquet")))
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
		for _, c := range []struct {
			want  string
			files []string
		}{
			{csv("comma", "comma.csv ','", pid, day) + csv("semicolon", "semicolon.csv ';'", pid, day) +
				csv("tab", "tab.tsv '\\t'", pid, day) +
				typed("p p.parquet", bounds), []string{"comma.csv", "semicolon.csv", "tab.tsv", "p.parquet"}},
			{typed("people d.duckdb", bounds) + "visits d.duckdb '\\x00'\n  pid integer BIGINT nullable false" + seven +
				"\n  day timestamp TIMESTAMP nullable true\n", []string{"d.duckdb"}},
		} {
			var paths []string
			for _, file := range c.files {
				paths = append(paths, filepath.Join(folder, file))
			}
			schemas := must(Schemas(t.Context(), paths, DraftOptions{Bounds: bounds}))(t)
			if got := described(schemas); got != c.want {
				t.Errorf("%v, bounds %v, got:\n%s\nwant:\n%s", c.files, bounds, got, c.want)
			}
		}
	}
}

// TestDraftsOpen drafts a policy from each kind of file and asks a question
// with it at once, as a new owner does.
func TestDraftsOpen(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "c.csv", "pid;age;Weird name;ok\n1;30;x;true\n2;40;y;false\n")
	owner(t, "", "COPY (SELECT 1 AS pid, 2.5 AS x, DATE '2024-01-01' AS day) TO "+sqlgen.QuoteText(filepath.Join(folder, "p.parquet")))
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE people AS SELECT 1 AS pid, [1] AS list",
		"CREATE TABLE visits AS SELECT 1 AS pid, now()::TIMESTAMP AS at")
	for _, bounds := range []bool{false, true} {
		for _, c := range []struct{ file, table, unit string }{{"c.csv", "c", "c.pid"}, {"p.parquet", "p", "row"},
			{"d.duckdb", "visits", "people.pid"}} {
			path := filepath.Join(folder, c.file)
			schemas := must(Schemas(t.Context(), []string{path}, DraftOptions{Bounds: bounds}))(t)
			text := must(policy.Draft(schemas, policy.DraftOptions{Dataset: "d", Unit: c.unit, TrustDataBounds: bounds}))(t)
			p := must(policy.Parse(filepath.Join(folder, "p.yaml"), []byte(text)))(t)
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
		write(t, folder, "a.dta", "x"):             "is not a file to draft from",
		write(t, folder, "a.csv", ""):              "is empty; the first line",
		write(t, folder, "a.parquet", secret):      "cannot read the schema",
		write(t, folder, "a.duckdb", secret):       "is not a DuckDB file",
		filepath.Join(folder, "empty.duckdb"):      "holds no tables",
		write(t, folder, "b.csv", "i,i\n1,2\n3,4"): "",
	} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, name)
		}
		_, err := Schemas(t.Context(), []string{name}, DraftOptions{Bounds: true})
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
		DraftOptions{Unit: "patients.pid"})
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
		schemas := must(Schemas(t.Context(), []string{filepath.Join(folder, "people.csv")}, DraftOptions{}))(t)
		draft := must(policy.Draft(schemas, policy.DraftOptions{}))(t)
		for i, part := range strings.Split(draft, "type: text\n")[1:] {
			c := schemas[0].Columns[i]
			want := differ && (c.Name == "email" || c.Name == "note")
			if c.Different != want || strings.Contains(part, "a different value") != want ||
				strings.Contains(part, "# keys: [A, B, C]") == want {
				t.Errorf("%d rows: %s: %v\n%s", rows, c.Name, c.Different, part)
			}
		}
	}
}

// TestGuess drafts from columns as files have them.
func TestGuess(t *testing.T) {
	folder := t.TempDir()
	cases := daily.Sample(t, []struct{ values, want string }{
		{"13.12.2020 3.4.1999", "date DD.MM.YYYY"},
		{"13.12.2020 NA - 3.4.1999", "date DD.MM.YYYY nulls [NA -]"},
		{"12/13/2020 01/02/2020", "date MM/DD/YYYY"},
		{"03/04/2020 01/02/2020", "date DD/MM/YYYY also [date MM/DD/YYYY]"},
		{"03.04.2020_10:30 13.04.2020_09:15", "timestamp DD.MM.YYYY HH24:MI"},
		{"2020-12-13 2021-01-01", "date"},
		{"2020-12-13_10:00:00 2021-01-01_00:00:00", "timestamp"},
		{"20201213 20210101", "date YYYYMMDD also [integer]"},
		{"20201313 20210101", "integer"},
		{"13-Dec-20 01-Jan-21", "date DD-Mon-YY"},
		{"1 2 3", "integer"},
		{"01003 99501", "text"},
		{"1.5 2", "decimal"},
		{"1,5 2,25 3", "decimal 1234,56"},
		{"1.234,56 17,5", "decimal 1.234,56"},
		{"1,234.56 17.5", "decimal 1,234.56"},
		{"1,234 12,500 7", "decimal 1234,56 also [integer 1,234]"},
		{"1.234 12.500 7", "decimal also [integer 1.234]"},
		{"0.125 0.500", "decimal"},
		{"1.234.567 7", "integer 1.234"},
		{"ja nein ja", "boolean ja/nein"},
		{"yes no yes", "boolean"},
		{"T T", "text"},
		{"F M X", "text"},
		{"flu none asthma", "text maybe [none]"},
		{"34 51 9999 28 9999", "integer maybe [9999]"},
		{"34 51 -1 28 -1", "integer maybe [-1]"},
		{"34 51 70 28 99 99", "integer"},
		{"1 2 3 4 5 6 7 8 9 10 11 typo", "integer unfit"},
		{"NA NA", "text maybe [NA]"},
		{"NaN 1.5", "decimal nulls [NaN]"},
	}, 8)
	var paths []string
	for i, c := range cases {
		lines := strings.ReplaceAll(strings.Join(strings.Fields(c.values), "\"\n1;\""), "_", " ")
		paths = append(paths, write(t, folder, fmt.Sprintf("t%02d.csv", i), "p;v\n1;\""+lines+"\"\n1;\n"))
	}
	schemas := must(Schemas(t.Context(), paths, DraftOptions{}))(t)
	for i, c := range cases {
		col := schemas[i].Columns[1]
		got := strings.TrimSpace(fmt.Sprintf("%v %s", col.Type, col.Format))
		if len(col.OtherFormats) > 0 {
			got += fmt.Sprintf(" also %v", col.OtherFormats)
		}
		if len(col.Nulls) > 0 {
			got += fmt.Sprintf(" nulls %v", col.Nulls)
		}
		if len(col.MaybeNulls) > 0 {
			got += fmt.Sprintf(" maybe %v", col.MaybeNulls)
		}
		if col.Unfit {
			got += " unfit"
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.values, got, c.want)
		}
	}
}

// A column that reads in two ways is read like its neighbours, which the same program wrote.
func TestGuessByNeighbours(t *testing.T) {
	path := write(t, t.TempDir(), "t.csv", "a,b\n03/04/2020,12/31/2020\n")
	schemas := must(Schemas(t.Context(), []string{path}, DraftOptions{}))(t)
	if c := schemas[0].Columns[0]; c.Format != "MM/DD/YYYY" || fmt.Sprint(c.OtherFormats) != "[date DD/MM/YYYY]" {
		t.Errorf("%+v", c)
	}
}

// TestDraftsAreRead drafts a policy from a file of another country, with a bad line, and opens it:
// every value is read, and the check finds nothing that is not.
func TestDraftsAreRead(t *testing.T) {
	folder := t.TempDir()
	patients := write(t, folder, "patients.csv",
		"pid;born;weight;smoker\n1;13.12.1970;71,5;ja\n2;NA;80,25;nein\n3;1.2.1980\n4;24.6.2001;NA;ja\n")
	labs := write(t, folder, "labs.csv", "patient_id,taken\n1,12/31/2020\n1,01/02/2021\n2,02/03/2021\n")
	people := map[string]string{"labs": "patient_id"}
	schemas := must(Schemas(t.Context(), []string{patients, labs}, DraftOptions{Unit: "patients.pid", People: people}))(t)
	text := must(policy.Draft(schemas, policy.DraftOptions{Dataset: "d", Unit: "patients.pid", People: people}))(t)
	for _, want := range []string{"line 4 has 2 values, but the header has", "format: DD.MM.YYYY", "format: MM/DD/YYYY",
		`format: "1234,56"`,
		"format: ja/nein", "nulls: [NA]", "path: patient_id -> patients.pid"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	p := must(policy.Parse(filepath.Join(folder, "p.yaml"), []byte(text)))(t)
	found, err := check(t, p.Datasets["d"])
	if err != nil || len(found) != 1 || found[0].Unread || found[0].Broken {
		t.Errorf("%+v, %v", found, err)
	}
	e := open(t, p.Datasets["d"])
	for question, want := range map[string]string{
		"SELECT COUNT(born) FROM patients WHERE born = '1970-12-13'": "[[1]]",
		"SELECT COUNT(weight) FROM patients":                         "[[2]]",
		"SELECT COUNT(*) FROM patients WHERE smoker":                 "[[2]]",
		"SELECT COUNT(*) FROM labs WHERE taken >= '2021-01-01'":      "[[2]]",
	} {
		if got := fmt.Sprint(ask(t, e, question)); got != want {
			t.Errorf("%s: %s, want %s", question, got, want)
		}
	}
}

// A column that is all spelt otherwise is not read at all, and the check says what it looks like.
func TestCheckSaysWhatColumnsLookLike(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "born,x\n13.12.2020,1\n14.12.2020,2\n")
	found, err := check(t, dataset(t, folder, "source: t.csv\nunit: row\ntables: {t: {columns: {born: {type: date}, x: {type: integer}}}}"))
	if err != nil || len(found) != 1 || !found[0].Unread ||
		found[0].Text != `all of the values are not date; they count as NULL; they look like type: date, format: "DD.MM.YYYY"` {
		t.Errorf("%+v, %v", found, err)
	}
}

const layoutKeys = `
source: v.duckdb
unit: visits.pid
tables:
  visits: {max_rows: 3, max_groups: 2, columns: {vid: {type: integer, bounds: [0, 2000000]}, day: {type: date}, ward: {type: text, keys: [a, b, c]}}}
  codes: {public: true, max_rows: 900, columns: {code: {type: integer}}}
`

// layout is one way to store the same rows, and to read them.
type layout struct {
	order  string // by which rows are stored
	limits Limits
}

// laidOut opens people with 200 visits each over three days, so that most visits are equal in the
// day to others of the same person, and perhaps one more person with 500.
func laidOut(t testing.TB, people int, more bool, l layout) *Engine {
	t.Helper()
	folder := t.TempDir()
	rows := fmt.Sprintf("SELECT i // 200 AS pid, i AS vid, DATE '2024-01-01' + CAST(i %% 3 AS INTEGER) AS day, "+
		"['a', 'b', 'c'][1 + (i // 7) %% 3] AS ward FROM range(%d) r(i)", 200*people)
	if more {
		rows += " UNION ALL SELECT -1, 1000000 + i, DATE '2024-01-01' + CAST(i % 3 AS INTEGER), 'a' FROM range(500) r(i)"
	}
	owner(t, filepath.Join(folder, "v.duckdb"), "CREATE TABLE visits AS SELECT * FROM ("+rows+") ORDER BY "+l.order,
		"CREATE TABLE codes AS SELECT i AS code FROM range(900) r(i)")
	e := must(OpenWith(t.Context(), dataset(t, folder, layoutKeys), l.limits))(t)
	t.Cleanup(func() { e.Close() })
	return e
}

// overWindows are questions in which a person's rows are numbered by an order that leaves ties, and
// so much is computed with each that people are cut, and whether everybody is counted all the same.
func overWindows() map[string]bool {
	const (
		heavy  = "EXISTS (SELECT 1 FROM codes c WHERE c.code > extract(doy FROM day) + 100)"
		number = "row_number() OVER (PARTITION BY pid ORDER BY day) AS n"
		window = "lag(ward) OVER (PARTITION BY pid ORDER BY day) AS n"
	)
	var columns []string
	for i := range 24 {
		var list []string
		for k := range 300 {
			list = append(list, fmt.Sprint(i+k*9))
		}
		columns = append(columns, fmt.Sprintf("extract(doy FROM day) = ANY('{%s}') AS f%d", strings.Join(list, ","), i))
	}
	many := strings.Join(columns, ", ")
	return map[string]bool{
		"SELECT COUNT(*) FROM (SELECT pid, " + number + ", " + heavy + " AS f FROM visits) t WHERE n = 1":                    true,
		"SELECT COUNT(*) FROM (SELECT pid, " + number + ", " + many + " FROM visits) t WHERE n = 1":                          true,
		"SELECT COUNT(*) FROM (SELECT pid, " + number + " FROM visits WHERE " + heavy + ") t WHERE n = 1":                    true,
		"SELECT COUNT(DISTINCT pid) FROM (SELECT pid, " + window + ", " + heavy + " AS f FROM visits) t WHERE n = 'c' AND f": false,
		"SELECT COUNT(*) FROM (SELECT DISTINCT ON (pid) pid, " + heavy + " AS f FROM visits ORDER BY pid, day) t WHERE f":    true,
		"SELECT COUNT(DISTINCT pid) FROM visits WHERE pid IN (SELECT pid FROM (SELECT pid, " + number + ", " + heavy +
			" AS f FROM visits) t WHERE n = 1)": true,
		"SELECT ward, COUNT(*) FROM (SELECT pid, ward, " + number + ", " + heavy + " AS f FROM visits) t WHERE n <= 2 GROUP BY ward": false,
		"SELECT COUNT(DISTINCT pid) FROM (SELECT pid, " + number + ", day FROM visits) t WHERE n = 1 AND " + heavy:                   false,
	}
}

// TestWindowsOfCutPeople: where people are cut and windows number their rows, an answer moves by no
// more than is claimed, is about everybody, and does not depend on how rows are stored or read.
func TestWindowsOfCutPeople(t *testing.T) {
	people := rounds(100, 300)
	layouts := []layout{
		{"vid", Limits{Threads: 1}}, {"hash(vid)", Limits{Threads: 2}}, {"vid DESC", Limits{Threads: 4, Memory: MinMemory}},
		{"pid, vid", Limits{Threads: 1, Memory: MinMemory}}, {"ward, hash(vid, 1)", Limits{Threads: 2}},
	}
	layouts = append(layouts[:1:1], daily.Sample(t, layouts[1:], 1)...)
	without, with := make([]*Engine, len(layouts)), make([]*Engine, len(layouts))
	for i, l := range layouts {
		without[i], with[i] = laidOut(t, people, false, l), laidOut(t, people, true, l)
	}
	questions := overWindows()
	for _, text := range daily.Sample(t, slices.Sorted(maps.Keys(questions)), 3) {
		everybody := questions[text]
		q := question(t, without[0], text)
		if q.Joined() == 0 {
			t.Errorf("%s: nobody is cut", text)
		}
		first, more := totals(t, without[0], text), totals(t, with[0], text)
		l1, _ := distances(first, more)
		if most := q.Sensitivity(q.Measures[0], dp.L1).L1(); l1.Cmp(most) > 0 {
			t.Errorf("%s: moves by %v, and at most %v is claimed", text, l1, most)
		}
		if everybody && first[0] != int64(people) {
			t.Errorf("%s: %d of %d people", text, first[0], people)
		}
		for i := range layouts {
			for range 2 {
				if got := totals(t, without[i], text); fmt.Sprint(got) != fmt.Sprint(first) {
					t.Errorf("%s: %v stored by %s with %+v, and %v by %s", text, got, layouts[i].order, layouts[i].limits, first,
						layouts[0].order)
					break
				}
			}
			if got := totals(t, with[i], text); fmt.Sprint(got) != fmt.Sprint(more) {
				t.Errorf("%s: %v of one more person, stored by %s with %+v, and %v by %s", text, got, layouts[i].order,
					layouts[i].limits, more, layouts[0].order)
			}
		}
	}
}
