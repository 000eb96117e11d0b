package duckdb

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if err := os.WriteFile(filepath.Join(folder, "e.csv.gz"), packed.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
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
		fmt.Fprintf(&b, "%d,\"%s\nb,%d,\"\"q\"\"\n\"\n", rows, strings.Repeat("x", 200), rows)
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
		"caf\xe9,b\n1,2\n": false,
	} {
		write(t, folder, "t.csv", text)
		if _, err := Schemas(t.Context(), []string{filepath.Join(folder, "t.csv")}, Look{}); ok != (err == nil) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
