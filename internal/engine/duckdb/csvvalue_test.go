package duckdb

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	driver "github.com/duckdb/duckdb-go/v2"
	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/csvlines"
)

// TestSpelling reads values that are not spelt as SQL does. What is counted is the values that are
// read, and those of them that are the ones they should be.
func TestSpelling(t *testing.T) {
	for _, c := range []struct {
		column, values, is string
		read, right        int64
	}{
		{"{type: date}", "13.12.2020,2020-12-13", "= '2020-12-13'", 1, 1},
		{"{type: date, format: DD.MM.YYYY}", "13.12.2020, 13.12.2020 ,3.4.2020,30.02.2020,2020-12-13,13.12.20,x", "= '2020-12-13'", 3, 2},
		{"{type: date, format: MM/DD/YYYY}", "12/13/2020,13/12/2020", "= '2020-12-13'", 1, 1},
		{"{type: date, format: YYYYMMDD}", "20201213,2020121,20201313", "= '2020-12-13'", 1, 1},
		{"{type: date, format: DD-Mon-YY}", "13-Dec-20,13-dez-20,13-DEC-20", "= '2020-12-13'", 2, 2},
		{"{type: date, format: 'DD.MM.YYYY HH24:MI'}", "13.12.2020 23:59,13.12.2020", "= '2020-12-13'", 1, 1},
		{"{type: timestamp, format: 'DD.MM.YYYY HH24:MI'}", "13.12.2020 10:30,13.12.2020 25:00", "= '2020-12-13 10:30:00'", 1, 1},
		{"{type: timestamp, format: 'MM/DD/YYYY HH12:MI AM'}", "12/13/2020 1:05 PM,12/13/2020 13:05", "= '2020-12-13 13:05:00'", 1, 1},
		{"{type: decimal, granularity: 0.01, format: '1234,56'}", "\"12,5\",12.5,\"1.234,5\",12", "= 12.5", 2, 1},
		{"{type: decimal, granularity: 0.01, format: '1.234,56'}", "\"1.234,5\",1.5,\"1.23,4\",12.345.678", "= 1234.5", 2, 1},
		{"{type: decimal, granularity: 0.01, format: '1 234,56'}", "\"1 234,5\",\"1\u00a0234,5\",\"12 34\"", "= 1234.5", 2, 2},
		{"{type: integer, format: '1,234'}", "\"1,234\",1234,\"1,23\",1.5", "= 1234", 2, 2},
		{"{type: integer, nulls: [NA, 9999]}", "NA,9999, 9999 ,7,na", "= 7", 1, 1},
		{"{type: text, nulls: ['-', n/a]}", "-,n/a,a,N/A", "= 'a'", 2, 1},
		{"{type: boolean, format: ja/nein}", "ja,Nein,JA,true,1", "", 3, 2},
	} {
		folder := t.TempDir()
		values := split(c.values)
		write(t, folder, "t.csv", "p,v\n1,"+strings.Join(values, "\n1,")+"\n")
		e := open(t, dataset(t, folder, "source: t.csv\nunit: row\ntables: {t: {columns: {p: {type: integer}, v: "+c.column+"}}}"))
		where := "v " + c.is
		if c.is == "" {
			where = "v"
		}
		got := fmt.Sprint(ask(t, e, "SELECT COUNT(v) FROM t"), ask(t, e, "SELECT COUNT(*) FROM t WHERE "+where),
			ask(t, e, "SELECT COUNT(*) FROM t"))
		if want := fmt.Sprintf("[[%d]] [[%d]] [[%d]]", c.read, c.right, len(values)); got != want {
			t.Errorf("%s: got %s, want %s", c.column, got, want)
		}
	}
}

// split splits at commas outside of quotes.
func split(text string) (out []string) {
	quoted, from := false, 0
	for i, c := range text {
		if c == '"' {
			quoted = !quoted
		}
		if c == ',' && !quoted {
			out, from = append(out, text[from:i]), i+1
		}
	}
	return append(out, text[from:])
}

