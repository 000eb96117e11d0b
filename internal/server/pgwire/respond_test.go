package pgwire

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// columnNames are the columns that rows come with, and how many values a row has.
func columnNames(t *testing.T, rows pgx.Rows, err error) string {
	t.Helper()
	must(t, err)
	var out []string
	for _, f := range rows.FieldDescriptions() {
		out = append(out, f.Name)
	}
	for rows.Next() {
		if values, err := rows.Values(); err != nil || len(values) != len(out) {
			t.Errorf("%v in %v, %v", values, out, err)
		}
	}
	must(t, rows.Err())
	return strings.Join(out, " ")
}

// A session in which error bars are columns has them in every way of asking, and what is described
// is what is sent. All of it is one answer, paid for once.
func TestErrorBarsAsColumns(t *testing.T) {
	p := startTestServer(t, nil)
	const sql = "SELECT sex, count(*) AS n, avg(age) AS age FROM patients GROUP BY sex"
	if _, err := p.ana(t).Exec(background, sql); err != nil {
		t.Fatal(err)
	}
	before := p.charges(t)
	around := daily.Sample(t, execModes, 2) // with an engine for each question around an answer
	for setting, want := range map[string]string{
		"off": "sex n age", "columns": "sex n age n_error age_error",
		"interval": "sex n age n__yhat_lower n__yhat_upper age__yhat_lower age__yhat_upper",
	} {
		for _, mode := range execModes {
			c := p.config(t, "ana", "hospital")
			c.DefaultQueryExecMode = mode
			conn := p.connect(t, c)
			if _, err := conn.Exec(background, "SET dp.errors = "+setting); err != nil {
				t.Fatal(err)
			}
			texts := []string{sql}
			if slices.Contains(around, mode) {
				texts = append(texts, "SELECT * FROM ("+sql+") AS t LIMIT 1000")
			}
			for _, text := range texts {
				rows, err := conn.Query(background, text)
				if got := columnNames(t, rows, err); got != want {
					t.Errorf("%v, %s: %s", mode, setting, got)
				}
			}
		}
	}
	if after := p.charges(t); after != before {
		t.Errorf("%d charges, and before %d", after, before)
	}
}

// A statement that was prepared keeps the columns with which it was described, whatever is set
// afterwards: a client that has them reads its answers by them. So does a cursor.
func TestPreparedStatementsKeepTheirColumns(t *testing.T) {
	p := startTestServer(t, nil)
	conn := p.ana(t)
	const sql = "SELECT count(*) AS n FROM patients"
	for _, s := range []string{"PREPARE before AS " + sql, "DECLARE early CURSOR WITH HOLD FOR " + sql, "SET dp.errors = columns",
		"PREPARE after AS " + sql, "DECLARE late CURSOR WITH HOLD FOR " + sql} {
		if _, err := conn.Exec(background, s, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(s, err)
		}
	}
	d, err := conn.Prepare(background, "mine", sql)
	if err != nil || len(d.Fields) != 2 {
		t.Fatal(d, err)
	}
	if _, err := conn.Exec(background, "RESET dp.errors", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"EXECUTE before": "n", "EXECUTE after": "n n_error", "FETCH ALL early": "n",
		"FETCH ALL late": "n n_error", "mine": "n n_error"} {
		var rows pgx.Rows
		if text == "mine" {
			rows, err = conn.Query(background, text)
		} else {
			rows, err = conn.Query(background, text, pgx.QueryExecModeSimpleProtocol)
		}
		if got := columnNames(t, rows, err); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Where another policy gives a statement other columns than were described, it is refused before
// anything is paid, in whatever way it was described, and answered when it is described again.
func TestColumnsOfAnotherPolicy(t *testing.T) {
	p := startTestServer(t, nil)
	path := p.db.Policy().Path
	text, err := os.ReadFile(path)
	must(t, err)
	reload := func(view string) {
		t.Helper()
		other := strings.Replace(string(text), "    tables:", "    views: {v: '"+view+"'}\n    tables:", 1)
		must(t, os.WriteFile(path, []byte(other), 0o600))
		_, err := p.db.Reload(background, false)
		must(t, err)
	}
	const all, smokers = "COUNT(*) AS people", "COUNT(*) FILTER (WHERE smoker) AS smokers"
	reload("SELECT " + all + ", " + smokers + " FROM patients")
	conn := p.ana(t)
	say := func(sql string) {
		t.Helper()
		if failed := runSQL(conn.PgConn(), sql); failed != "" {
			t.Fatalf("%s: %s", sql, failed)
		}
	}
	_, err = conn.Prepare(background, "mine", "SELECT * FROM v")
	must(t, err)
	say("PREPARE theirs AS SELECT * FROM v; DECLARE c CURSOR WITH HOLD FOR SELECT * FROM v")
	for _, other := range []string{smokers + ", " + all, all + ", AVG(age) AS smokers"} {
		reload("SELECT " + other + " FROM patients")
		for name, run := range map[string]func() error{
			"mine":   func() error { return conn.PgConn().ExecPrepared(background, "mine", nil, nil, nil).Read().Err },
			"theirs": func() error { return conn.PgConn().Exec(background, "EXECUTE theirs").Close() },
			"cursor": func() error { return conn.PgConn().Exec(background, "FETCH c").Close() },
		} {
			if err := run(); err == nil || sqlstate(err) != notSupported || !strings.Contains(err.Error(), "cached plan must not change") {
				t.Errorf("%s, %s: %v", other, name, err)
			}
		}
	}
	if n := p.charges(t); n != 0 {
		t.Errorf("%d charges", n)
	}
	say("DEALLOCATE theirs; PREPARE theirs AS SELECT * FROM v; EXECUTE theirs")
	reload("SELECT " + all + ", AVG(age) AS smokers FROM patients WHERE smoker") // with the same columns
	say("EXECUTE theirs")
}

// Notices say how far error bars go from one row to another, and how many more answers are left.
func TestNoticesSayTheRange(t *testing.T) {
	p := startTestServer(t, nil)
	c := p.config(t, "ana", "hospital")
	var said notices
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Message) }
	conn := p.connect(t, c)
	if _, err := conn.Exec(background, "SELECT sex, count(*) AS n, avg(age) AS age FROM patients GROUP BY sex"); err != nil {
		t.Fatal(err)
	}
	heard := strings.Join(said.take(), "\n")
	for _, want := range []string{"left: epsilon 9.9, about 99 more at this price", "error (95%): n ±", ", age ±", " to ±"} {
		if !strings.Contains(heard, want) {
			t.Errorf("no %q in\n%s", want, heard)
		}
	}
	if strings.Contains(heard, "n ±60 to") {
		t.Errorf("the error of a count is the same in every row: %s", heard)
	}
	if _, err := conn.Exec(background, "SHOW dp.budget"); err != nil {
		t.Fatal(err)
	}
	if heard := strings.Join(said.take(), "\n"); !strings.Contains(heard, "about 99 questions at the default price, epsilon 0.1") {
		t.Error(heard)
	}
}

