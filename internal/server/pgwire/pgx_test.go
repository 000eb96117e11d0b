package pgwire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/api"
)

var background = context.Background()

// sqlstate is the SQLSTATE of an error.
func sqlstate(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

var execModes = []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol}

// The same question is the same answer in every mode, and is paid for once.
func TestModes(t *testing.T) {
	p := startTestServer(t, nil)
	first := ""
	for _, mode := range execModes {
		c := p.config(t, "ana", "hospital")
		c.DefaultQueryExecMode = mode
		var said notices
		c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Severity + ": " + n.Message) }
		conn := p.connect(t, c)
		rows, err := conn.Query(background, "SELECT sex, count(*) AS n, sum(cost) AS paid, avg(age) AS age, count(*) > 0 AS some FROM "+
			"patients WHERE age >= $1 AND smoker = $2 AND diagnosis <> $3 GROUP BY sex ORDER BY sex", 20, false, "fl'u")
		if err != nil {
			t.Fatal(mode, err)
		}
		var all []string
		for rows.Next() {
			var sex string
			var n int64
			var paid pgtype.Numeric
			var age float64
			var some bool
			if err := rows.Scan(&sex, &n, &paid, &age, &some); err != nil {
				t.Fatal(mode, err)
			}
			text, _ := paid.Value()
			all = append(all, fmt.Sprint(sex, n, text, age, some))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(mode, err)
		}
		if got := rows.CommandTag().String(); got != "SELECT 3" {
			t.Errorf("%v: tag %q", mode, got)
		}
		got := strings.Join(all, "\n")
		heard := strings.Join(said.take(), "\n")
		if first == "" {
			first = got
			if !strings.Contains(heard, "price: epsilon 0.1; left: epsilon 9.9") {
				t.Errorf("%v: heard %s", mode, heard)
			}
		} else if !strings.Contains(heard, "free") {
			t.Errorf("%v: heard %s", mode, heard)
		}
		if !strings.Contains(heard, "error (95%): n ±") {
			t.Errorf("%v: heard %s", mode, heard)
		}
		if got != first || len(all) != 3 {
			t.Errorf("%v:\n%s\nnot\n%s", mode, got, first)
		}
	}
}

