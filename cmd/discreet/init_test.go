package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
)

// files writes a hospital's CSV files and returns their folder.
func files(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, hospital.New(300, 1).Write(dir))
	return dir
}

// A newcomer's walk: draft, check, ask; fill in, check, ask more. Every day with one kind of file.
func TestWalk(t *testing.T) {
	t.Parallel()
	for _, kind := range daily.Sample(t, []string{"csv", "parquet", "duckdb"}, 1) {
		t.Run(kind, func(t *testing.T) {
			dir := files(t)
			policy := filepath.Join(dir, "hospital.yaml")
			args := []string{"init", "-o", policy, "--unit", "patients.pid"}
			csv := func(name string) string { return "read_csv('" + filepath.Join(dir, name) + ".csv')" }
			switch kind {
			case "csv":
				args = append(args, filepath.Join(dir, "patients.csv"), filepath.Join(dir, "visits.csv"))
			case "parquet":
				for _, name := range []string{"patients", "visits"} {
					file := filepath.Join(dir, name+".parquet")
					duck(t, "", "COPY (FROM "+csv(name)+") TO '"+file+"'")
					args = append(args, file)
				}
			case "duckdb":
				file := filepath.Join(dir, "hospital.duckdb")
				duck(t, file, "CREATE TABLE patients AS FROM "+csv("patients"), "CREATE TABLE visits AS FROM "+csv("visits"))
				args = append(args, file)
			}
			command(args...).wants(t, 0, "wrote "+policy, "discreet check "+policy)
			command("check", policy).wants(t, 0, "needs bounds")
			query := func(text string) result { return command("query", "-p", policy, "--as", "analyst", text) }
			query(people).wants(t, 0, "price: epsilon 0.05 ")
			query("SELECT COUNT(*) FROM visits WHERE cost > 100").wants(t, 0)
			query("SELECT smoker, COUNT(*) FROM patients GROUP BY smoker").wants(t, 0, "true ", "NULL")
			query("SELECT AVG(age) FROM patients").wants(t, 2, "ask the owner to add bounds")
			query("SELECT sex, COUNT(*) FROM patients GROUP BY sex").wants(t, 2)

			change(t, policy, func(s string) string {
				s = strings.Replace(s, "# bounds: [lowest, highest] ", "bounds: [0, 110] ", 1)
				return strings.Replace(s, "# keys: [A, B, C] ", "keys: [F, M, X] ", 1)
			})
			command("check", policy).wants(t, 0, "0 .. 110", "3 public")
			query("SELECT sex, COUNT(*), SUM(age), AVG(age) FROM patients GROUP BY sex").wants(t, 0, "sex  count  ±95%")
		})
	}
}

