package pgwire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

func TestSettings(t *testing.T) {
	p := startTestServer(t, nil)
	c := p.config(t, "ana", "hospital")
	c.RuntimeParams["options"] = `-c dp.epsilon=0.5 --statement-timeout=1min`
	c.RuntimeParams["dp.confidence"] = "0.9"
	c.RuntimeParams["TimeZone"] = "Europe/Berlin"
	c.RuntimeParams["application_name"] = "my tool"
	conn := p.connect(t, c)
	show := func(name, want string) {
		t.Helper()
		results, err := conn.PgConn().Exec(background, "SHOW "+name).ReadAll()
		if err != nil || len(results) != 1 || len(results[0].Rows) != 1 || string(results[0].Rows[0][0]) != want {
			t.Errorf("SHOW %s: %v %v; want %s", name, results, err, want)
		}
	}
	do := func(sql, tag string) {
		t.Helper()
		results, err := conn.PgConn().Exec(background, sql).ReadAll()
		if err != nil || results[len(results)-1].CommandTag.String() != tag {
			t.Errorf("%s: %v %v", sql, results, err)
		}
	}
	show("dp.epsilon", "0.5")
	show("dp.confidence", "0.9")
	show("statement_timeout", "1min")
	show("timezone", "UTC")
	show("application_name", "my tool")
	do("SET dp.error = 10", "SET")
	show("dp.epsilon", "default")
	show("dp.error", "10")
	do("RESET dp.epsilon", "RESET")
	show("dp.epsilon", "0.5")
	show("dp.error", "none")
	do("BEGIN; SET LOCAL dp.epsilon = 0.25", "SET")
	show("dp.epsilon", "0.25")
	do("SAVEPOINT a; SET dp.epsilon = 0.75", "SET")
	show("dp.epsilon", "0.75")
	do("ROLLBACK TO a", "ROLLBACK")
	show("dp.epsilon", "0.25")
	do("COMMIT", "COMMIT")
	show("dp.epsilon", "0.5")
	do("BEGIN; SET dp.epsilon = 0.25; SET application_name = 'other'", "SET")
	if got := conn.PgConn().ParameterStatus("application_name"); got != "other" {
		t.Errorf("application_name: %s", got)
	}
	do("ROLLBACK", "ROLLBACK")
	show("dp.epsilon", "0.5")
	if got := conn.PgConn().ParameterStatus("application_name"); got != "my tool" {
		t.Errorf("application_name: %s", got)
	}
	do("START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY", "START TRANSACTION")
	show("transaction isolation level", "serializable")
	do("END", "COMMIT")
	show("transaction_isolation", "read committed")
	do("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SET")
	show("default_transaction_read_only", "on")
	do("SET dp.epsilon TO 1", "SET")
	do("SET NAMES 'utf8'", "SET")
	do("SET dp.request = 'r1'", "SET")
	do("SELECT count(*) FROM patients", "SELECT 1")
	show("dp.request", "")
	do("DISCARD ALL", "DISCARD ALL")
	show("dp.epsilon", "0.5")
	// A name that was charged for another question is refused.
	_, err := conn.PgConn().Exec(background, "SET dp.request = 'r1'; SELECT count(*) FROM patients WHERE age > 3").ReadAll()
	if sqlstate(err) != invalidParameter {
		t.Errorf("the same request: %v", err)
	}
	for name, value := range map[string]string{"dp.epsilon": "x", "nothing": "1", "options": "-x"} {
		c := p.config(t, "ana", "hospital")
		c.RuntimeParams[name] = value
		if conn, err := pgx.ConnectConfig(background, c); err == nil {
			conn.Close(background)
			t.Errorf("in with %s = %s", name, value)
		}
	}
}

