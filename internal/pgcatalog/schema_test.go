package pgcatalog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/policy"
)

// hospitalPolicy is what the tests are about; hospitalDDL makes the same in a PostgreSQL.
const hospitalPolicy = `
datasets:
  hospital:
    engine: duckdb
    source: hospital.duckdb
    unit: patients.pid
    budget: {epsilon: 10, delta: 1e-6}
    analysts: {ana: {share: 0.5}, benedikta: {share: 0.5}}
    tables:
      patients:
        unique: pid
        columns:
          pid: {type: integer}
          age: {type: integer, bounds: [0, 110]}
          sex: {type: text, keys: [F, M, X]}
          diagnosis: {type: text, keys: private}
          cost: {type: decimal, bounds: [0, 50000], granularity: 0.01}
          born: {type: date, nullable: false}
          seen: {type: timestamp}
          alive: {type: boolean}
      visits:
        path: pid -> patients.pid
        max_rows: 50
        max_groups: 5
        columns:
          vid: {type: integer}
          pid: {type: integer}
          day: {type: date}
          cost: {type: decimal, bounds: [0, 5000], granularity: 0.01}
      drugs:
        path: vid -> visits.vid
        max_rows: 100
        max_groups: 5
        columns:
          vid: {type: integer}
          code: {type: text}
          dose: {type: integer, bounds: [0, 1000]}
      formulary:
        public: true
        unique: code
        columns:
          code: {type: text}
          kind: {type: text, keys: [antibiotic, opioid, other]}
      "Odd Table":
        public: true
        columns:
          "A column": {type: text}
          select: {type: integer}
    views:
      elderly: SELECT sex, cost FROM patients WHERE age >= 65
  secret_plans:
    engine: duckdb
    source: secret.duckdb
    unit: row
    budget: {epsilon: 1}
    analysts: {benedikta: {}}
    tables:
      launch_codes: {columns: {hidden_column: {type: text}}}
  elsewhere:
    engine: duckdb
    source: elsewhere.duckdb
    unit: row
    budget: {epsilon: 1}
    analysts: {ana: {}}
    tables:
      other: {columns: {x: {type: text}}}
`

const hospitalDDL = `
CREATE ROLE owner;
CREATE ROLE ana LOGIN;
CREATE DATABASE elsewhere OWNER owner;
ALTER DATABASE hospital OWNER TO owner;
ALTER SCHEMA public OWNER TO owner;
CREATE TABLE patients (pid bigint PRIMARY KEY, age bigint, sex text, diagnosis text, cost numeric(7,2), born date NOT NULL, seen timestamp, alive boolean);
CREATE TABLE visits (vid bigint PRIMARY KEY, pid bigint, day date, cost numeric(6,2), FOREIGN KEY (pid) REFERENCES patients(pid));
CREATE TABLE drugs (vid bigint, code text, dose bigint, FOREIGN KEY (vid) REFERENCES visits(vid));
CREATE TABLE formulary (code text UNIQUE, kind text);
CREATE TABLE "Odd Table" ("A column" text, "select" bigint);
CREATE VIEW elderly AS SELECT sex, cost FROM patients WHERE age >= 65;
ALTER TABLE patients OWNER TO owner;
ALTER TABLE visits OWNER TO owner;
ALTER TABLE drugs OWNER TO owner;
ALTER TABLE formulary OWNER TO owner;
ALTER TABLE "Odd Table" OWNER TO owner;
ALTER VIEW elderly OWNER TO owner;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO ana;
`

func testPolicy(t testing.TB) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte(hospitalPolicy))
	must(t, err)
	return p
}

func testCatalog(t testing.TB) *Catalog {
	t.Helper()
	settings := map[string]string{"application_name": "test"}
	return New(testPolicy(t), "hospital", Session{User: "ana", PID: 4711, Version: "1.0",
		Setting: func(n string) (string, bool) { v, ok := settings[n]; return v, ok },
		Set:     func(n, v string, _ bool) error { settings[n] = v; return nil },
	})
}

// show runs a query and writes its rows: columns with | between them, NULL as ~.
func show(t testing.TB, c *Catalog, sql string, params ...datum.Value) string {
	t.Helper()
	res, err := c.Query(context.Background(), sql, nil, params)
	if err != nil {
		var e *interpret.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", sql, err)
		}
		return e.Code + " " + e.Message
	}
	var lines []string
	for _, row := range texts(res) {
		lines = append(lines, strings.Join(row, "|"))
	}
	return strings.Join(lines, "\n")
}