func TestInit(t *testing.T) {
	t.Parallel()
	dir := files(t)
	patients := filepath.Join(dir, "patients.csv")
	short := write(t, filepath.Join(t.TempDir(), "patients.csv"), "pid,age\n1,30\n2,40\n") // to guess the types of
	draft := command("init", patients).wants(t, 0, "datasets:\n  patients:", "unit: row")
	if strings.Contains(draft.out, "HIV") || strings.Contains(draft.out, "1003A") {
		t.Error("a draft shows data")
	}
	command("init", "--json", short).wants(t, 0, `"policy": "# A policy for Discreet`)
	command("init", "--trust-data-bounds", patients).wants(t, 0, "READ OFF THE DATA", "bounds_from: data")
	command("init", "--dataset", "clinic", "--analyst", "eva", "--epsilon", "3", "--delta", "0", short).wants(t, 0, "  clinic:",
		"eva: {share: 1}", "epsilon: 3")

	type misused struct {
		args []string
		code int
		says string
	}
	for _, c := range daily.Sample(t, []misused{
		{[]string{"no.csv"}, 1, "no.csv: no such file"},
		{[]string{dir}, 1, "is a folder; name the files in it"},
		{[]string{write(t, filepath.Join(dir, "x.xls"), "x")}, 1, "save each sheet as a CSV file"},
		{[]string{write(t, filepath.Join(dir, "empty.csv"), "")}, 1, "is empty; the first line"},
		{[]string{write(t, filepath.Join(dir, "bad.parquet"), "PAR1 but not really")}, 1, "cannot read the schema of"},
		{[]string{write(t, filepath.Join(dir, "bad.duckdb"), "no database")}, 1, "is not a DuckDB file"},
		{nil, 2, `expected "<files>`},
		{[]string{"--unit", "patients.no", short}, 2, "is not a column of these tables"},
		{[]string{"--unit", "age", short}, 2, "name the table too, as in patients.age"},
		{[]string{"--epsilon", "abc", short}, 2, "not an amount of privacy"},
		{[]string{"--dataset", "a b", short}, 2, "a b"},
		{[]string{short, short}, 2, "would both be the table"},
	}, 5) {
		command(append([]string{"init"}, c.args...)...).wants(t, c.code, c.says)
	}
	// What is there is not overwritten.
	policy := write(t, filepath.Join(dir, "mine.yaml"), "mine")
	command("init", "-o", policy, short).wants(t, 2, "already exists")
	if text, _ := os.ReadFile(policy); string(text) != "mine" {
		t.Error("the owner's file is gone")
	}
	command("init", "-o", filepath.Join(dir, "no", "such", "p.yaml"), short).wants(t, 1, "no such file or directory")

	spaced := filepath.Join(dir, "my patients.csv")
	must(t, os.Rename(patients, spaced))
	policy = filepath.Join(dir, "my policy.yaml")
	command("init", "-o", policy, spaced).wants(t, 0, "discreet check '"+policy+"'")
	command("query", "-p", policy, "--as", "analyst", `SELECT COUNT(*) FROM "my patients"`).wants(t, 0)
}

// Who does not say whom to protect hears where ids occur more than once, and who does, where
// missing ids are all one person's; the check says the latter too.
func TestInitIDs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	people := write(t, filepath.Join(dir, "people.csv"), "pid,valid,ward_id\n1,yes,1\n2,no,2\n3,no,3\n")
	visits := write(t, filepath.Join(dir, "visits.csv"), "pid,day\n1,2020-01-01\n1,2020-01-02\nNA,2020-01-02\nNA,2020-01-03\n2,2020-01-02")
	again := "VALUES OF visits.pid OCCUR MORE THAN ONCE. If it names people, unit: row is wrong"
	drafted := command("init", people, visits).wants(t, 0, again, "--unit people.pid", "#   unit: people.pid")
	if !strings.Contains(strings.Join(strings.Fields(drafted.out), " "), "# "+again[:40]) {
		t.Errorf("the draft does not say it: %s", drafted.out)
	}
	if said := command("init", "--unit", "row", people, visits).wants(t, 0); strings.Contains(said.out+said.err, "OCCUR MORE") {
		t.Error("an owner who says row is told otherwise")
	}

	draft := filepath.Join(dir, "p.yaml")
	command("init", people, visits, "--unit", "people.pid", "-o", draft).wants(t, 0, "All rows in which 'pid' is NA count as those of one",
		"write nulls: [NA] under the table")
	command("check", draft).wants(t, 0, `note: visits.pid: all rows with the id "NA" (2 rows) count as those of one person`,
		`write nulls: ["NA"] under the table`)
	change(t, draft, func(s string) string { return strings.Replace(s, "# nulls: [NA]", "nulls: [NA]", 1) })
	command("check", draft).wants(t, 0, "visits.pid: many of the rows (2) belong to nobody")

	stored := filepath.Join(dir, "stored.parquet")
	duck(t, "", "COPY (SELECT CASE WHEN i < 4 THEN 'N/A' ELSE 'p' || i // 2 END AS pid FROM range(9) r(i)) TO '"+stored+"'")
	draft = filepath.Join(dir, "stored.yaml")
	command("init", stored, "--unit", "stored.pid", "-o", draft).wants(t, 0, "is N/A count as those of one person",
		"store NULL in its place")
	command("check", draft).wants(t, 0, `all rows with the id "N/A" (4 rows)`, "store NULL in its place")
}

