package main

import (
	"flag"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/testtrino"
)

var clusters = flag.Bool("full", false, "also what starts a Trino cluster of its own")

// clinicOnTrino makes tables for the one user who may read them and nothing else.
func clinicOnTrino(t *testing.T, c *testtrino.Cluster) (user, address string) {
	t.Helper()
	user = c.Alone(t, "iceberg")
	at := "iceberg." + user + "."
	c.Run(t, "CREATE TABLE "+at+"patients (pid bigint NOT NULL, sex varchar NOT NULL, age integer, weight decimal(5,1))",
		"CREATE TABLE "+at+"visits (vid bigint, pid bigint, ward varchar)",
		"INSERT INTO "+at+"patients SELECT i, IF(i % 2 = 0, 'F', 'M'), CAST(i % 100 AS integer), 70 FROM UNNEST(sequence(1, 300)) AS s (i)",
		"INSERT INTO "+at+"visits SELECT i, 1 + i % 300, 'A' FROM UNNEST(sequence(1, 900)) AS s (i)")
	return user, c.Address(user, "iceberg", user)
}

// A walk from a Trino cluster: draft, check, ask; fill in, ask more.
func TestWalkTrino(t *testing.T) {
	c := testtrino.Shared(t)
	user, address := clinicOnTrino(t, c)
	at := "iceberg." + user + "."
	c.Run(t, "CREATE VIEW "+at+"adults AS SELECT pid, ward FROM "+at+"visits")
	policy := filepath.Join(t.TempDir(), "clinic.yaml")
	command("init", address, "-o", policy, "--dataset", "clinic").wants(t, 0, "wrote "+policy,
		"note: the unit, whom the budget protects: GUESSED", "iceberg."+user+".adults is a view")
	command("init", address, "--unit", "patients.pid", "--json").wants(t, 0, `GRANT SELECT ON \"iceberg\"`).lacks(t, "GUESSED").decode(t)
	command("check", policy).wants(t, 1, "it may read "+at+"adults, which the policy does not name", `"table": "(patients|visits)`)
	c.Run(t, "DROP VIEW "+at+"adults")
	command("check", policy).wants(t, 0, "data version: patients as of one version, in which all of a question reads it",
		"It is looked for changes before every question", "pid -> patients.pid", "the policy and the data were read")
	query := func(text string) result { return command("query", "-p", policy, "--as", "analyst", text) }
	query("SELECT COUNT(*) FROM visits").wants(t, 0, "count  ±95%")
	query("SELECT AVG(age) FROM patients").wants(t, 2, "ask the owner to add bounds")
	change(t, policy, func(s string) string {
		return strings.Replace(s, "# bounds: [lowest, highest] ", "bounds: [0, 120] ", 1)
	})
	query("SELECT AVG(age) FROM patients").wants(t, 0, "avg")
	checkOnTrino(t, c, policy, user)
}

// checkOnTrino: what check refuses, each time in words that say what to do.
func checkOnTrino(t *testing.T, c *testtrino.Cluster, policy, user string) {
	changed := func(f func(string) string) result {
		t.Helper()
		other := filepath.Join(t.TempDir(), "other.yaml")
		write(t, other, "")
		change(t, policy, func(s string) string { write(t, other, f(s)); return s })
		return command("check", other)
	}
	as := func(other string) func(string) string {
		return func(s string) string { return strings.Replace(s, "trino://"+user+"@", "trino://"+other+"@", 1) }
	}
	changed(as(testtrino.Writer)).wants(t, 1, "the user writer, with which the dataset clinic is read, has to read the tables of the "+
		"policy and nothing else, and it may insert into iceberg."+user+".patients", "it may delete from", "it may update",
		`"user": "writer", "catalog": "iceberg", "schema": "`+user+`"`, "GRANT SELECT ON")
	changed(as("nobody")).wants(t, 1, "cannot be asked").lacks(t, "panic")
	changed(func(s string) string { return strings.Replace(s, "/iceberg/", "/nowhere/", 1) }).wants(t, 1, "there is no catalog "+
		"nowhere, or the user "+user+" may not see it")
	at := "iceberg." + user + "."
	c.Run(t, "DROP TABLE "+at+"visits", "CREATE VIEW "+at+"adults AS SELECT pid, pid AS vid, sex AS ward FROM "+at+"patients")
	view := func(more string) func(string) string {
		return func(s string) string {
			return strings.Replace(s, "      visits:\n", "      visits:\n        source: adults\n"+more, 1)
		}
	}
	changed(view("")).wants(t, 1, "is a view: reading it runs expressions that somebody wrote", "write trusted: true")
	changed(view("        trusted: true\n")).wants(t, 1, "is a view, of which nobody says whether what is "+
		"behind it has changed", "refresh: 24h")
	changed(func(s string) string {
		return strings.Replace(view("        trusted: true\n")(s), "    unit: ", "    refresh: 24h\n    unit: ", 1)
	}).wants(t, 0, "visits by the time alone")
}

