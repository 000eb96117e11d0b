package duckdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/policy"
)

// loaded makes a database with a log of its loads, and a policy that asks the query.
func loaded(t *testing.T, query string) (path, keys string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "t.duckdb")
	owner(t, path, "CREATE TABLE t AS SELECT unnest([1, 2]) AS i",
		"CREATE TABLE load_log AS SELECT TIMESTAMP '2026-11-01 08:00:00' AS loaded_at, 'mallory' AS who",
		"CREATE SCHEMA meta", "CREATE TABLE meta.loads AS SELECT 7 AS n")
	return path, fmt.Sprintf("source: t.duckdb\nversion: %q\n%s", query, counted)
}

func TestVersionQuery(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT max(loaded_at) FROM load_log":                      "2026-11-01 08:00:00",
		"SELECT max(loaded_at) FROM source.main.load_log;\n":       "2026-11-01 08:00:00",
		"SELECT n FROM meta.loads -- how often":                    "7",
		"FROM meta.loads":                                          "7",
		"WITH l AS (SELECT 1 AS x) SELECT x + 0.5 FROM l":          "1.5",
		"SELECT 'a | b é'":                                         "a | b é",
		"SELECT repeat('x', 200)":                                  strings.Repeat("x", 200),
		"SELECT TIMESTAMPTZ '2026-11-01 08:00:00+02' AS loaded_at": "2026-11-01 06:00:00+00",
	} {
		path, keys := loaded(t, query)
		e := open(t, dataset(t, filepath.Dir(path), keys))
		if got := version(t, e).Name; got != want {
			t.Errorf("%s: %q", query, got)
		}
		if got := fmt.Sprint(ask(t, e, "SELECT COUNT(*), SUM(i) FROM t")); got != "[[2] [3]]" {
			t.Errorf("%s: %v", query, got)
		}
	}
}

// TestBadVersionQuery: the owner is told what is wrong, analysts one text, and nothing is written.
func TestBadVersionQuery(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "out.csv")
	secret := write(t, t.TempDir(), "secret.csv", "i\n1\n")
	for query, want := range map[string]string{
		"SELECT i FROM t":                           "several rows",
		"SELECT i FROM t WHERE i > 5":               "no row",
		"SELECT max(i) FROM t WHERE i > 5":          "is NULL",
		"SELECT 1, 2":                               "has 2 columns",
		"SELECT ''":                                 "an empty text",
		"SELECT '  '":                               "an empty text",
		"SELECT repeat('x', 201)":                   "201 bytes long",
		"SELECT repeat('x', 10000000)":              "10000000 bytes long",
		"SELECT 'a' || chr(10) || 'b'":              "cannot be printed",
		"SELECT chr(27) || '[2J'":                   "cannot be printed",
		"SELECT CAST(who AS INTEGER) FROM load_log": "mallory",
		"SELECT nothing FROM load_log":              "cannot be run",
		"SELECT max(x) FROM nowhere":                "cannot be run",
		"not SQL":                                   "cannot be run",
		";":                                         "cannot be run",
		"SELECT 1; SELECT 2":                        "cannot be run",
		"INSERT INTO t VALUES (50)":                 "cannot be run",
		"DELETE FROM t":                             "cannot be run",
		"UPDATE t SET i = 0":                        "cannot be run",
		"CREATE TABLE x AS SELECT 1":                "cannot be run",
		"COPY t TO " + dialect.QuoteText(outside):   "cannot be run",
		"SELECT count(*) FROM read_csv(" + dialect.QuoteText(secret) + ")":                 "cannot be run",
		"SELECT 1); DELETE FROM t; SELECT * FROM (SELECT 2":                                "read-only",
		"SELECT 1); SET enable_external_access = true; SELECT * FROM (SELECT 2":            "locked",
		"SELECT 1); COPY t TO " + dialect.QuoteText(outside) + "; SELECT * FROM (SELECT 2": "disabled",
	} {
		path, keys := loaded(t, query)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		ds := dataset(t, filepath.Dir(path), keys)
		_, err = Open(t.Context(), ds)
		var bad *policy.VersionError
		if !errors.As(err, &bad) || err.Error() != (&policy.VersionError{Dataset: ds.Name}).Error() {
			t.Errorf("%s: analysts are told %v", query, err)
			continue
		}
		if text := bad.Explain(); !strings.Contains(text, want) {
			t.Errorf("%s: the owner is told %s", query, text)
		}
		if _, err := DescribeVersion(t.Context(), ds); err == nil || err.Error() != bad.Explain() {
			t.Errorf("%s: check says %v", query, err)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s: the database was written to", query)
		}
		if _, err := os.Stat(outside); err == nil {
			t.Fatalf("%s: a file was written", query)
		}
	}
}

// TestVersionQueryDecides: with a query it alone names the database, and it is asked again when the
// file has changed.
func TestVersionQueryDecides(t *testing.T) {
	path, keys := loaded(t, "SELECT max(loaded_at) FROM load_log")
	folder := filepath.Dir(path)
	e := open(t, dataset(t, folder, keys))
	first := version(t, e)
	e.now.DB.Close() // as a file copied over it would be
	owner(t, path, "INSERT INTO t VALUES (50)")
	later(t, path)
	if version(t, e) != first {
		t.Error("another version, though the query says the same")
	}
	if got := fmt.Sprint(ask(t, e, "SELECT SUM(i) FROM t")); got != "[[53]]" {
		t.Errorf("the new data is not used: %v", got)
	}
	e.now.DB.Close()
	owner(t, path, "INSERT INTO load_log VALUES (TIMESTAMP '2026-11-02 08:00:00', 'mallory')")
	if got := version(t, e).Name; got != "2026-11-02 08:00:00" {
		t.Errorf("the new version is %q", got)
	}
	// A query that fails later keeps what was open, and works again when it does.
	e.now.DB.Close()
	owner(t, path, "ALTER TABLE load_log RENAME TO loads")
	if v, err := e.Version(t.Context()); err == nil {
		t.Errorf("version %v", v)
	}
	owner(t, path, "ALTER TABLE loads RENAME TO load_log")
	if got := version(t, e).Name; got != "2026-11-02 08:00:00" {
		t.Errorf("the version is %q", got)
	}
}

// TestVersionQueryAndFiles: tables in files of their own still count with their contents.
func TestVersionQueryAndFiles(t *testing.T) {
	path, _ := loaded(t, "")
	folder := filepath.Dir(path)
	write(t, folder, "u.csv", "i\n1\n")
	ds := dataset(t, folder, "source: t.duckdb\nversion: SELECT 1\n"+strings.Replace(counted, "tables: {",
		"tables: {u: {source: u.csv, columns: {i: {type: integer, bounds: [0, 100]}}}, ", 1))
	e := open(t, ds)
	first := version(t, e)
	write(t, folder, "u.csv", "i\n1\n2\n")
	if second := version(t, e); second == first || second.Name != "1" {
		t.Errorf("%v after %v", second, first)
	}
}

func TestDescribeVersion(t *testing.T) {
	path, keys := loaded(t, "SELECT max(loaded_at) FROM load_log")
	for keys, want := range map[string]string{
		keys:                           `"2026-11-01 08:00:00", by the version query; analysts see it`,
		"source: t.duckdb\n" + counted: "the contents of the file",
	} {
		if got, err := DescribeVersion(t.Context(), dataset(t, filepath.Dir(path), keys)); err != nil || got != want {
			t.Errorf("%q, %v", got, err)
		}
	}
}