// How many rows of a person count is drafted from the data, and marked so; everybody who sees the
// policy's limits sees the mark, and the check says what they keep.
func TestInitLimits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var visits strings.Builder
	visits.WriteString("pid,ward\n")
	for i := range 2000 {
		fmt.Fprintf(&visits, "%d,w%d\n", i%20, i%3)
	}
	people := write(t, filepath.Join(dir, "people.csv"), "pid\n1\n2\n3\n")
	draft := filepath.Join(dir, "p.yaml")
	command("init", people, write(t, filepath.Join(dir, "visits.csv"), visits.String()), "--unit", "people.pid", "-o", draft).wants(t, 0)
	text, err := os.ReadFile(draft)
	must(t, err)
	for _, want := range []string{
		"max_rows: 100 ", "# the least of 1, 2, 5, 10 and so on that keeps 95 % of the rows", "max_groups: 5 ", "limits_from: data",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the draft lacks %s:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "all of the rows") || strings.Contains(string(text), "20 %") {
		t.Errorf("the draft says what exactly its limits keep:\n%s", text)
	}
	command("check", draft).wants(t, 0, "kept: visits: max_rows: 100 keeps all of the rows, and all rows of all of the people",
		"for one person 100 in a group, in 5 groups (chosen by looking at the data)")
	change(t, draft, func(s string) string { return strings.Replace(s, "max_rows: 100", "max_rows: 1", 1) })
	command("check", "--json", draft).wants(t, 0, "max_rows: 1 keeps 1 % of the rows")
}

// A file of another country: what init finds is what check and the questions read, a person's
// column may have another name, and a column that is not read is an error.
func TestInitFindsHowFilesAreSpelt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	patients := write(t, filepath.Join(dir, "patients.csv"), "pid;born;weight\n1;13.12.1970;71,5\n2;NA;80,25\n3;1.2.1980\n4;24.6.2001;60\n")
	labs := write(t, filepath.Join(dir, "labs.csv"), "patient_id,taken\n1,03/04/2021\n1,01/02/2021\n")
	policy := filepath.Join(dir, "p.yaml")
	args := []string{"init", patients, labs, "--unit", "patients.pid", "-o", policy}
	command(args...).wants(t, 0, "note: the table labs is left out of the draft", "--person labs=COLUMN",
		"line 4 has 2 values, but the header has 3",
		"labs.taken: AMBIGUOUS: date DD/MM/YYYY, or date MM/DD/YYYY")
	command("check", policy).wants(t, 0, "note: patients: line 4 has 2 values")
	change(t, policy, func(s string) string {
		if !strings.Contains(s, "#     path: patient_id -> patients.pid") || !strings.Contains(s, "LEFT OUT: the table 'labs'") {
			t.Errorf("no path to write in\n%s", s)
		}
		return strings.Replace(s, "format: DD.MM.YYYY", "format: MM.DD.YYYY", 1)
	})
	command("check", policy).wants(t, 1, "UNREAD: patients.born: all of the values are not date in the format MM.DD.YYYY",
		`they look like type: date, format: "DD.MM.YYYY"`)
	command("check", "--json", policy).wants(t, 1, `"unread":true`, `"ok": false`)
	must(t, os.Remove(policy))
	command(append(args, "--person", "labs=patient_id")...).wants(t, 0, "wrote "+policy)
	command("query", "-p", policy, "--as", "analyst", "SELECT COUNT(*) FROM labs").wants(t, 0, "price: ", "more at this price")
	for _, bad := range [][2]string{{"labs", "write TABLE=COLUMN"}, {"labs=no", "has no column 'no'"},
		{"no=pid", "there is no table 'no'"}} {
		command("init", patients, labs, "--unit", "patients.pid", "--person", bad[0]).wants(t, 2, bad[1])
	}
	command("init", patients, "--person", "patients=pid").wants(t, 2, "the unit is row")
}

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
	t.Parallel()
	server := testpg.Start(t)
	admin := func(text string) {
		t.Helper()
		conn, err := pgx.Connect(context.Background(), server.URL())
		must(t, err)
		defer conn.Close(context.Background())
		if _, err := conn.PgConn().Exec(context.Background(), text).ReadAll(); err != nil {
			t.Fatalf("%v in %.200s", err, text)
		}
	}
	admin(clinicSQL)
	u, err := url.Parse(server.URL())
	must(t, err)
	u.User = url.User("reader")
	policy := filepath.Join(t.TempDir(), "clinic.yaml")
	command("init", u.String(), "-o", policy, "--dataset", "clinic").wants(t, 0, "wrote "+policy, "note: the unit, whom the budget "+
		"protects: GUESSED",
		"public.adults is a view, so it is left out", "the table wards is left out")
	draft := command("init", u.String(), "--unit", "patients.pid", "--json").wants(t, 0).lacks(t, "GUESSED").decode(t)["policy"].(string)
	command("check", policy).wants(t, 1, "must be able to read the columns of the policy and nothing else, but it may not")
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
	replace(t, policy, "# bounds: [lowest, highest] ", "bounds: [0, 300] ")
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
	command("init", u.String(), "--unit", "patients.nobody").wants(t, 2, "is not a column of these tables")
	command("init", u.String(), "--omop").wants(t, 1, "no readable table person")
	command("init", u.String(), "--schema", "nowhere").wants(t, 1, "has no table in the schemas nowhere")
	command("init", "x.csv", "--omop").wants(t, 2, "name its address")
	server.Stop(t)
	command("init", u.String()).wants(t, 1, "cannot be reached")
}

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
	t.Parallel()
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
	command("check", policy).wants(t, 0, "data version: patients as of one version, which all of a question reads",
		"Changes are looked for before every question", "pid -> patients.pid", "the policy and the data were read")
	query := func(text string) result { return command("query", "-p", policy, "--as", "analyst", text) }
	query("SELECT COUNT(*) FROM visits").wants(t, 0, "count  ±95%")
	query("SELECT AVG(age) FROM patients").wants(t, 2, "ask the owner to add bounds")
	replace(t, policy, "# bounds: [lowest, highest] ", "bounds: [0, 120] ")
	query("SELECT AVG(age) FROM patients").wants(t, 0, "avg")
	checkOnTrino(t, c, policy, user)
}