// What is wrong with an address is said before anybody is asked.
func TestInitTrinoMisused(t *testing.T) {
	const far = "trino://ana@trino.example.org:8443/lake/clinic"
	t.Setenv("DISCREET_TRINO_PASSWORD", "s3cret")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{far + "?sslmode=disable"}, "is on another machine, and what is read from there has to be encrypted"},
		{[]string{far + "?sslmode=require"}, "verify-full"},
		{[]string{"trino://ana:hunter2@trino.example.org/lake/clinic"}, "passwordfile=PATH"},
		{[]string{far + "?password=hunter2"}, "DISCREET_TRINO_PASSWORD"},
		{[]string{far + "?session_properties=hunter2"}, "session properties are not for an address to set"},
		{[]string{"trino://trino.example.org/lake"}, "does not name a user and a host"},
		{[]string{"trino://ana@trino.example.org"}, "names no catalog"},
		{[]string{"trino://ana@127.0.0.1/lake?sslmode=disable&passwordfile=x"}, "with which no password, token or certificate is sent"},
		{[]string{far, "x.csv"}, "one by one"},
		{[]string{far, "--omop"}, "is about a PostgreSQL database"},
	} {
		command(append([]string{"init"}, c.args...)...).wants(t, 2, c.says).lacks(t, "hunter2", "s3cret")
		command(append([]string{"init", "--json"}, c.args...)...).lacks(t, "hunter2", "s3cret").fails(t, 2, "refused")
	}
	command("init", "trino://ana@127.0.0.1:1/lake?sslmode=disable").wants(t, 1, "nobody listens there")
	command("init", far+"?sslrootcert="+filepath.Join(t.TempDir(), "none.pem")).wants(t, 1).lacks(t, "s3cret")
	command("init", "--help").wants(t, 0, "From a Trino cluster its information_schema is read, and no row", "trino://discreet@")
	command("check", "--help").wants(t, 0, "Of a Trino cluster it looks at what the user may do")
}

// TestSecureTrino: passwords, at a cluster that wants them.
func TestSecureTrino(t *testing.T) {
	if !*clusters {
		t.Skip("it starts a cluster: -full; internal/trinoplace has the same for the handle")
	}
	c := testtrino.Own(t, "--secure", "--workers=0")
	good := c.Address(testtrino.Reader, "tpch", "tiny")
	command("init", good, "--unit", "customer.custkey").wants(t, 0, "orders")
	with := func(name, value string) string {
		u, err := url.Parse(good)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set(name, value)
		if value == "" {
			q.Del(name)
		}
		u.RawQuery = q.Encode()
		return u.String()
	}
	wrong := write(t, filepath.Join(t.TempDir(), "wrong"), "not the password")
	command("init", with("passwordfile", wrong)).wants(t, 1, "does not take the password that passwordfile= names, for the user "+
		testtrino.Reader).lacks(t, "not the password")
	command("init", with("passwordfile", "")).wants(t, 1, "no password was given")
	command("init", with("sslrootcert", "")).wants(t, 1, "authority that is not known here")
	t.Setenv("DISCREET_TRINO_PASSWORD", "not the password")
	command("init", with("passwordfile", "")).wants(t, 1, "that DISCREET_TRINO_PASSWORD has").lacks(t, "not the password")
}
