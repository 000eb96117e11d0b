package server

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/internal/test/storekinds"
	"github.com/discreet-dp/discreet/internal/test/testpg"
)

// mishaps are what can happen to the data in PostgreSQL while analysts ask, one after the other.
// After each of them it is asked. What comes to one neighbour alone comes with others, and stays:
// that data is other data, or is again what it was, analysts see.
var mishaps = []struct {
	name  string
	run   []string
	fails bool
	own   []string // in one of the neighbours alone
}{
	{"nothing", nil, false, nil},
	{"somebody comes", []string{"INSERT INTO patients (pid, age) VALUES (2001, 3)",
		"INSERT INTO visits (pid, cost) VALUES (2001, 1)"}, false, nil},
	{"the right is gone", []string{"REVOKE SELECT ON patients FROM reader", "INSERT INTO visits (pid) VALUES (2001)"}, true, nil},
	{"and back", []string{"GRANT SELECT ON patients TO reader"}, false, nil},
	{"too many rights", []string{"GRANT INSERT ON patients TO reader", "INSERT INTO visits (pid) VALUES (2001)"}, true, nil},
	{"and back", []string{"REVOKE INSERT ON patients FROM reader"}, false, nil},
	{"row security", []string{"ALTER TABLE patients ENABLE ROW LEVEL SECURITY",
		"CREATE POLICY own ON patients USING (1 / (pid - 37) >= 0)"}, true, nil},
	{"and back", []string{"DROP POLICY own ON patients", "ALTER TABLE patients DISABLE ROW LEVEL SECURITY"}, false, nil},
	{"a view that fails over one row", []string{"ALTER TABLE patients RENAME TO hidden",
		"CREATE VIEW patients AS SELECT * FROM hidden WHERE 1 / (pid - 37) >= 0", "GRANT SELECT ON patients TO reader"}, true, nil},
	{"and back", []string{"DROP VIEW patients", "ALTER TABLE hidden RENAME TO patients"}, false, nil},
	{"another type", []string{"ALTER TABLE patients RENAME age TO years", "ALTER TABLE patients ADD age interval"}, true, nil},
	{"and back", []string{"ALTER TABLE patients DROP age", "ALTER TABLE patients RENAME years TO age"}, false, nil},
	{"no table", []string{"ALTER TABLE visits RENAME TO away"}, true, nil},
	{"and back", []string{"ALTER TABLE away RENAME TO visits"}, false, nil},
	{"no connection", []string{"ALTER ROLE reader NOLOGIN",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'"}, true, nil},
	{"and back", []string{"ALTER ROLE reader LOGIN"}, false, nil},
	{"somebody goes", []string{"DELETE FROM patients WHERE pid = 2001", "DELETE FROM visits WHERE pid = 2001"}, false, nil},
	{"two come, one of them to one neighbour alone", []string{"INSERT INTO patients (pid, age) VALUES (2002, 3)"}, false,
		[]string{"INSERT INTO patients (pid, age, cost, admitted) VALUES (2003, 9223372036854775807, 'NaN', 'infinity')",
			"INSERT INTO visits (pid, cost, ward, day) SELECT 2003, '-Infinity', repeat('w', 2000000), '5874897-12-31' FROM " +
				"generate_series(1, 4)", "INSERT INTO labs (person, value) SELECT 2003, i FROM generate_series(1, 5000) i"}},
	{"a third comes", []string{"INSERT INTO patients (pid, age) VALUES (2004, 3)"}, false,
		[]string{"DELETE FROM labs WHERE person = 2003"}},
}

// flush makes PostgreSQL count at once what was changed.
var flush = []string{"SELECT pg_stat_force_next_flush()"}

// words are those of PostgreSQL's messages, and what only the owner knows.
var words = regexp.MustCompile(`(?i)permission|denied|relation|does not exist|division|reader|made[0-9]|socket|/tmp|\bpg[0-9]|dial|refused by|` +
	`connect|terminat|42501|42P01|22012|57P0|28000|row-level|interval|hidden|away|administrator`)

// TestPostgresFails: whatever happens to the data, and to PostgreSQL, analysts of neighbours see
// the same, and none of its words; nothing is charged where there is no answer.
func TestPostgresFails(t *testing.T) {
	t.Parallel() // it waits
	server := testpg.Start(t, "fsync=off")
	one, other := neighbours(t, storekinds.Postgres(func(testing.TB) *testpg.Server { return server }))
	step, wires := 0, []*pgconn.HijackedConn{one.wire(), other.wire()}
	both := func(what string, fails bool) {
		t.Helper()
		step++
		var said [2]string
		var paid [2]int
		for i, f := range []*front{one, other} {
			before := strings.Count(f.charges(), "\n")
			said[i] = f.everything(wires[i], step)
			paid[i] = strings.Count(f.charges(), "\n") - before
		}
		if said[0] != said[1] {
			t.Errorf("%s: there is said\n%.3000s\nand without one person\n%.3000s", what, said[0], said[1])
		}
		if found := words.FindString(said[0]); found != "" {
			t.Errorf("%s: analysts are told of %q\n%.3000s", what, found, said[0])
		}
		if paid[0] != paid[1] || (paid[0] == 0) != fails || fails == strings.Contains(said[0], "DataRow") {
			t.Errorf("%s: %d and %d charges, for\n%.3000s", what, paid[0], paid[1], said[0])
		}
	}
	for _, m := range mishaps {
		server.Run(t, one.database(), slices.Concat(m.run, m.own, flush)...)
		server.Run(t, other.database(), slices.Concat(m.run, flush)...)
		both(m.name, m.fails)
	}
	server.Stop(t)
	both("killed", true)
	server.Restart(t)
	both("started again", false)
	if a, b := one.charges(), other.charges(); a != b {
		t.Errorf("the ledgers differ:\n%s\n%s", a, b)
	}
}

func (f *front) database() string {
	f.t.Helper()
	u, err := url.Parse(f.source)
	must(f.t, err)
	return strings.TrimPrefix(u.Path, "/")
}

// everything asks what was asked before and something new, in all ways, and writes down what is
// said.
func (f *front) everything(c *pgconn.HijackedConn, step int) string {
	f.t.Helper()
	var b strings.Builder
	texts := []string{fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE pid <> %d", step), "SELECT COUNT(*) FROM visits",
		"EXPLAIN SELECT COUNT(*) FROM patients", "SHOW dp.budget"}
	if step%4 == 3 { // which takes long
		texts = append(texts, "SELECT label FROM codes")
	}
	for i, text := range texts {
		m := f.masked(text)
		m.rows = m.rows || strings.HasPrefix(text, "SELECT label")
		b.WriteString(say(f.t, c, m, &pgproto3.Query{String: text}))
		if i > 0 {
			continue
		}
		body, err := json.Marshal(map[string]string{"dataset": "clinic", "sql": text})
		must(f.t, err)
		for _, path := range []string{"/v1/query", "/v1/explain"} {
			b.WriteString(f.post(path, string(body), m) + "\n")
		}
	}
	return named.ReplaceAllString(b.String(), "*")
}

// named matches what a request is called by the server, by itself.
var named = regexp.MustCompile(`"request":"[0-9a-f]{32}"`)
