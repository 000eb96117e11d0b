package policy

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPostgresAddress: an address names one server, one database and one role, in a way that the
// driver reads no other into, and TLS knows the server.
func TestPostgresAddress(t *testing.T) {
	for _, c := range []struct{ address, problem string }{
		{"postgres://r@db.example.org/clinic?sslmode=verify-full", ""},
		{"postgresql://r@db.example.org:5433/clinic?sslmode=verify-full&sslrootcert=/a/ca.pem&passfile=/a/b", ""},
		{"postgres://r@localhost/clinic", ""},
		{"postgres://r@[::1]/clinic", ""},
		{"postgres://r@/clinic?host=/run/postgresql&port=5433", ""},
		{"postgres://r@db.example.org/clinic", "sslmode=verify-full"},
		{"postgres://r@db.example.org/clinic?sslmode=require", "sslmode=verify-full"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-ca", "any server"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&sslmode=disable", "twice"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&ssl=true", "'ssl'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&host=other", "'host'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&port=1", "'port'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&user=postgres", "'user'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&dbname=other", "'dbname'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&service=other", "'service'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&options=-c%20role%3Dpostgres", "'options'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&password=x", "password"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&sslpassword=x", "password"},
		{"postgres://r:x@localhost/clinic", "password"},
		{"postgres://r@a.example.org,b.example.org/clinic?sslmode=verify-full", "more than one server"},
		{"postgres://r@/clinic?host=/run/postgresql,evil.example.org", "more than one server"},
		{"postgres://r@/clinic?host=/run/postgresql&host=evil.example.org", "twice"},
		{"postgres://r@localhost/clinic?hostaddr=10.0.0.1", "'hostaddr'"},
		{"postgres://r@localhost//clinic", "more than one server or database"},
	} {
		_, err := Parse("p.yaml", []byte("datasets: {d: {unit: t.a, budget: {epsilon: 1}, analysts: {ana: }, tables: {t: "+
			"{unique: a, source: clinic.t, columns: {a: {type: integer}}}}, source: '"+c.address+"'}}"))
		// A table that is in the database is not found fault with as well.
		if (err == nil) != (c.problem == "") || err != nil && (!strings.Contains(err.Error(), c.problem) ||
			strings.Contains(err.Error(), "Parquet")) {
			t.Errorf("%s: %v", c.address, err)
		}
	}
}

// TestPostgresTwice: a table has one home, however its address is spelled.
func TestPostgresTwice(t *testing.T) {
	const first = "postgres://r@db.example.org/clinic?sslmode=verify-full"
	for _, c := range []struct {
		first, second string
		same          bool
	}{
		{first, "postgresql://other@DB.example.org.:5432/%63linic?sslmode=verify-full", true},
		{first, "postgres://r@db.example.org:5433/clinic?sslmode=verify-full", false},
		{first, "postgres://r@db.example.org/Clinic?sslmode=verify-full", false},
		{"postgres://r@localhost/clinic", "postgres://r@127.0.0.1/clinic", true},
		{"postgres://r@[::1]/clinic", "postgres://r@127.0.0.1:5432/clinic?sslmode=disable", true},
		{"postgres://r@/clinic?host=/run/a", "postgres://r@/clinic?host=/run//a/&port=5432", true},
		{"postgres://r@/clinic?host=/run/a", "postgres://r@/clinic?host=/run/a&port=5433", false},
	} {
		dataset := func(address string) string {
			return "{unit: t.a, budget: {epsilon: 1}, analysts: {ana: }, tables: {t: {unique: a, columns: {a: {type: integer}}}}, " +
				"source: '" + address + "'}"
		}
		_, err := Parse("p.yaml", []byte("datasets: {d: "+dataset(c.first)+", e: "+dataset(c.second)+"}"))
		if same := err != nil && strings.Contains(err.Error(), "two budgets"); same != c.same || err != nil && !same {
			t.Errorf("%s and %s: %v", c.first, c.second, err)
		}
	}
}