// checkOnTrino: what check refuses, each time in words that say what to do. Every day it is asked
// half of it: each takes some statements, of which one takes the cluster long.
func checkOnTrino(t *testing.T, c *testtrino.Cluster, policy, user string) {
	check := func(f func(string) string) result {
		t.Helper()
		other := filepath.Join(t.TempDir(), "other.yaml")
		write(t, other, "")
		change(t, policy, func(s string) string { write(t, other, f(s)); return s })
		return command("check", other)
	}
	as := func(other string) func(string) string {
		return func(s string) string { return strings.Replace(s, "trino://"+user+"@", "trino://"+other+"@", 1) }
	}
	view := func(more string) func(string) string {
		return func(s string) string {
			return strings.Replace(s, "      visits:\n", "      visits:\n        source: adults\n"+more, 1)
		}
	}
	const tables, aView = false, true
	type changed struct {
		view   bool // visits is one by then
		change func(string) string
		code   int
		says   []string
	}
	at, isView := "iceberg."+user+".", false
	for _, x := range daily.Sample(t, []changed{
		{tables, as(testtrino.Writer), 1, []string{"the user writer, which reads the dataset clinic, must be able to read the " +
			"tables of the policy and nothing else, but it may insert into " + at + "patients", "it may delete from", "it may update",
			`"user": "writer", "catalog": "iceberg", "schema": "` + user + `"`, "GRANT SELECT ON"}},
		{tables, as("nobody"), 1, []string{"cannot be asked"}},
		{tables, func(s string) string { return strings.Replace(s, "/iceberg/", "/nowhere/", 1) }, 1, []string{"there is no catalog " +
			"nowhere, or the user " + user + " may not see it"}},
		{aView, view(""), 1, []string{"is a view: reading it runs expressions that somebody wrote", "write trusted: true"}},
		{aView, view("        trusted: true\n"), 1, []string{"is a view, and nothing says whether the data behind it has " +
			"changed",
			"refresh: 24h"}},
		{aView, func(s string) string {
			return strings.Replace(view("        trusted: true\n")(s), "    unit: ", "    refresh: 24h\n    unit: ", 1)
		}, 0, []string{"visits only by the time"}},
	}, 3) {
		if x.view && !isView {
			c.Run(t, "DROP TABLE "+at+"visits", "CREATE VIEW "+at+"adults AS SELECT pid, pid AS vid, sex AS ward FROM "+at+"patients")
			isView = true
		}
		check(x.change).wants(t, x.code, x.says...).lacks(t, "panic")
	}
}

