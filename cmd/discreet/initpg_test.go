package main

import (
	"context"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/testpg"
)

const clinicSQL = `CREATE ROLE reader LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC;
CREATE TYPE sex AS ENUM ('F', 'M');
CREATE TABLE patients (pid integer PRIMARY KEY, sex sex NOT NULL, age integer CHECK (age BETWEEN 0 AND 120), weight numeric(5,1));
CREATE TABLE wards (code text PRIMARY KEY, name text);
CREATE TABLE visits (vid integer PRIMARY KEY, patient integer NOT NULL REFERENCES patients, ward text REFERENCES wards);
CREATE TABLE labs (visit integer NOT NULL REFERENCES visits, value numeric CHECK (value >= 0 AND value <= 10));
INSERT INTO wards VALUES ('A', 'surgery'), ('B', 'children');
CREATE VIEW adults AS SELECT pid FROM patients WHERE age >= 18;
INSERT INTO patients SELECT i, CASE WHEN i % 2 = 0 THEN 'F'::sex ELSE 'M'::sex END, i % 100, 70 FROM generate_series(1, 300) i;
INSERT INTO visits SELECT i, 1 + i % 300, 'A' FROM generate_series(1, 900) i;
INSERT INTO labs SELECT i, 5 FROM generate_series(1, 900) i`

// A walk from a database: draft, grant what the draft says, check, ask; fill in, ask more.
func TestWalkPostgres(t *testing.T) {
	server := testpg.Start(t)
	admin := func(text string) {
		t.Helper()
		conn, err := pgx.Connect(context.Background(), server.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		if _, err := conn.PgConn().Exec(context.Background(), text).ReadAll(); err != nil {
			t.Fatalf("%v in %.200s", err, text)
		}
	}
	admin(clinicSQL)
	u, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("reader")
	policy := filepath.Join(t.TempDir(), "clinic.yaml")
	command("init", u.String(), "-o", policy, "--dataset", "clinic").wants(t, 0, "wrote "+policy, "note: the unit, whom the budget "+
		"protects: GUESSED",
		"public.adults is a view, and left out", "the table wards is left out")
	draft := command("init", u.String(), "--unit", "patients.pid", "--json").wants(t, 0).lacks(t, "GUESSED").decode(t)["policy"].(string)
	command("check", policy).wants(t, 1, "has to read the columns of the policy and nothing else, and it may not")
	for _, g := range regexp.MustCompile(`(?m)^#   (GRANT .*;)$`).FindAllStringSubmatch(draft, -1) {
		admin(g[1])
	}
	command("check", policy).wants(t, 0, "visit -> visits.vid, patient -> patients.pid", "one for each person, unique pid", "0 .. "+
		"120", "2 public", "rows that were read: none")
	command("check", policy, "--json").wants(t, 0, `"read":{}`)
	query := func(text string) result { return command("query", "-p", policy, "--as", "analyst", text) }
	query("SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex").wants(t, 0, "sex  count  ±95%")
	query("SELECT SUM(value) FROM labs").wants(t, 0)
	query("SELECT AVG(weight) FROM patients").wants(t, 2, "ask the owner to add bounds")
	change(t, policy, func(s string) string {
		return strings.Replace(s, "# bounds: [lowest, highest] ", "bounds: [0, 300] ", 1)
	})
	query("SELECT AVG(weight) FROM patients").wants(t, 0)
	command("check", policy).wants(t, 0, "rows that were read: patients (weight). The database's own keys")
	// The list of codes that the draft has as a comment.
	change(t, policy, func(s string) string {
		return regexp.MustCompile(`(?m)^      # (wards:|  public: true|  unique: code|  columns:|    (code|name): \{type: text\})$`).
			ReplaceAllString(s, "      $1")
	})
	admin("GRANT SELECT (code, name) ON wards TO reader")
	query("SELECT w.name, COUNT(*) FROM visits v JOIN wards w ON w.code = v.ward GROUP BY w.name").wants(t, 0, "children", "surgery")

	secret := *u
	secret.User = url.UserPassword("reader", "s3cret")
	command("init", secret.String()).wants(t, 2, "PGPASSWORD").lacks(t, "s3cret")
	command("init", u.String(), "x.csv").wants(t, 2, "one by one")
	command("init", u.String(), "--unit", "patients.nobody").wants(t, 2, "is no column of these tables")
	command("init", u.String(), "--omop").wants(t, 1, "no table person")
	command("init", u.String(), "--schema", "nowhere").wants(t, 1, "has no table in the schemas nowhere")
	command("init", "x.csv", "--omop").wants(t, 2, "name its address")
	server.Stop(t)
	command("init", u.String()).wants(t, 1, "cannot be reached")
}