// What a table says holds for all of its columns, for those that paths use too, and a column's own
// word goes before it.
func TestSpellingOfTables(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "pid;d;e;x\n1;13.12.2020;12/13/2020;1,5\n2;-;-;-\nNA;13.12.2020;12/13/2020;1,5\n")
	e := open(t, dataset(t, folder, `source: t.csv
unit: t.pid
tables:
  t:
    delimiter: ";"
    nulls: [NA, "-"]
    formats: {date: DD.MM.YYYY, decimal: "1234,56"}
    max_rows: 1
    max_groups: 1
    columns:
      d: {type: date}
      e: {type: date, format: MM/DD/YYYY, nulls: [x]}
      x: {type: decimal, granularity: 0.5, bounds: [0, 10]}
`))
	for text, want := range map[string]string{
		"SELECT COUNT(*) FROM t":                                      "[[2]]", // the row about NA is about nobody
		"SELECT COUNT(d) FROM t WHERE d = e":                          "[[1]]",
		"SELECT COUNT(*) FROM t WHERE d IS NULL":                      "[[1]]",
		"SELECT COUNT(*) FROM t WHERE x = 1.5 AND d = e":              "[[1]]",
		"SELECT COUNT(*) FROM t WHERE x IS NULL AND e = '2020-12-13'": "[[0]]",
	} {
		if got := fmt.Sprint(ask(t, e, text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A file that is read in another way is other data: what was remembered of it is not given again.
func TestAnotherFormatIsAnotherVersion(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "d\n03/04/2020\n")
	seen := map[string]string{}
	for _, keys := range []string{"", "nulls: [x], ", "quotes: none, "} {
		for _, format := range []string{"", ", format: DD/MM/YYYY", ", format: MM/DD/YYYY", ", nulls: [x]"} {
			e := open(t, dataset(t, folder, "source: t.csv\nunit: row\ntables: {t: {"+keys+"columns: {d: {type: date"+format+"}}}}"))
			v, err := e.Version(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if was, ok := seen[v.State]; ok {
				t.Errorf("%q and %q are one version", was, keys+format)
			}
			seen[v.State] = keys + format
		}
	}
}

// Quotes that are not doubled let one person's text swallow the rows of others, so the file is not
// opened. Who sees the error of an opening may be an analyst: it names no line.
func TestBrokenQuotes(t *testing.T) {
	for _, text := range []string{"i,s\n2,b\n1,\"a\n3,c\n", "i,s\n2,b\n1,\"a\"x\n3,c\n"} {
		folder := t.TempDir()
		write(t, folder, "t.csv", text)
		keys := "source: t.csv\nunit: row\ntables: {t: {columns: {i: {type: integer}, s: {type: text}}}}"
		_, err := Open(t.Context(), dataset(t, folder, keys))
		if err == nil || !strings.Contains(err.Error(), "quotes") || strings.Contains(err.Error(), "line 3") {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := check(t, dataset(t, folder, keys)); err == nil || !strings.Contains(err.Error(), "line 3 has") {
			t.Errorf("%q: %v", text, err)
		}
		e := open(t, dataset(t, folder, strings.Replace(keys, "{t: {", "{t: {quotes: none, ", 1)))
		if got := ask(t, e, "SELECT COUNT(*) FROM t"); got[0][0] != 3 {
			t.Errorf("%q without quotes: %v", text, got)
		}
	}
}

// The owner may want no file with a line that is no row; then the check says which it is, and an
// opening does not.
func TestBadLines(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "i,s\n1,a\n2\n3,c\n")
	keys := "source: t.csv\nunit: row\ntables: {t: {bad_lines: skip, columns: {i: {type: integer}, s: {type: text}}}}"
	if got := ask(t, open(t, dataset(t, folder, keys)), "SELECT COUNT(*) FROM t"); got[0][0] != 2 {
		t.Errorf("%v", got)
	}
	refused := dataset(t, folder, strings.Replace(keys, "skip", "refuse", 1))
	if _, err := Open(t.Context(), refused); err == nil || strings.Contains(err.Error(), "line 3") {
		t.Error(err)
	}
	found, err := check(t, refused)
	if err != nil || len(found) != 1 || !found[0].Unread || !strings.Contains(found[0].Text, "line 3 has 1 values, and the header has 2") {
		t.Errorf("%+v, %v", found, err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) != 1 {
		t.Errorf("left beside the data: %v", left)
	}
}

// TestScanAgreesWithDuckDB: what is taken for a row when lines are judged is a row to the reader,
// whatever signs a file is made of. Otherwise a line could be judged that is part of another's.
func TestScanAgreesWithDuckDB(t *testing.T) {
	folder := t.TempDir()
	connector, err := driver.NewConnector("", nil)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	rapid.Check(t, func(r *rapid.T) {
		parts :=
			rapid.SliceOfN(rapid.SampledFrom([]string{"a", "1", ",", ",", ",", "\"", "\"\"", "\n", "\n", "\r\n", " ", "é",
				"\xff", "'", "x,y\n",
				"\"q\",\"r\"\n", "1,\"a\nb\"\n"}), 0, 25).Draw(r, "text")
		text := "i,s\n" + strings.Join(parts, "")
		unquoted := rapid.Bool().Draw(r, "unquoted")
		path := write(t, folder, "t.csv", text)
		shape := csvlines.Shape{Delimiter: ',', Unquoted: unquoted}
		found, err := scanCSV(path, shape, nil)
		if err != nil {
			r.Fatal(err)
		}
		if found.Broken != nil {
			return // it is not opened
		}
		clean, err := cleanCSV(path, shape, folder)
		if err != nil {
			r.Fatal(err)
		}
		var rows int64
		if err := db.QueryRow("SELECT count(*) FROM " +
			readCSV(clean, shape, []string{"'i': 'VARCHAR'", "'s': 'VARCHAR'"})).Scan(&rows); err != nil {
			r.Fatalf("%q: %v", text, err)
		}
		if rows != found.Rows {
			r.Fatalf("%q: %d rows were found, and %d read", text, found.Rows, rows)
		}
	})
}