func TestBlocks(t *testing.T) {
	p := startTestServer(t, nil)
	conn := p.ana(t)
	status := func(want byte) {
		t.Helper()
		if got := conn.PgConn().TxStatus(); got != want {
			t.Errorf("status %c; want %c", got, want)
		}
	}
	exec := func(sql, want string) {
		t.Helper()
		_, err := conn.Exec(background, sql)
		if want == "" && err != nil || want != "" && sqlstate(err) != want {
			t.Errorf("%s: %v", sql, err)
		}
	}
	status('I')
	exec("BEGIN", "")
	status('T')
	exec("SELECT count(*) FROM patients", "")
	exec("SAVEPOINT x", "")
	exec("SELECT age FROM patients", notPermitted)
	status('E')
	exec("SELECT count(*) FROM patients", failedTransaction)
	exec("SHOW dp.epsilon", failedTransaction)
	exec("ROLLBACK TO x", "")
	status('T')
	exec("SELECT count(*) FROM patients", "")
	exec("nonsense", syntaxError)
	status('E')
	if tag, err := conn.Exec(background, "COMMIT"); err != nil || tag.String() != "ROLLBACK" {
		t.Error(tag, err)
	}
	status('I')
	exec("COMMIT", "")
	exec("BEGIN; SELECT age FROM patients; SELECT count(*) FROM patients", notPermitted)
	status('E')
	exec("ROLLBACK", "")
	tx, err := conn.BeginTx(background, pgx.TxOptions{IsoLevel: pgx.Serializable, AccessMode: pgx.ReadOnly})
	must(t, err)
	if _, err := tx.Exec(background, "SELECT count(*) FROM patients"); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(background); err != nil {
		t.Error(err)
	}
}

// What machines and drivers set unasked does not keep anybody out: it is answered with what is
// true, and a notice, at the start and by SET alike.
func TestUnaskedSettings(t *testing.T) {
	p := startTestServer(t, nil)
	for _, c := range []struct{ name, value, is, says string }{
		{"client_encoding", "'utf-8'", "UTF8", ""},
		{"client_encoding", `"UTF8"`, "UTF8", ""},
		{"client_encoding", "WIN1252", "UTF8", "text is in UTF8"},
		{"client_encoding", "nonsense", "UTF8", "text is in UTF8"},
		{"TimeZone", "Europe/Berlin", "UTC", "no time zone"},
		{"TimeZone", "'America/St_Johns'", "UTC", "no time zone"},
		{"TimeZone", "Etc/UTC", "UTC", ""},
		{"DateStyle", "German, DMY", "ISO, MDY", "ISO 8601"},
		{"DateStyle", "ISO, DMY", "ISO, DMY", ""},
	} {
		said := &notices{}
		config := p.config(t, "ana", "hospital")
		config.RuntimeParams[c.name] = c.value
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Message) }
		conn := p.connect(t, config)
		check := func(how string) {
			t.Helper()
			heard := strings.Join(said.take(), "\n")
			if got := conn.PgConn().ParameterStatus(c.name); got != c.is {
				t.Errorf("%s, %s = %s: is %s; want %s", how, c.name, c.value, got, c.is)
			}
			if c.says == "" && heard != "" || !strings.Contains(heard, c.says) {
				t.Errorf("%s, %s = %s: heard %q; want %q", how, c.name, c.value, heard, c.says)
			}
		}
		check("at the start")
		if _, err := conn.PgConn().Exec(background, "SET "+c.name+" = "+quoteLiteral(c.value)).ReadAll(); err != nil {
			t.Errorf("SET %s = %s: %v", c.name, c.value, err)
		}
		check("by SET")
		conn.Close(background)
	}
}

