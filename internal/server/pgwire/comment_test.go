package pgwire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestCommentSettings: a comment before a statement has settings for it, and for no other.
func TestCommentSettings(t *testing.T) {
	p := startTestServer(t, nil)
	var said notices
	c := p.config(t, "ana", "hospital")
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Message) }
	conn := p.connect(t, c)
	run := func(sql string) (columns int) {
		t.Helper()
		results, err := conn.PgConn().Exec(background, sql).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return len(results[len(results)-1].FieldDescriptions)
	}
	heard := func(want string) {
		t.Helper()
		if got := strings.Join(said.take(), "\n"); !strings.Contains(got, want) {
			t.Errorf("heard %q and not %q", got, want)
		}
	}
	ages := 0
	count := func() string { // is another question each time
		ages++
		return fmt.Sprint("SELECT COUNT(*) FROM patients WHERE age > ", ages)
	}
	run("SET dp.error = 500")
	said.take()
	for _, one := range []struct{ before, after, price string }{
		{"/* dp.epsilon = 0.2 */ ", "", "0.2"},
		{"/*dp.epsilon='0.3'*/", "", "0.3"},
		{"/* DP.Epsilon = 0.25, dp.confidence = 0.9 */\n", "", "0.25"},
		{"/*application:shop,controller:ward*/ /* dp.epsilon = 0.4 */ ", " /*route='%2Fwards',traceparent='00-5bd6'*/", "0.4"},
		{"-- a report\n/* dp.epsilon = 0.5 */ -- and more\n", " -- the end", "0.5"},
		{"SHOW dp.epsilon; /* dp.epsilon = 0.6 */ ", "", "0.6"},
	} {
		run(one.before + count() + one.after)
		heard("price: epsilon " + one.price + ";")
	}
	// The session has what it had.
	var text string
	must(t, conn.QueryRow(background, "SHOW dp.error").Scan(&text))
	if text != "500" {
		t.Error(text)
	}
	run("/*dp is no setting*/ " + count())
	heard("price: epsilon 0.00") // the least for an error of 500
	// They go where the statement goes.
	run("/* dp.epsilon = 0.15 */ PREPARE a AS " + count())
	run("EXECUTE a")
	heard("price: epsilon 0.15;")
	run("BEGIN; /* dp.epsilon = 0.16 */ DECLARE c CURSOR FOR " + count())
	run("FETCH c; COMMIT")
	heard("price: epsilon 0.16;")
	if _, err := conn.PgConn().CopyTo(background, &strings.Builder{}, "/* dp.epsilon = 0.17 */ COPY ("+count()+") TO STDOUT"); err != nil {
		t.Error(err)
	}
	heard("price: epsilon 0.17;")
	var plan strings.Builder
	rows, err := conn.Query(background, "/* dp.epsilon = 0.18 */ EXPLAIN "+count())
	must(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	for _, line := range lines {
		plan.WriteString(line + "\n")
	}
	if !strings.Contains(plan.String(), "price: epsilon 0.18") {
		t.Error(plan.String())
	}
	// What is described is what comes, for as long as the statement is prepared.
	prepared, err := conn.Prepare(background, "wide", "/* dp.errors = interval, dp.epsilon = 0.1 */ "+count())
	must(t, err)
	if _, err := conn.Exec(background, "wide"); err != nil || len(prepared.Fields) != 3 {
		t.Errorf("%d columns: %v", len(prepared.Fields), err)
	}
	if n := run(count()); n != 1 {
		t.Errorf("%d columns", n)
	}
	// A request that is named is charged once.
	said.take()
	named := "/* dp.request = 'it''s monday', dp.epsilon = 0.19 */ SELECT SUM(age) FROM patients"
	run(named)
	heard("price: epsilon 0.19;")
	run(named)
	heard("free")
	_, err = conn.Exec(background, "/* dp.request = 'it''s monday' */ SELECT SUM(cost) FROM patients")
	if sqlstate(err) != invalidParameter {
		t.Errorf("the request was used before: %v", err)
	}
}

// TestCommentErrors: what begins as settings do is meant, so it is read or refused, free.
func TestCommentErrors(t *testing.T) {
	conn := startTestServer(t, nil).ana(t)
	const question = "SELECT COUNT(*) FROM patients"
	for sql, want := range map[string]string{
		"/* dp.epsilon */ " + question:                                                    syntaxError,
		"/* dp.epsilon = */ " + question:                                                  syntaxError,
		"/* dp.epsilon = 0.2; dp.delta = 0 */ " + question:                                syntaxError,
		"/* dp.epsilon = 0.2 dp.delta = 0 */ " + question:                                 syntaxError,
		"/* dp.epsilon = 0.2, */ " + question:                                             syntaxError,
		"/* dp.epsilon = 0.2, controller = 'x' */ " + question:                            syntaxError,
		"/* dp.epsilon = '0.2 */ " + question:                                             syntaxError,
		"/* dp.epsilon = /* 0.2 */ */ " + question:                                        syntaxError,
		"/* dp.epsilon = 0.2, dp.EPSILON = 0.2 */ " + question:                            syntaxError,
		"/* dp.epsilon = 0.2 */ /* dp.confidence = 0.9 */ " + question:                    syntaxError,
		"-- dp.epsilon = 0.2\n" + question:                                                syntaxError,
		question + " /* dp.epsilon = 0.2 */":                                              syntaxError,
		"SELECT /* dp.epsilon = 0.2 */ COUNT(*) FROM patients":                            syntaxError,
		"EXPLAIN /* dp.epsilon = 0.2 */ " + question:                                      syntaxError,
		"/* dp.epsilon = 0.2 */ EXECUTE a":                                                syntaxError,
		"/* dp.epsilon = 0.2 */ EXPLAIN EXECUTE a":                                        syntaxError,
		"/* dp.epsilon = 0.2 */ FETCH c":                                                  syntaxError,
		"/* dp.epsilon = much */ " + question:                                             invalidParameter,
		"/* dp.epsilon = '' */ " + question:                                               invalidParameter,
		"/* dp.epsilon = 5 */ " + question:                                                invalidParameter, // more than the policy's max
		"/* dp.errors = loud */ " + question:                                              invalidParameter,
		"/* dp.epsilom = 0.2 */ " + question:                                              undefinedObject,
		"/* dp.x = 1 */ SHOW dp.epsilon":                                                  undefinedObject,
		"/* dp.budget = 5 */ " + question:                                                 cannotChange,
		"/* dp.request = '" + strings.Repeat("x", maxSettingBytes+1) + "' */ " + question: invalidParameter,
	} {
		if _, err := conn.PgConn().Exec(background, sql).ReadAll(); sqlstate(err) != want {
			t.Errorf("%.80s: %v; want %s", sql, err, want)
		}
	}
	var left string
	must(t, conn.QueryRow(background, "SHOW dp.budget").Scan(nil, nil, nil, nil, nil, &left))
	if left != "10" {
		t.Errorf("%s is left", left)
	}
}
