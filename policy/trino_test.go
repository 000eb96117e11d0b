package policy

import (
	"strings"
	"testing"
	"time"
)

// trinoPolicy has one dataset with one table.
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
		{"trino://r@trino.example.org/lake", "", "", "", "in which schema"},
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