func TestErrors(t *testing.T) {
	p := startTestServer(t, nil)
	conn := p.ana(t)
	for _, c := range []struct{ sql, code, says string }{
		{"SELECT age FROM patients", "0A000", ""},
		{"SELECT count(*) FROM nobody", "42P01", "nobody"},
		{"SELEC 1", "42601", "SELEC"},
		{"INSERT INTO patients VALUES (1)", "25006", ""},
		{"COPY patients TO STDOUT", "0A000", "rows of the data"},
		{"COPY patients (age) TO STDOUT", "0A000", "GROUP BY"},
		{"COPY public.patients TO STDOUT", "0A000", ""},
		{"COPY nobody TO STDOUT", "42P01", "nobody"},
		{"COPY (SELECT age FROM patients) TO STDOUT", "0A000", "GROUP BY"},
		{"COPY (SELECT count(*) FROM patients) TO '/tmp/x'", "42501", "no files"},
		{"COPY (SELECT count(*) FROM patients) TO PROGRAM 'x'", "42501", ""},
		{"COPY patients FROM STDIN", "25006", ""},
		{"COPY (DELETE FROM patients RETURNING 1) TO STDOUT", "0A000", ""},
		{"COPY (SELECT count(*) FROM patients) TO STDOUT (ENCODING latin1)", "0A000", "UTF8"},
		{"DROP TABLE patients", "25006", ""},
		{"NOTIFY x", "42501", ""},
		{"VACUUM patients", "42501", ""},
		{"DO 'x'", "0A000", ""},
		{"PREPARE x AS SELECT age FROM patients", "0A000", "GROUP BY"},
		{"PREPARE x AS DELETE FROM patients", "0A000", ""},
		{"EXECUTE x", "26000", "x"},
		{"DECLARE x CURSOR FOR SELECT 1", "25P01", ""},
		{"DECLARE x CURSOR WITH HOLD FOR SELECT age FROM patients", "0A000", "GROUP BY"},
		{"FETCH x", "34000", "x"},
		{"MOVE x", "34000", "x"},
		{"EXPLAIN EXECUTE x", "26000", "x"},
		{"EXPLAIN DECLARE x CURSOR FOR SELECT age FROM patients", "0A000", "GROUP BY"},
		{"SET ROLE ben", "42501", ""},
		{"SET SESSION AUTHORIZATION ben", "42501", ""},
		{"SET nothing = 1", "42704", "nothing"},
		{"SET dp.nothing = 1", "42704", "dp.nothing"},
		{"SET dp.epsilon = 'x'", "22023", "dp.epsilon"},
		{"SET dp.budget = 5", "55P02", ""},
		{"SET standard_conforming_strings = off", "22023", ""},
		{"SET server_version = 9", "55P02", ""},
		{"SHOW nothing", "42704", ""},
		{"EXPLAIN ANALYZE SELECT count(*) FROM patients", "0A000", ""},
		{"EXPLAIN (ANALYZE FALSE, BUFFERS) SELECT count(*) FROM patients", "0A000", ""},
		{"EXPLAIN (FORMAT XML) SELECT count(*) FROM patients", "0A000", ""},
		{"CLOSE nothing", "34000", ""},
		{"EXPLAIN DELETE FROM patients", "0A000", ""},
		{"SELECT count(*) FROM patients WHERE age > $1", "42P02", ""},
		{"SAVEPOINT a", "25P01", ""},
		{"DEALLOCATE nothing", "26000", ""},
		{"SELECT " + strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200), "54001", ""},
		{"SELECT '" + strings.Repeat("x", textLimits.Bytes) + "'", "54001", ""},
		{"SELECT 1; SELEC", "42601", ""},
		{"SELECT '\xff'", "22021", ""},
		{"SET dp.epsilon = 1; SET dp.epsilon = 5; SELECT count(*) FROM patients", "0A000", ""},
	} {
		for _, simple := range []bool{true, false} {
			var err error
			if simple {
				_, err = conn.PgConn().Exec(background, c.sql).ReadAll()
			} else if strings.Contains(c.sql, ";") || strings.Contains(c.sql, "$1") {
				continue
			} else {
				_, err = conn.PgConn().ExecParams(background, c.sql, nil, nil, nil, nil).Close()
			}
			var e *pgconn.PgError
			if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Message, c.says) {
				t.Errorf("%.60q, simple %v: %v", c.sql, simple, err)
			}
		}
	}
	for _, sql := range []string{"SET dp.nothing = 1", "SHOW dp.nothing", "RESET dp.nothing"} {
		var e *pgconn.PgError
		_, err := conn.Exec(background, sql)
		if !errors.As(err, &e) || !strings.Contains(e.Hint, "dp.counts, dp.request; dp.budget can be shown") {
			t.Errorf("%s: %+v", sql, e)
		}
	}
	// Positions are in characters of everything that was sent.
	_, err := conn.PgConn().Exec(background, "SET dp.epsilon = 0.5; SELECT 'ää', count(*) FROM nobody").ReadAll()
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Position != 50 {
		t.Errorf("position: %+v", err)
	}
	// Nothing of it was paid for.
	if left, err := p.db.Remaining(background, "hospital", "ana"); err != nil || left.Epsilon.String() != "10" {
		t.Errorf("left: %v %v", left, err)
	}
}

func TestBudgetEnds(t *testing.T) {
	p := startTestServer(t, nil)
	conn := p.ana(t)
	if _, err := conn.Exec(background, "SET dp.epsilon = 1"); err != nil {
		t.Fatal(err)
	}
	var last error
	for i := range 11 {
		_, last = conn.Exec(background, "SELECT count(*) FROM patients WHERE age > $1", 20+i)
	}
	if sqlstate(last) != limitExceeded {
		t.Errorf("got %v", last)
	}
}