// texts writes the values of a result as PostgreSQL does.
func texts(res *Result) [][]string {
	var out [][]string
	for _, row := range res.Rows {
		var line []string
		for _, v := range row {
			line = append(line, text(v))
		}
		out = append(out, line)
	}
	return out
}

func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "~"
	case bool:
		return strconv.FormatBool(v)[:1]
	case float64:
		if math.IsInf(v, 0) {
			return strings.Replace(strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+"), "Inf", "Infinity", 1)
		}
		if a := math.Abs(v); a >= 1e15 || a != 0 && a < 1e-4 {
			return strconv.FormatFloat(v, 'e', -1, 64)
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		var parts []string
		for _, x := range v {
			s := text(x)
			_, nested := x.([]any)
			switch {
			case nested:
			case x == nil:
				s = "NULL"
			case s == "" || strings.ContainsAny(s, "{}\"\\, \t\n") || strings.EqualFold(s, "null"):
				s = `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s) + `"`
			}
			parts = append(parts, s)
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return fmt.Sprint(v)
}

// unlistedPolicy has no column of a person listed, as drafts do.
const unlistedPolicy = `
datasets:
  clinic:
    engine: duckdb
    source: clinic.duckdb
    unit: patients.pid
    budget: {epsilon: 10}
    analysts: {ana: {}}
    tables:
      patients:
        unique: pid
        columns:
          age: {type: integer, bounds: [0, 110]}
      visits:
        path: patient -> patients.pid
        max_rows: 50
        max_groups: 5
        columns:
          cost: {type: decimal, bounds: [0, 5000], granularity: 0.01}
      drugs:
        path: visit -> visits.vid
        max_rows: 100
        max_groups: 5
        columns:
          visit: {type: integer}
          dose: {type: integer, bounds: [0, 1000]}
      codes:
        public: true
        unique: code
        columns:
          code: {type: text}
    views:
      all_patients: SELECT * FROM older
      older: SELECT p.pid, age, age + 1 AS next, cost AS spent FROM patients p JOIN visits ON patient = p.pid WHERE age > 60
      medians: SELECT patient, median(cost) AS m FROM visits GROUP BY patient
      known: SELECT code FROM codes
`

// How tables join is to be seen whatever the policy lists: in columns, keys and comments, of views
// too.
func TestIdentities(t *testing.T) {
	p, err := policy.Parse("policy.yaml", []byte(unlistedPolicy))
	must(t, err)
	c := New(p, "clinic", Session{User: "ana"})
	const people = "join on it, and count people with COUNT(DISTINCT "
	for sql, want := range map[string]string{
		"SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint ORDER BY oid": `patients|PRIMARY KEY (pid)
codes|UNIQUE (code)
visits|PRIMARY KEY (vid)
visits|FOREIGN KEY (patient) REFERENCES patients(pid)
drugs|FOREIGN KEY (visit) REFERENCES visits(vid)`,
		"SELECT attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = " +
			"'visits'::regclass ORDER BY attnum": `cost|numeric(6,2)|bounds 0 to 5000; noisy; private
patient|text|identifies the person, as patients.pid does; ` + people + `patient); its values are never shown
vid|bigint|tells rows apart; drugs.visit leads here; join on it; its values are never shown`,
		"SELECT attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = " +
			"'all_patients'::regclass ORDER BY attnum": `pid|text|identifies the person; ` + people + `pid); its values are never shown
age|bigint|bounds 0 to 110; noisy; private
next|bigint|noisy; private
spent|numeric(6,2)|bounds 0 to 5000; noisy; private`,
		"SELECT attname, col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = 'medians'::regclass ORDER BY attnum": `` +
			`patient|identifies the person, as patients.pid does; ` + people + `patient); its values are never shown
m|noisy; private`,
		"SELECT obj_description('visits'::regclass)": "private; answers are noisy; at most 50 rows of a person count in a group, " +
			"and a person counts in at most 5 groups; patient identifies the person",
		"SELECT obj_description('known'::regclass), col_description('known'::regclass, 1)": "a view of public tables; it can be joined " +
			"to private tables|~",
		"SELECT table_name, column_name FROM information_schema.key_column_usage WHERE position_in_unique_constraint = 1 ORDER BY 1": `` +
			"drugs|visit\nvisits|patient",
	} {
		if got := show(t, c, sql); got != want {
			t.Errorf("%s:\n%s\nand not\n%s", sql, got, want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func errorOf[T any](_ T, err error) error { return err }
