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
		{"SELECT age FROM patients", "42501", ""},
		{"SELECT count(*) FROM nobody", "42P01", "nobody"},
		{"SELEC 1", "42601", "SELEC"},
		{"INSERT INTO patients VALUES (1)", "25006", ""},
		{"COPY patients TO STDOUT", "42501", "rows of the data"},
		{"COPY patients (age) TO STDOUT", "42501", "GROUP BY"},
		{"COPY public.patients TO STDOUT", "42501", ""},
		{"COPY nobody TO STDOUT", "42P01", "nobody"},
		{"COPY (SELECT age FROM patients) TO STDOUT", "42501", "GROUP BY"},
		{"COPY (SELECT count(*) FROM patients) TO '/tmp/x'", "42501", "no files"},
		{"COPY (SELECT count(*) FROM patients) TO PROGRAM 'x'", "42501", ""},
		{"COPY patients FROM STDIN", "25006", ""},
		{"COPY (DELETE FROM patients RETURNING 1) TO STDOUT", "0A000", ""},
		{"COPY (SELECT count(*) FROM patients) TO STDOUT (ENCODING latin1)", "0A000", "UTF8"},
		{"DROP TABLE patients", "25006", ""},
		{"NOTIFY x", "42501", ""},
		{"VACUUM patients", "42501", ""},
		{"DO 'x'", "0A000", ""},
		{"PREPARE x AS DELETE FROM patients", "0A000", ""},
		{"EXECUTE x", "26000", "x"},
		{"DECLARE x CURSOR FOR SELECT 1", "25P01", ""},
		{"FETCH x", "34000", "x"},
		{"MOVE x", "34000", "x"},
		{"EXPLAIN EXECUTE x", "26000", "x"},
		{"EXPLAIN DECLARE x CURSOR FOR SELECT age FROM patients", "42501", "GROUP BY"},
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
		{"SET dp.epsilon = 1; SET dp.epsilon = 5; SELECT count(*) FROM patients", "22023", ""},
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
		must(t, p.store.Revoke(background, "ben"))
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
	must(t, r.Close())
	// An error in the middle: what follows is passed over.
	b = pgx.Batch{}
	b.Queue("by", 50)
	b.Queue("SELECT age FROM patients")
	b.Queue("by", 51)
	err := conn.SendBatch(background, &b).Close()
	if sqlstate(err) != notPermitted {
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
				must(b, conn.QueryRow(background, countQuery).Scan(&n))
			}
		})
	}
}