// quoteLiteral writes a text as SQL does.
func quoteLiteral(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// What pools send to make a connection new again, and what tools send that changes nothing here.
func TestPoolReset(t *testing.T) {
	p := startTestServer(t, nil)
	conn := p.ana(t)
	for sql, tags := range map[string]string{
		"SELECT pg_advisory_unlock_all();\nCLOSE ALL;\nUNLISTEN *;\nRESET ALL;": "SELECT 1,CLOSE CURSOR ALL,UNLISTEN,RESET",
		"SET TIME ZONE INTERVAL '+02:00' HOUR TO MINUTE; SET TIME ZONE LOCAL":   "SET,SET",
		"LISTEN x; SET CONSTRAINTS ALL DEFERRED; DISCARD PLANS; DISCARD TEMP":   "LISTEN,SET CONSTRAINTS,DISCARD PLANS,DISCARD TEMP",
		"SET SESSION AUTHORIZATION DEFAULT; RESET ROLE; RESET ALL; DISCARD ALL": "SET,RESET,RESET,DISCARD ALL",
		"EXPLAIN (ANALYZE FALSE, VERBOSE TRUE, COSTS off, BUFFERS 0, TIMING FALSE, SUMMARY, FORMAT JSON) SELECT count(*) FROM patients; " +
			"EXPLAIN VERBOSE SELECT count(*) FROM patients": "EXPLAIN,EXPLAIN",
	} {
		results, err := conn.PgConn().Exec(background, sql).ReadAll()
		var got []string
		for _, r := range results {
			got = append(got, r.CommandTag.String())
		}
		if err != nil || strings.Join(got, ",") != tags {
			t.Errorf("%s: %s %v; want %s", sql, strings.Join(got, ","), err, tags)
		}
	}
}

// A temporary view is described and stands in the session's own catalogue, free, and is nobody
// else's.
func TestTemporaryViews(t *testing.T) {
	p := startTestServer(t, nil)
	conn, other := p.ana(t), p.ana(t)
	run := func(sql, want string) {
		t.Helper()
		results, err := conn.PgConn().Exec(background, sql).ReadAll()
		got := ""
		if err != nil {
			got = sqlstate(err)
		} else {
			for _, row := range results[len(results)-1].Rows {
				got += string(row[0]) + ","
			}
			got += results[len(results)-1].CommandTag.String()
		}
		if got != want {
			t.Errorf("%s: %s %v; want %s", sql, got, err, want)
		}
	}
	const columns = "SELECT attname || ' ' || format_type(atttypid, -1) FROM pg_attribute WHERE attrelid = 'mine'::regclass ORDER BY attnum"
	run("CREATE TEMPORARY VIEW mine AS SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex", "CREATE VIEW")
	run(columns, "sex text,n bigint,SELECT 2")
	run("CREATE TEMP VIEW mine AS SELECT 1 AS one", "CREATE VIEW")
	run(columns, "one integer,SELECT 1")
	run("CREATE OR REPLACE TEMP VIEW mine (a) AS SELECT AVG(age) AS m FROM patients", "CREATE VIEW")
	run(columns, "a numeric,SELECT 1")
	run("SELECT count(*) FROM mine", notSupported)
	run("SELECT count(*) FROM public.mine, patients", notSupported)
	run("WITH mine AS (SELECT sex FROM patients) SELECT count(*) > 1000000 FROM mine", "f,SELECT 1")
	run("CREATE TEMP VIEW patients AS SELECT 1", "42P07")
	run("CREATE TEMP VIEW bad AS SELECT zap FROM patients", undefinedColumn)
	run("CREATE VIEW lasting AS SELECT 1", readOnly)
	run("DROP VIEW patients", readOnly)
	run("DROP TABLE patients", readOnly)
	run("DROP VIEW mine", "DROP VIEW")
	run("DROP VIEW IF EXISTS mine", "DROP VIEW")
	run(columns, "42P01")
	for range 60 {
		run("CREATE OR REPLACE TEMP VIEW mine AS SELECT 1 AS x", "CREATE VIEW")
	}
	for i := range 30 {
		run("CREATE TEMP VIEW v"+strings.Repeat("i", i)+" AS SELECT 1 AS x", "CREATE VIEW")
	}
	run("SELECT count(*) FROM information_schema.views WHERE table_schema = 'public'", "20,SELECT 1")
	if _, err := other.PgConn().Exec(background, "SELECT 'vi'::regclass").ReadAll(); sqlstate(err) != "42P01" {
		t.Errorf("somebody else's view: %v", err)
	}
	run("DISCARD TEMP", "DISCARD TEMP")
	run("SELECT count(*) FROM information_schema.views WHERE table_schema = 'public'", "0,SELECT 1")
}

// A budget that epsilon or rho keeps is said to be one; once Gaussian noise has closed the first
// way, nobody is shown it any more.
func TestShowBudgetOfTwoWays(t *testing.T) {
	dataset := hospital.Dataset("either", "c", "{epsilon: 10, delta: 1e-6, noise: auto}") + "    release: immediate\n"
	p := startServing(t, newTestServer(t, dataset), nil)
	show := func(user string, before ...string) (claims, heard string) {
		t.Helper()
		c := p.config(t, user, "either")
		c.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
		var said notices
		c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Message) }
		conn := p.connect(t, c)
		for _, text := range before {
			if _, err := conn.Exec(background, text); err != nil {
				t.Fatal(err)
			}
		}
		said.take()
		rows, err := conn.Query(background, "SHOW dp.budget")
		must(t, err)
		var all []string
		for rows.Next() {
			v, err := rows.Values()
			must(t, err)
			all = append(all, fmt.Sprint(v[2], " ", v[4]))
		}
		return strings.Join(all, ", "), strings.Join(said.take(), "\n")
	}
	const either = "adds up epsilon or rho"
	for _, user := range []string{"ana", "olga"} {
		if claims, heard := show(user); !strings.HasPrefix(claims, "epsilon 0, rho 0") || !strings.Contains(heard, either) {
			t.Errorf("%s: %s, %s", user, claims, heard)
		}
	}
	if claims, heard := show("ana", "SET dp.mechanism = gaussian", "SELECT count(*) FROM patients"); !strings.HasPrefix(claims, "rho 0.") ||
		strings.Contains(heard, either) || !strings.Contains(heard, "left: ") {
		t.Errorf("%s, %s", claims, heard)
	}
	for _, user := range []string{"ben", "olga"} {
		if claims, heard := show(user); strings.Contains(claims, "epsilon") || strings.Contains(claims, "unbounded") ||
			strings.Contains(heard, either) {
			t.Errorf("%s: %s, %s", user, claims, heard)
		}
	}
}