// psql shows the columns, also of a COPY.
func TestPsqlShowsErrorBars(t *testing.T) {
	path := psqlPath(t)
	p := startTestServer(t, nil)
	host, port, _ := net.SplitHostPort(p.address)
	cmd := exec.Command(path, "-X", "-A", "-h", host, "-p", port, "-U", "ana", "hospital", "-c", "SET dp.errors = interval",
		"-c", "SELECT count(*) AS n FROM patients", "-c", "\\copy (SELECT count(*) AS n FROM patients) TO STDOUT CSV HEADER",
		"-c", "EXPLAIN SELECT avg(age) FROM patients")
	cmd.Env = append(os.Environ(), "PGPASSWORD="+p.passwords["ana"], "PGSSLMODE=prefer", "LC_ALL=C.UTF-8", "PSQL_PAGER=", "PAGER=")
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"n|n__yhat_lower|n__yhat_upper\n", "n,n__yhat_lower,n__yhat_upper\n", "about 99 at this price"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s, %v", want, out, err)
		}
	}
}

// A count that goes through a stream says so beside the answer: paid or free, and no receipt where
// nothing was ever charged for it.
func TestStreamNotices(t *testing.T) {
	p := startServing(t, newTestServer(t, hospital.Stream(300, "0.4", "5")), nil)
	c := p.config(t, "ben", "other")
	var said notices
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Message + "|" + n.Detail) }
	conn := p.connect(t, c)
	if _, err := conn.Exec(background, "SET dp.stream = on"); err != nil {
		t.Fatal(err)
	}
	first := int64(-1)
	for i, question := range []string{
		"SELECT count(*) FROM patients WHERE sex = 'F' AND age >= 30", "SELECT count(*) FROM patients WHERE age > 29 AND sex IN ('F')",
		"SELECT count(*) FROM patients WHERE NOT (age < 30) AND sex = 'F'",
	} {
		said.take()
		var n int64
		if err := conn.QueryRow(background, question).Scan(&n); err != nil {
			t.Fatal(question, err)
		}
		text := strings.Join(said.take(), "\n")
		if !strings.Contains(text, "answered through the stream patients") {
			t.Errorf("%s: %s", question, text)
		}
		if i == 0 {
			first = n
			if !strings.Contains(text, "price: epsilon ") || !strings.Contains(text, "|receipt: record ") {
				t.Errorf("%s: %s", question, text)
			}
			continue
		}
		if n != first || !strings.Contains(text, "price: free") || strings.Contains(text, "record 0") {
			t.Errorf("%s is %d, the first time %d: %s", question, n, first, text)
		}
	}
	rows, err := conn.Query(background, "EXPLAIN SELECT count(*) FROM patients WHERE sex = 'F' AND age >= 30")
	must(t, err)
	var plan []string
	for rows.Next() {
		values, err := rows.Values()
		must(t, err)
		plan = append(plan, fmt.Sprint(values[0]))
	}
	if !strings.Contains(strings.Join(plan, "\n"), "stream patients") {
		t.Errorf("EXPLAIN says\n%s", strings.Join(plan, "\n"))
	}
}

// TestAroundIsTold: what stops a SELECT over answers is told, because it sees nothing else, and
// what was bought inside stays.
func TestAroundIsTold(t *testing.T) {
	p := startTestServer(t, nil)
	conn := p.ana(t)
	const inside = "SELECT sex, count(*) AS n FROM patients GROUP BY sex"
	for around, want := range map[string]string{
		"SELECT t.n FROM (" + inside + ") AS t, generate_series(1, 60000) AS g": "more than 100000 rows",
		"SELECT CAST(sex || 'x' AS integer) FROM (" + inside + ") AS t":         "stopped",
	} {
		_, err := conn.Exec(background, around)
		var told *pgconn.PgError
		if !errors.As(err, &told) || told.Code != tooComplex || !strings.Contains(told.Message, want) ||
			!strings.Contains(told.Message, "paid for and stay free") {
			t.Errorf("%s: %v", around, err)
		}
	}
	if n := p.charges(t); n != 1 {
		t.Errorf("%d charges", n)
	}
}