func TestLogin(t *testing.T) {
	p := startTestServer(t, nil)
	for _, c := range []struct{ user, database, password, code string }{
		{"ana", "hospital", "", ""},
		{"ana", "other", "", ""},
		{"ana", "nothing", "", "3D000"},
		{"eve", "hospital", "", "3D000"},
		{"olga", "hospital", "", ""},
		{"olga", "nothing", "", "3D000"},
		{"ana", "hospital", "wrong", "28P01"},
		{"nobody", "hospital", "wrong", "28P01"},
	} {
		config := p.config(t, c.user, c.database)
		if c.password != "" {
			config.Password = c.password
		}
		conn, err := pgx.ConnectConfig(background, config)
		if err == nil {
			conn.Close(background)
		}
		if c.code == "" && err != nil || c.code != "" && sqlstate(err) != c.code {
			t.Errorf("%v: %v", c, err)
		}
	}
	olga := p.connect(t, p.config(t, "olga", "hospital"))
	if _, err := olga.Exec(background, "SELECT count(*) FROM patients"); sqlstate(err) != notPermitted {
		t.Errorf("an owner asked: %v", err)
	}
	var n int
	rows, _ := olga.Query(background, "SHOW dp.budget")
	for rows.Next() {
		n++
	}
	if n != 3 { // the dataset, ana and ben
		t.Errorf("%d accounts", n)
	}
}

func TestRevoked(t *testing.T) {
	p := startTestServer(t, nil)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeCacheStatement} {
		if _, err := p.store.SetPassword(background, "ben", "a long password for ben"); err != nil {
			t.Fatal(err)
		}
		c := p.config(t, "ben", "hospital")
		c.Password, c.DefaultQueryExecMode = "a long password for ben", mode
		conn := p.connect(t, c)
		if _, err := conn.Exec(background, "SELECT count(*) FROM patients"); err != nil {
			t.Fatal(err)
		}
		if err := p.store.Revoke(background, "ben"); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(background, "SELECT count(*) FROM patients"); sqlstate(err) != adminShutdown || !conn.IsClosed() {
			t.Errorf("%v: %v", mode, err)
		}
	}
}