// TestApplicationSettings: a setting with a dot in its name is kept for the session, follows its
// transactions, and means nothing; one without must be PostgreSQL's.
func TestApplicationSettings(t *testing.T) {
	p := startTestServer(t, nil)
	c := p.config(t, "ana", "hospital")
	c.RuntimeParams["options"] = "-c myapp.tenant=7 -c geqo=off"
	conn := p.connect(t, c)
	ask := func(sql, want string) {
		t.Helper()
		results, err := conn.PgConn().Exec(background, sql).ReadAll()
		got := sqlstate(err)
		if err == nil && len(results[len(results)-1].Rows) > 0 {
			got = string(results[len(results)-1].Rows[0][0])
		}
		if got != want {
			t.Errorf("%s: %s, and not %s", sql, got, want)
		}
	}
	ask("SHOW myapp.tenant", "7")
	ask("SHOW geqo", "off")
	ask("SET MyApp.x = 1; SELECT current_setting('myapp.X')", "1")
	ask("BEGIN; SET LOCAL myapp.x = 2; SHOW myapp.x", "2")
	ask("COMMIT; SHOW myapp.x", "1")
	ask("BEGIN; SELECT set_config('myapp.x', '3', true); SHOW myapp.x", "3")
	ask("ROLLBACK; SHOW myapp.x", "1")
	ask("RESET myapp.tenant; SHOW myapp.tenant", "7")
	ask("DISCARD ALL; SHOW myapp.tenant", "7")
	ask("SHOW myapp.x", undefinedObject)
	ask("SET nothing_at_all = 1", undefinedObject)
	ask(`SET "my app.x" = 1`, undefinedObject)
	ask("SET dp.x = 1", undefinedObject)
	ask("SHOW max_connections", "100")
	ask("SHOW shared_buffers", "128MB")
	ask("SET work_mem = '65536kB'; SHOW work_mem", "64MB")
	ask("SELECT setting || unit FROM pg_settings WHERE name = 'work_mem'", "65536kB")
	ask("SET work_mem = '1 parsec'", invalidParameter)
	ask("SET max_connections = 5", cannotChange)
	ask("SET log_statement = 'all'", notPermitted)
	for i := range maxCustom {
		ask(fmt.Sprintf("SET many.n%d = 1; SELECT 1", i), map[bool]string{true: "1", false: limitExceeded}[i < maxCustom-1])
	}
	refused := p.config(t, "ana", "hospital")
	refused.RuntimeParams["options"] = "-c nothing_at_all=1"
	if _, err := pgx.ConnectConfig(background, refused); sqlstate(err) != undefinedObject {
		t.Errorf("an unknown setting at the start: %v", err)
	}
}