// What is wrong with an address is said before anybody is asked.
func TestInitTrinoMisused(t *testing.T) {
	const far = "trino://ana@trino.example.org:8443/lake/clinic"
	t.Setenv("DISCREET_TRINO_PASSWORD", "s3cret")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{far + "?sslmode=disable"}, "is on another machine, so the connection must be encrypted"},
		{[]string{far + "?sslmode=require"}, "verify-full"},
		{[]string{"trino://ana:hunter2@trino.example.org/lake/clinic"}, "passwordfile=PATH"},
		{[]string{far + "?password=hunter2"}, "DISCREET_TRINO_PASSWORD"},
		{[]string{far + "?session_properties=hunter2"}, "an address cannot set session properties"},
		{[]string{"trino://trino.example.org/lake"}, "does not name a user and a host"},
		{[]string{"trino://ana@trino.example.org"}, "names no catalog"},
		{[]string{"trino://ana@127.0.0.1/lake?sslmode=disable&passwordfile=x"}, "with which no password, token or certificate is sent"},
		{[]string{far, "x.csv"}, "one by one"},
		{[]string{far, "--omop"}, "is for a PostgreSQL database"},
	} {
		command(append([]string{"init"}, c.args...)...).wants(t, 2, c.says).lacks(t, "hunter2", "s3cret")
		command(append([]string{"init", "--json"}, c.args...)...).lacks(t, "hunter2", "s3cret").fails(t, 2, "refused")
	}
	command("init", "trino://ana@127.0.0.1:1/lake?sslmode=disable").wants(t, 1, "nothing is listening there")
	command("init", far+"?sslrootcert="+filepath.Join(t.TempDir(), "none.pem")).wants(t, 1).lacks(t, "s3cret")
	command("init", "--help").wants(t, 0, "In a Trino cluster it reads information_schema, and no rows", "trino://discreet@")
	command("check", "--help").wants(t, 0, "In a Trino cluster it looks at the rights of the user")
}

// TestSecureTrino: passwords, at a cluster that wants them.
func TestSecureTrino(t *testing.T) {
	if !daily.Full() {
		t.Skip("it starts a cluster: -full; internal/source/trinotables has the same for the handle")
	}
	c := testtrino.Own(t, "--secure", "--workers=0")
	good := c.Address(testtrino.Reader, "tpch", "tiny")
	command("init", good, "--unit", "customer.custkey").wants(t, 0, "orders")
	with := func(name, value string) string {
		u, err := url.Parse(good)
		must(t, err)
		q := u.Query()
		q.Set(name, value)
		if value == "" {
			q.Del(name)
		}
		u.RawQuery = q.Encode()
		return u.String()
	}
	wrong := write(t, filepath.Join(t.TempDir(), "wrong"), "not the password")
	command("init", with("passwordfile", wrong)).wants(t, 1, "does not accept the password that passwordfile= names, for the user "+
		testtrino.Reader).lacks(t, "not the password")
	command("init", with("passwordfile", "")).wants(t, 1, "no password was given")
	command("init", with("sslrootcert", "")).wants(t, 1, "authority that is unknown here")
	t.Setenv("DISCREET_TRINO_PASSWORD", "not the password")
	command("init", with("passwordfile", "")).wants(t, 1, "that DISCREET_TRINO_PASSWORD has").lacks(t, "not the password")
}