// Row limits: a portal is suspended and goes on.
func TestBatchAndPrepared(t *testing.T) {
	p := startTestServer(t, nil)
	conn := p.ana(t)
	if _, err := conn.Prepare(background, "by", "SELECT zip, count(*) FROM patients WHERE age < $1 GROUP BY zip"); err != nil {
		t.Fatal(err)
	}
	var b pgx.Batch
	for i := range 5 {
		b.Queue("by", 50+i)
		b.Queue("SELECT sum(cost) FROM visits WHERE day >= $1", time.Date(2025, 3, 1+i, 0, 0, 0, 0, time.UTC))
	}
	r := conn.SendBatch(background, &b)
	for i := range 10 {
		tag, err := r.Exec()
		if want := map[bool]string{true: "SELECT 5", false: "SELECT 1"}[i%2 == 0]; err != nil || tag.String() != want {
			t.Errorf("%d: %v %v", i, tag, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	// An error in the middle: what follows is passed over.
	b = pgx.Batch{}
	b.Queue("by", 50)
	b.Queue("SELECT age FROM patients")
	b.Queue("by", 51)
	err := conn.SendBatch(background, &b).Close()
	if sqlstate(err) != notSupported {
		t.Errorf("got %v", err)
	}
	if _, err := conn.Exec(background, "by", 50); err != nil {
		t.Error(err)
	}
	if err := conn.Deallocate(background, "by"); err != nil {
		t.Error(err)
	}
}

func TestParameters(t *testing.T) {
	p := startTestServer(t, nil)
	conn := p.ana(t)
	ask := func(sql string, args ...any) error {
		_, err := conn.Exec(background, sql, args...)
		return err
	}
	for sql, values := range map[string][]any{
		"SELECT count(*) FROM patients WHERE age > $1":        {int16(5), int64(7), "8", 12},
		"SELECT count(*) FROM patients WHERE cost > $1":       {1.5, "2.25", pgtype.Numeric{Int: nil, Valid: false}, 1e-3},
		"SELECT count(*) FROM patients WHERE sex = $1":        {"F", "M", "it's", nil},
		"SELECT count(*) FROM patients WHERE smoker = $1":     {true, false},
		"SELECT count(*) FROM visits WHERE day < $1":          {time.Date(2025, 1, 2, 0, 0, 0, 0, time.UTC), "2025-02-03"},
		"SELECT count(*) FROM visits WHERE day < $1::date":    {"2025-02-03"},
		"SELECT count(*) FROM patients WHERE sex IN ($1, $1)": {"F"},
	} {
		for _, v := range values {
			if err := ask(sql, v); err != nil {
				t.Errorf("%s with %v: %v", sql, v, err)
			}
		}
	}
	for _, v := range []any{"NaN", "Infinity", pgtype.Numeric{NaN: true, Valid: true}} {
		if err := ask("SELECT count(*) FROM patients WHERE cost > $1", v); sqlstate(err) != invalidText && sqlstate(err) != outOfRange {
			t.Errorf("%v: %v", v, err)
		}
	}
}

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
	exec("SELECT age FROM patients", notSupported)
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
	exec("BEGIN; SELECT age FROM patients; SELECT count(*) FROM patients", notSupported)
	status('E')
	exec("ROLLBACK", "")
	tx, err := conn.BeginTx(background, pgx.TxOptions{IsoLevel: pgx.Serializable, AccessMode: pgx.ReadOnly})
	if err != nil {
		t.Fatal(err)
	}
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
		{"client_encoding", "WIN1252", "UTF8", "texts are in UTF8"},
		{"client_encoding", "nonsense", "UTF8", "texts are in UTF8"},
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

// A plan for programs is a list of one, as PostgreSQL's is: sqlx reads no other.
func TestPlanIsList(t *testing.T) {
	conn := startTestServer(t, nil).ana(t)
	for _, sql := range []string{"SELECT count(*) FROM patients", "SELECT 1"} {
		var plans []map[string]any
		if err := conn.QueryRow(background,
			"EXPLAIN (FORMAT JSON) "+sql).Scan(&plans); err != nil || len(plans) != 1 || len(plans[0]) == 0 {
			t.Errorf("%s: %v %v", sql, plans, err)
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
	run(columns, "a double precision,SELECT 1")
	run("SELECT count(*) FROM mine", notSupported)
	run("SELECT count(*) FROM public.mine, patients", notSupported)
	run("WITH mine AS (SELECT sex FROM patients) SELECT count(*) > 1000000 FROM mine", "f,SELECT 1")
	run("CREATE TEMP VIEW patients AS SELECT 1", "42P07")
	run("CREATE TEMP VIEW bad AS SELECT age FROM patients", notSupported)
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

// What the wire adds to a question: the same one, which is free after the first time.
func BenchmarkAsk(b *testing.B) {
	p := startTestServer(b, nil)
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.db.Ask(background, api.Question{Dataset: "hospital", Analyst: "ana", SQL: countQuery}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, mode := range map[string]pgx.QueryExecMode{"simple": pgx.QueryExecModeSimpleProtocol,
		"prepared": pgx.QueryExecModeCacheStatement} {
		b.Run(name, func(b *testing.B) {
			c := p.config(b, "ana", "hospital")
			c.DefaultQueryExecMode = mode
			conn := p.connect(b, c)
			for b.Loop() {
				var n int64
				if err := conn.QueryRow(background, countQuery).Scan(&n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
