package duckdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/dialect"
)

// sources makes one dataset for each kind of source, all with the same three
// people, beside files that the policy does not name.
func sources(t *testing.T) map[string]*Engine {
	folder := t.TempDir()
	const rows = "SELECT * FROM (VALUES (1, 10), (2, 20), (3, NULL)) AS p(pid, age)"
	write(t, folder, "people.csv", "pid,age\n1,10\n2,20\n3,\n")
	write(t, folder, "secret.csv", "pid,age\n4,40\n")
	write(t, folder, "secret.txt", "secret")
	owner(t, "", "COPY ("+rows+") TO "+dialect.QuoteText(filepath.Join(folder, "people.parquet")),
		"COPY ("+rows+") TO "+dialect.QuoteText(filepath.Join(folder, "secret.parquet")))
	owner(t, filepath.Join(folder, "people.duckdb"), "CREATE TABLE people AS "+rows)
	owner(t, filepath.Join(folder, "secret.duckdb"), "CREATE TABLE people AS "+rows)
	out := map[string]*Engine{}
	for _, kind := range []string{"csv", "parquet", "duckdb"} {
		out[kind] = open(t, dataset(t, folder, `
source: people.`+kind+`
unit: people.pid
tables:
  people: {unique: pid, columns: {age: {type: integer, bounds: [0, 100]}}}
`))
	}
	return out
}

// TestLocked tries, through the engine's own connection, everything that would
// leave it. No question can say any of this; the lock is for the day when one
// of our own mistakes can.
func TestLocked(t *testing.T) {
	for kind, e := range sources(t) {
		t.Run(kind, func(t *testing.T) {
			folder := filepath.Dir(e.dataset.Source)
			file := func(name string) string { return dialect.QuoteText(filepath.Join(folder, name)) }
			for _, statement := range []string{
				"SELECT * FROM read_text('/etc/hostname')",
				"SELECT * FROM read_text(" + file("secret.txt") + ")",
				"SELECT * FROM read_blob(" + file("secret.txt") + ")",
				"SELECT * FROM read_csv(" + file("secret.csv") + ")",
				"SELECT * FROM read_csv_auto('/etc/passwd')",
				"SELECT * FROM read_json('/etc/passwd')",
				"SELECT * FROM read_parquet(" + file("secret.parquet") + ")",
				"SELECT * FROM " + file("secret.csv"),
				"SELECT * FROM glob('/etc/*')",
				"SELECT * FROM glob(" + file("*") + ")",
				"SELECT * FROM sniff_csv(" + file("secret.csv") + ")",
				"COPY (SELECT 1) TO " + file("out.csv"),
				"COPY (SELECT 1) TO '/dev/stdout'",
				"COPY (SELECT 1) TO '/dev/shm/discreet-lock-test.csv'",
				"EXPORT DATABASE " + file("out"),
				"ATTACH " + file("secret.duckdb") + " AS secret",
				"ATTACH " + file("secret.duckdb") + " AS secret (READ_ONLY)",
				"ATTACH " + file("new.duckdb") + " AS new",
				"INSTALL httpfs",
				"LOAD httpfs",
				"LOAD " + file("x.duckdb_extension"),
				"SET enable_external_access = true",
				"SET lock_configuration = false",
				"SET allowed_paths = ['/etc/passwd']",
				"SET allowed_directories = ['/']",
				"SET temp_directory = '/dev/shm'",
				"SET autoinstall_known_extensions = true",
				"SET threads = 1",
				"SET SESSION memory_limit = '1GB'",
				"SET log_query_path = " + file("log"),
				"RESET enable_external_access",
				"PRAGMA profiling_output = " + file("profile"),
				"PRAGMA threads = 1",
				"SELECT getenv('HOME')",
				"SELECT * FROM read_csv('https://example.com/x.csv')",
				"CREATE SECRET (TYPE s3)",
				"INSERT INTO source.people VALUES (4, 40)",
				"UPDATE source.people SET age = 1",
				"DELETE FROM source.people",
				"DROP TABLE source.people",
				"CREATE TABLE source.other (x INTEGER)",
				"ALTER TABLE source.people ADD COLUMN x INTEGER",
			} {
				if err := run(t.Context(), e, statement); err == nil {
					t.Errorf("this ran: %s", statement)
				}
			}
			for _, name := range []string{"out.csv", "out", "new.duckdb", "log", "profile"} {
				if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
					t.Errorf("%s was written", name)
				}
			}
			// Everything that the policy names still works.
			if got := ask(t, e, "SELECT COUNT(*), SUM(age) FROM people"); fmt.Sprint(got) != "[[3] [30]]" {
				t.Errorf("%v", got)
			}
		})
	}
}

// run reads all rows, because some statements fail only then.
func run(ctx context.Context, e *Engine, statement string) error {
	rows, err := e.now.DB.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// TestUnlocked shows that the statements fail because of the lock: in a
// DuckDB of the owner's they run.
func TestUnlocked(t *testing.T) {
	folder := t.TempDir()
	secret := dialect.QuoteText(write(t, folder, "secret.csv", "pid,age\n4,40\n"))
	owner(t, "", "SELECT * FROM read_csv("+secret+")", "SELECT * FROM read_text("+secret+")", "SET threads = 1",
		"COPY (SELECT 1) TO "+dialect.QuoteText(filepath.Join(folder, "out.csv")), "SELECT * FROM glob("+secret+")")
}
