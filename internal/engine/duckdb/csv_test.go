package duckdb

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"
	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/textfile"
	"github.com/discreet-dp/discreet/policy"
)

// TestCSV reads files that are a little unusual. The policy has an integer i and a text s;
// what is counted are rows, integers and texts.
func TestCSV(t *testing.T) {
	for name, c := range map[string]struct {
		text                    string
		rows, integers, strings int64
	}{
		"plain":                 {"i,s\n1,a\n2,b\n", 2, 2, 2},
		"header alone":          {"i,s\n", 0, 0, 0},
		"header without end":    {"i,s", 0, 0, 0},
		"last line not ended":   {"i,s\n1,a", 1, 1, 1},
		"Windows line ends":     {"i,s\r\n1,a\r\n2,b\r\n", 2, 2, 2},
		"byte order mark":       {"\ufeffi,s\n1,a\n", 1, 1, 1},
		"mark and quotes":       {"\ufeff\"i\",\"s\"\n1,a\n", 1, 1, 1},
		"other order and case":  {"S,x,I\na,9,1\n", 1, 1, 1},
		"empty lines":           {"i,s\n\n1,a\n\n", 1, 1, 1},
		"empty values":          {"i,s\n,\n1,\n,a\n\"\",\"\"\n", 4, 1, 1},
		"not integers":          {"i,s\nabc,a\n1,b\n9223372036854775808,c\n1e2,d\n", 4, 2, 4},
		"quoted":                {"i,s\n\"1\",\"a,b\"\n2,\"say \"\"x\"\"\"\n", 2, 2, 2},
		"quoted line ends":      {"i,s\n1,\"a\nb\"\n2,\"a\r\nb\"\n3,c\n", 3, 3, 3},
		"too few fields":        {"i,s\n1\n2,b\n", 1, 1, 1},
		"too many fields":       {"i,s\n1,a,z\n2,b\n", 1, 1, 1},
		"delimiters at the end": {"i,s\n1,a,\n2,b,,\n", 2, 2, 2},
		"not UTF-8":             {"i,s\n1,\xff\xfe\n2,b\n", 1, 1, 1},
		"a field of 3 MB":       {"i,s\n1," + strings.Repeat("x", 3<<20) + "\n2,b\n", 1, 1, 1},
		"a number of rows":      {",i,s\n0,1,a\n1,2,b\n", 2, 2, 2},
		"a quoted one, as of R": {"\"\",\"i\",\"s\"\n\"1\",1,\"a\"\n", 1, 1, 1},
		"a zero byte":           {"i,s\n1,a\x00b\n2,b\n", 2, 2, 2},
		"spaces":                {"i,s\n 1 , a \n", 1, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, folder, "t.csv", c.text)
			e := open(t, dataset(t, folder, "source: t.csv\nunit: row\ntables: {t: {columns: {i: {type: integer}, s: {type: text}}}}"))
			got := fmt.Sprint(ask(t, e, "SELECT COUNT(*) FROM t"), ask(t, e, "SELECT COUNT(i) FROM t"), ask(t, e, "SELECT COUNT(s) FROM t"))
			if want := fmt.Sprintf("[[%d]] [[%d]] [[%d]]", c.rows, c.integers, c.strings); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestEncoding: what is not in UTF-8 is read as the policy says, line by line, and loses no row.
func TestEncoding(t *testing.T) {
	folder := t.TempDir()
	var b strings.Builder
	b.WriteString("pid,gr\xf6\xdfe,town\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "%d,1,%s\n", i, []string{"K\xf6ln", "Bonn", "5 \x80", "\xc3", "a\xe9b,c"}[min(i%100, 4)])
	}
	write(t, folder, "t.csv", b.String())
	const keys = "source: t.csv\nunit: row\ntables: {t: {encoding: %s, columns: {größe: {type: integer}, town: {type: text}}}}"
	e := open(t, dataset(t, folder, fmt.Sprintf(keys, "windows-1252")))
	for text, want := range map[string]string{
		"SELECT COUNT(größe) FROM t":                     "[[40]]", // the others have a value too many
		"SELECT COUNT(*) FROM t WHERE town = 'Köln'":     "[[10]]",
		"SELECT COUNT(*) FROM t WHERE town = '5 €'":      "[[10]]",
		"SELECT COUNT(*) FROM t WHERE length(town) <> 4": "[[20]]",
	} {
		if got := fmt.Sprint(ask(t, e, text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	found, err := check(t, dataset(t, folder, fmt.Sprintf(keys, "latin-1")))
	if err != nil || len(found) != 1 || !found[0].Unread || !strings.HasPrefix(found[0].Text, "MOST LINES ARE LEFT OUT: line 6 has 4") {
		t.Errorf("%+v, %v", found, err)
	}
}

// What init finds is what its draft says, and the draft loses no row.
func TestSchemasFindTheEncoding(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", ",pid,town\n"+strings.Repeat("0,1,K\xf6ln\n1,2,Bonn\n", 9))
	write(t, folder, "u.csv", "pid,town\n"+strings.Repeat("1,Köln\n", 9)+"2,\xff\n")
	for file, want := range map[string]string{"t.csv": "windows-1252", "u.csv": ""} {
		s := must(Schemas(t.Context(), []string{filepath.Join(folder, file)}, DraftOptions{}))(t)[0]
		if s.Encoding != want || len(s.Columns) != 2 {
			t.Errorf("%s: %+v", file, s)
		}
		s.Source = file
		text := must(policy.Draft([]policy.Schema{s}, policy.DraftOptions{}))(t)
		p := must(policy.Parse(filepath.Join(folder, "p.yaml"), []byte(text)))(t)
		found, err := check(t, p.Datasets[s.Table])
		if err != nil || (len(found) > 0) != (want == "") {
			t.Errorf("%s: %+v, %v", file, found, err)
		}
	}
	for _, name := range []string{"t.xlsx", "t.ods"} {
		write(t, folder, name, "PK\x03\x04")
		_, err := Schemas(t.Context(), []string{filepath.Join(folder, name)}, DraftOptions{})
		if err == nil || !strings.Contains(err.Error(), "save each sheet as a CSV file") {
			t.Error(name, err)
		}
	}
}

// Most lines of a file in another encoding are lost, and that is not for the small print.
func TestMostLinesLeftOut(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "i,s\n"+strings.Repeat("1,K\xf6ln\n", 9)+"2,b\n")
	found, err := check(t, dataset(t, folder, "source: t.csv\nunit: row\ntables: {t: {columns: {i: {type: integer}, s: {type: text}}}}"))
	if err != nil || len(found) != 1 || !found[0].Unread || !strings.Contains(found[0].Text, "encoding: windows-1252") {
		t.Errorf("%+v, %v", found, err)
	}
}

// To guess what columns are takes a few times as long as to read them, and says how far it is.
func TestSchemasAreQuick(t *testing.T) {
	folder := t.TempDir()
	var b strings.Builder
	b.WriteString("pid,age,day,amount,price,town,zip,height\n")
	for i := range 20_000 {
		fmt.Fprintf(&b, "%d,%d,%02d.%02d.%d,\"%d,%02d\",%d.5,town%d,%05d,%d\n", i/3, i%100, 1+i%28, 1+i%12, 1990+i%30, i%9000, i%100, i,
			i%400, i*7%99999, i)
	}
	write(t, folder, "t.csv", b.String())
	ds := dataset(t, folder, "source: t.csv\nunit: row\ntables: {t: {columns: {pid: {type: integer}, age: {type: integer}, day: {type: "+
		"date, format: DD.MM.YYYY}, amount: {type: decimal, format: '1234,56'}, price: {type: decimal}, town: {type: text}}}}")
	var last, most int64
	tell := func(what string, done, of int64) {
		if !strings.HasSuffix(what, " t.csv") || done > of {
			t.Error(what, done, of)
		}
		last, most = done, of
	}
	ratio := 100.0
	for range 3 { // other processes take their time at times
		began := time.Now()
		must(check(t, ds))(t)
		checked := time.Now()
		must(Schemas(t.Context(), []string{filepath.Join(folder, "t.csv")}, DraftOptions{Tell: tell}))(t)
		ratio = min(ratio, time.Since(checked).Seconds()/checked.Sub(began).Seconds())
	}
	if last == 0 || last != most || ratio > 8 {
		t.Errorf("it ends at %d of %d, after %.1f times as long as a check", last, most, ratio)
	}
	t.Logf("%.1f times", ratio)
}

// Formats that are said to read numbers alike do.
func TestReadsAlike(t *testing.T) {
	db := sql.OpenDB(must(driver.NewConnector("", nil))(t))
	defer db.Close()
	for _, a := range candidates() {
		for _, b := range candidates() {
			if !isNumber(a.typ) || !isNumber(b.typ) || !readsAlike(a, b) {
				continue
			}
			for _, text := range []string{"1", "-12", "1234", "1.234", "1,234", "1,5", "1.5", "1234.567", "1234,567", "12.345,6", "1 234"} {
				text = "'" + text + "'"
				var same bool
				one, two := printValue(text, a.typ, a.format), printValue(text, b.typ, b.format)
				mustDo(t, db.QueryRowContext(t.Context(), "SELECT CASE WHEN "+a.fits(text)+" AND "+b.fits(text)+" THEN CAST("+one+
					" AS DOUBLE) = CAST("+two+" AS DOUBLE) ELSE true END").Scan(&same))
				if !same {
					t.Errorf("%s and %s read %s differently", a, b, text)
				}
			}
		}
	}
}

// TestDelimiters reads other delimiters, and compression.
func TestDelimiters(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a.csv", "i;s\n1;a,b\n")
	write(t, folder, "b.tsv", "i\ts\n1\ta,b\n")
	write(t, folder, "c.txt", "i|s\n1|a,b\n")
	write(t, folder, "d.csv", "i¦s\n1¦a,b\n")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("i,s\n1,\"a,b\"\n"))
	z.Close()
	mustDo(t, os.WriteFile(filepath.Join(folder, "e.csv.gz"), packed.Bytes(), 0o666))
	for file, delimiter := range map[string]string{"a.csv": "delimiter: ';', ", "b.tsv": "", "c.txt": "delimiter: '|', ",
		"d.csv": "delimiter: '¦', ", "e.csv.gz": ""} {
		e := open(t, dataset(t, folder, "unit: row\ntables: {t: {source: "+file+", "+delimiter+"columns: {i: {type: integer}, s: {type: "+
			"text}}}}"))
		if got := fmt.Sprint(ask(t, e, "SELECT COUNT(i), COUNT(*) FROM t WHERE s = 'a,b'")); got != "[[1] [1]]" {
			t.Errorf("%s: %s", file, got)
		}
	}
}

// TestQuotedLinesInLargeFiles: a text with lines that look like rows is one text
// wherever a reader starts. It takes several buffers of the reader's to see.
func TestQuotedLinesInLargeFiles(t *testing.T) {
	folder := t.TempDir()
	var b strings.Builder
	b.WriteString("i,s\n")
	rows := int64(0)
	for ; b.Len() < 40<<20; rows++ {
		fmt.Fprintf(&b, "%d,\"%s\nb,%d,\"\"q\"\"\n\"\n", rows, strings.Repeat("x", 1000), rows)
	}
	write(t, folder, "t.csv", b.String())
	e := open(t, dataset(t, folder, "source: t.csv\nunit: row\ntables: {t: {columns: {i: {type: integer}, s: {type: text}}}}"))
	if got := ask(t, e, "SELECT COUNT(i), COUNT(*) FROM t"); got[0][0] != rows || got[1][0] != rows {
		t.Errorf("%d rows were read as %v", rows, got)
	}
}

// A row is read the same wherever it stands: DuckDB reads in buffers, and where one of them ends
// follows from how long the rows before are, which are other people's.
func TestRowsOverTheEndOfABuffer(t *testing.T) {
	const end = 32_000_000 // of the first buffer
	folder := t.TempDir()
	for i, c := range []struct {
		delimiter, row, want string
		shifts               []int
	}{
		{",", "1, \"\"\"\" \n", `"`, []int{2, 5}},
		{"¦", "1¦\"\"\"é\"¦¦\n", `"é`, []int{8}},
	} {
		for _, shift := range c.shifts {
			var b strings.Builder
			b.WriteString("i" + c.delimiter + "s\n")
			other := "0" + c.delimiter + strings.Repeat("y", 990) + "\n"
			for b.Len()+2*len(other) < end-shift {
				b.WriteString(other)
			}
			b.WriteString("0" + c.delimiter + strings.Repeat("y", end-shift-b.Len()-len("0"+c.delimiter+"\n")) + "\n" + c.row + other)
			write(t, folder, fmt.Sprintf("t%d.csv", i), b.String())
			e := open(t, dataset(t, folder, fmt.Sprintf("source: t%d.csv\nunit: row\ntables: {t: {delimiter: '%s', columns: {i: {type: "+
				"integer}, s: {type: text}}}}", i, c.delimiter)))
			if got := ask(t, e, "SELECT COUNT(*) FROM t WHERE i = 1 AND s = '"+c.want+"'"); got[0][0] != 1 {
				t.Errorf("%q, of which %d bytes are before the end of a buffer, is read as another row", c.row, shift)
			}
			e.Close()
		}
	}
}

// TestCollation: texts that a collation takes for one are two.
func TestCollation(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t (u VARCHAR COLLATE NOCASE, s VARCHAR COLLATE NOCASE)",
		"INSERT INTO t VALUES ('p', 'A'), ('P', 'a'), ('q', 'b')")
	ds := dataset(t, folder, "source: t.duckdb\nunit: t.u\ntables: {t: {max_rows: 1, max_groups: 1, columns: {s: {type: text, keys: [a, "+
		"A, b]}}}}")
	e := open(t, ds)
	for text, want := range map[string]string{
		"SELECT COUNT(*) FROM t":                             "[[3]]",
		"SELECT COUNT(*) FROM t GROUP BY s":                  "[[1 1 1]]",
		"SELECT COUNT(*) FROM t WHERE s = 'a'":               "[[1]]",
		"SELECT COUNT(*) FROM t WHERE s IN ('A', 'B')":       "[[1]]",
		"SELECT COUNT(*) FROM t WHERE s < 'a'":               "[[1]]",
		"SELECT COUNT(*) FROM t WHERE s >= 'a'":              "[[2]]",
		"SELECT COUNT(*) FROM t WHERE s BETWEEN 'B' AND 'Z'": "[[0]]",
	} {
		if got := fmt.Sprint(ask(t, e, text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	unique := dataset(t, folder, "source: t.duckdb\nunit: t.u\ntables: {t: {unique: u, columns: {}}}")
	if found, err := check(t, unique); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// A compressed file that was cut is no shorter file.
func TestHalfOfAGzipFile(t *testing.T) {
	folder := t.TempDir()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte("i\n" + strings.Repeat("1\n2\n3\n", 20000)))
	z.Close()
	for _, size := range []int{b.Len(), b.Len() / 2} {
		write(t, folder, "t.csv.gz", b.String()[:size])
		e, err := Open(t.Context(), dataset(t, folder, "source: t.csv.gz\nunit: row\ntables: {t: {columns: {i: {type: integer}}}}"))
		if whole := size == b.Len(); whole != (err == nil) {
			t.Errorf("%d of %d bytes: %v", size, b.Len(), err)
		}
		if err == nil {
			e.Close()
		}
	}
}

// A file without a header would make somebody's values the names of columns.
func TestSchemasNeedAHeader(t *testing.T) {
	folder := t.TempDir()
	for text, ok := range map[string]bool{
		"pid,age\n1,30\n": true, "34,M\n51,F\n": false, "a,2024-01-31\nb,2024-02-01\n": false, "id,age,Age\n1,2,3\n": false,
		"caf\xe9,b\n1,2\n": true, ",a\n0,1\n": true, "\n0\n": false, "\xff\xfea\x00,\x00b\x00\n\x00": false, "PK\x03\x04\n": false,
	} {
		write(t, folder, "t.csv", text)
		if _, err := Schemas(t.Context(), []string{filepath.Join(folder, "t.csv")}, DraftOptions{}); ok != (err == nil) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

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
	for _, keys := range []string{"", "nulls: [x], ", "quotes: none, ", "encoding: latin-1, ", "encoding: windows-1252, "} {
		for _, format := range []string{"", ", format: DD/MM/YYYY", ", format: MM/DD/YYYY", ", nulls: [x]"} {
			e := open(t, dataset(t, folder, "source: t.csv\nunit: row\ntables: {t: {"+keys+"columns: {d: {type: date"+format+"}}}}"))
			v := must(e.Version(t.Context()))(t)
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
		if err == nil || !strings.Contains(err.Error(), "has lines that are not rows") || strings.Contains(err.Error(), "line 3") {
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
	if err != nil || len(found) != 1 || !found[0].Unread || !strings.Contains(found[0].Text, "line 3 has 1 values, but the header has 2") {
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
	connector := must(driver.NewConnector("", nil))(t)
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
		shape := textfile.Shape{Delimiter: ',', Unquoted: unquoted}
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

// A file is read once, by a reader that is told how far it is, and nothing of it stays on the disk.
func TestFeedReadsOnce(t *testing.T) {
	var text strings.Builder
	text.WriteString("pid,age\n")
	for i := range 200_000 {
		fmt.Fprintf(&text, "%d,%d\n", i, i%90)
	}
	text.WriteString("this is no row\n7\n") // and no copy is made without them
	ds := csvDataset(t, text.String())
	read, last := int64(0), int64(0)
	e, err := OpenWith(t.Context(), ds, Limits{Tell: func(file string, done, of int64) {
		if of != int64(text.Len()) || done < last || filepath.Base(file) != "people.csv" {
			t.Errorf("%s: %d of %d after %d", file, done, of, last)
		}
		read, last = read+done-last, done
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if read != int64(text.Len()) {
		t.Errorf("%d bytes of %d were read", read, text.Len())
	}
	if lines := e.now.tables["people"].lines; lines.Rows != 200_000 || lines.Bad != 2 {
		t.Errorf("%+v", lines)
	}
	var n int64
	if err := e.now.DB.QueryRow(`SELECT count(*) FROM "csv people"`).Scan(&n); err != nil || n != 200_000 {
		t.Errorf("%d rows, %v", n, err)
	}
	left := must(os.ReadDir(e.now.spill.folder))(t)
	for _, f := range left {
		if strings.HasPrefix(f.Name(), "rows-") {
			t.Errorf("%s was left behind", f.Name())
		}
	}
}

// A file that turns out to be broken at its end is not opened, whatever was loaded by then.
func TestFeedBroken(t *testing.T) {
	ds := csvDataset(t, "pid,age\n"+strings.Repeat("1,2\n", 100_000)+"3,\"4\n")
	if _, err := Open(t.Context(), ds); err == nil || !strings.Contains(err.Error(), "has lines that are not rows") {
		t.Errorf("opened: %v", err)
	}
}

// Whenever somebody gives up, the reading ends.
func TestFeedEnds(t *testing.T) {
	ds := csvDataset(t, "pid,age\n"+strings.Repeat("1,2\n", 2_000_000))
	file := filepath.Join(ds.Source, "people.csv")
	for range 20 { // before anybody has opened the pipe
		f := must(newFeed(t.Context(), file, textfile.Shape{Delimiter: ','}, t.TempDir(), nil))(t)
		if _, err := f.end(); err == nil {
			t.Error("a file that nobody read was read")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	began := false
	done := make(chan error, 1)
	go func() {
		_, err := OpenWith(ctx, ds, Limits{Tell: func(string, int64, int64) {
			if !began {
				began = true
				cancel()
			}
		}})
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("it was opened")
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
}

// csvDataset is a dataset of one file with people in it.
func csvDataset(t *testing.T, text string) *policy.Dataset {
	t.Helper()
	folder := t.TempDir()
	write(t, folder, "people.csv", text)
	return dataset(t, folder, "source: .\nunit: row\ntables: {people: {columns: {pid: {type: integer}, age: {type: integer}}}}")
}