func trinoPolicy(address, dataset, table string) string {
	return "datasets: {d: {unit: t.a, budget: {epsilon: 1}, analysts: {ana: }, source: '" + address + "', " + dataset +
		"tables: {t: {unique: a, " + table + "columns: {a: {type: integer}}}}}}"
}

// TestTrino: a table is known by its catalog, schema and name, in lower case, as Trino itself knows
// it; what is for files is not for it.
func TestTrino(t *testing.T) {
	const at = "trino://r@trino.example.org:8443/Lake/Clinic"
	for _, c := range []struct{ address, dataset, table, relation, problem string }{
		{at, "", "", "lake.clinic.t", ""},
		{at, "engine: trino, refresh: 24h, version: 'SELECT 1', ", "trusted: true, ", "lake.clinic.t", ""},
		{at, "", "source: Patients, ", "lake.clinic.patients", ""},
		{at, "", "source: Other.Patients, ", "lake.other.patients", ""},
		{"trino://r@trino.example.org/lake", "", "source: pg.Other.Patients, ", "pg.other.patients", ""},
		{"trino://r@trino.example.org/lake", "", "", "", "which schema the table is in"},
		{at, "", "source: a.b.c.d, ", "", "not a table"},
		{at, "", "source: a..d, ", "", "not a table"},
		{at, "", "source: 't$history', ", "", "not a table"},
		{at, "", "source: 'a.\"b', ", "", "not a table"},
		{at, "", "source: information_schema.columns, ", "", "not a table"},
		{at, "", "source: system.runtime.queries, ", "", "not a table"},
		{at, "engine: duckdb, ", "", "", "the engine trino asks a Trino cluster"},
		{at, "", "prepared: a.duckdb, ", "", "prepared"},
		{at, "", "delimiter: ';', ", "", "delimiter"},
		{at + "?sslmode=disable", "", "", "", "'source' is on another machine"},
		{at + "?sslmode=disable", "engine: trino, ", "source: a.b, ", "", "'source' is on another machine"},
		{"trino://r:x@trino.example.org/lake", "", "source: a.b, ", "", "has a password"},
		{"a.duckdb", "engine: trino, ", "", "", "the engine trino asks a Trino cluster"},
	} {
		p, err := Parse("p.yaml", []byte(trinoPolicy(c.address, c.dataset, c.table)))
		if (err == nil) != (c.problem == "") || err != nil && (!strings.Contains(err.Error(), c.problem) ||
			strings.Count(err.Error(), "p.yaml:") != 1) {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if err != nil {
			continue
		}
		d := p.Datasets["d"]
		if d.Tables["t"].Relation != c.relation || d.Engine != "trino" || d.SourceKind() != TrinoDatabase ||
			len(d.Files(d.Tables["t"])) > 0 {
			t.Errorf("%+v: %+v", c, d.Tables["t"])
		}
		if full := c.dataset != ""; d.Tables["t"].Trusted != full || (d.Refresh == 24*time.Hour) != full || (d.VersionQuery != "") != full {
			t.Errorf("%+v: %+v", c, d)
		}
	}
}

// TestTrinoTwice: a table has one home, however it and its cluster are spelled.
func TestTrinoTwice(t *testing.T) {
	for _, c := range []struct {
		first, second, table string
		same                 bool
	}{
		{"trino://r@h.example.org/lake/clinic", "trino://other@H.example.org.:443/LAKE", "clinic.T", true},
		{"trino://r@h.example.org/lake/clinic", "trino://r@h.example.org/pg/x", "lake.clinic.t", true},
		{"trino://r@h.example.org/lake/clinic", "trino://r@h.example.org/pg/clinic", "t", false},
		{"trino://r@h.example.org/lake/clinic", "trino://r@h.example.org:8443/lake/clinic", "t", false},
		{"trino://r@localhost/lake/clinic", "trino://r@127.0.0.1:443/lake/clinic", "t", true},
	} {
		dataset := func(address, table string) string {
			return "{unit: t.a, budget: {epsilon: 1}, analysts: {ana: }, tables: {t: {unique: a, source: " + table +
				", columns: {a: {type: integer}}}}, source: '" + address + "'}"
		}
		_, err := Parse("p.yaml", []byte("datasets: {d: "+dataset(c.first, "t")+", e: "+dataset(c.second, c.table)+"}"))
		if same := err != nil && strings.Contains(err.Error(), "two budgets"); same != c.same || err != nil && !same {
			t.Errorf("%s and %s: %v", c.first, c.second, err)
		}
	}
}

// TestPrepared: a prepared file belongs to one table with many rows of a person, and is not its
// source.
func TestPrepared(t *testing.T) {
	const text = `
datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: people.pid
    budget: {epsilon: 1}
    analysts: {ana: }
    tables:
      people: {unique: pid, columns: {}}
      visits: {path: pid -> people.pid, max_rows: 2, max_groups: 2, prepared: p/visits.duckdb, columns: {}}
      tests: {path: pid -> people.pid, max_rows: 2, max_groups: 2, columns: {}}
`
	p, err := Parse("x/policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d := p.Datasets["d"]
	if got := d.Tables["visits"].Prepared; filepath.ToSlash(got) != "x/p/visits.duckdb" || d.Tables["tests"].Prepared != "" {
		t.Errorf("got %q", got)
	}
	for _, c := range []struct{ from, to, want string }{
		{"p/visits.duckdb", "p/visits.parquet", "must end in .duckdb"},
		{"p/visits.duckdb", "d.duckdb", "the dataset's source"},
		{"p/visits.duckdb", "[1]", "prepared"},
		{"p/visits.duckdb", "https://x/y.duckdb", "is an address"},
		{"people: {unique: pid,", "people: {unique: pid, prepared: p/people.duckdb,", "remove 'prepared'"},
		{"max_groups: 2, columns", "max_groups: 2, prepared: p/visits.duckdb, columns", "the table 'visits' has this prepared file"},
	} {
		_, err := Parse("x/policy.yaml", []byte(strings.Replace(text, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.to, err)
		}
	}
}

func TestVersionQuery(t *testing.T) {
	for _, c := range []struct{ keys, query, problem string }{
		{"source: a.duckdb, version: SELECT max(loaded_at) FROM load_log", "SELECT max(loaded_at) FROM load_log", ""},
		{"version: 'SELECT 1', source: a.db", "SELECT 1", ""},
		{"source: a.duckdb", "", ""},
		{"source: a.csv, version: SELECT 1", "", "the source is not one"},
		{"source: folder, version: SELECT 1", "", "the source is not one"},
		{"version: SELECT 1", "", "the source is not one"},
		{"source: a.duckdb, version: ''", "", "'version' is empty"},
		{"source: a.duckdb, version: ", "", "'version'"},
		{"source: a.duckdb, version: [SELECT 1]", "", "'version' must be"},
		{"source: a.duckdb, version: \"a\\0\"", "", "at most 4096 bytes"},
		{"source: a.duckdb, version: " + strings.Repeat("x", 4097), "", "at most 4096 bytes"},
	} {
		p, err := Parse("p.yaml",
			[]byte("datasets: {d: {engine: duckdb, unit: row, budget: {epsilon: 1}, analysts: {ana: }, tables: {t: "+
				"{columns: {}}}, "+c.keys+"}}"))
		switch {
		case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("%s: %v", c.keys, err)
		case c.problem == "" && err != nil:
			t.Errorf("%s: %v", c.keys, err)
		case c.problem == "" && p.Datasets["d"].VersionQuery != c.query:
			t.Errorf("%s: %q", c.keys, p.Datasets["d"].VersionQuery)
		}
	}
}
