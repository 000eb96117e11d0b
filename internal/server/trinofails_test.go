package server

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/audit/attack"
	"github.com/discreet-dp/discreet/internal/testtrino"
	"github.com/discreet-dp/discreet/ledger"
)

// trinoMishaps are what can happen to tables of a Trino cluster while analysts ask, one after the
// other; after each it is asked. What comes to one neighbour alone comes with others.
var trinoMishaps = []struct {
	name  string
	run   []string
	fails bool
	own   []string // in one of the neighbours alone
}{
	{"nothing", nil, false, nil},
	{"somebody comes", []string{"INSERT INTO patients (pid, age) VALUES (2001, 3)", "INSERT INTO visits (pid, cost) VALUES (2001, 1)"},
		false, nil},
	{"no table", []string{"ALTER TABLE visits RENAME TO away"}, true, nil},
	{"and back", []string{"ALTER TABLE away RENAME TO visits"}, false, nil},
	{"another type", []string{"ALTER TABLE patients RENAME COLUMN age TO years", "ALTER TABLE patients ADD COLUMN age varchar"}, true, nil},
	{"and back", []string{"ALTER TABLE patients DROP COLUMN age", "ALTER TABLE patients RENAME COLUMN years TO age"}, false, nil},
	{"no column", []string{"ALTER TABLE patients RENAME COLUMN cost TO price"}, true, nil},
	{"and back", []string{"ALTER TABLE patients RENAME COLUMN price TO cost"}, false, nil},
	{"two come, one of them to one neighbour alone", []string{"INSERT INTO patients (pid, age) VALUES (2002, 3)",
		"INSERT INTO visits (pid, cost) VALUES (2002, 3)", "INSERT INTO labs (person, value) VALUES (2002, 3)"}, false,
		[]string{"INSERT INTO patients (pid, age, cost, weight, admitted) VALUES (2003, 9223372036854775807, nan(), -infinity(), " +
			"DATE '5881580-07-11')",
			"INSERT INTO visits (pid, cost, ward, day, moment) SELECT 2003, -infinity(), array_join(repeat('wwwwwwwwww', 10000), ''), " +
				"DATE '-5877641-06-23', TIMESTAMP '-290308-12-21 19:59:06.000000' FROM UNNEST(sequence(1, 20))",
			"INSERT INTO labs (person, value) SELECT 2003, i FROM UNNEST(sequence(1, 5000)) AS s(i)"}},
}

// trinoWords are those of Trino's messages, and what only the owner knows.
var trinoWords = regexp.MustCompile(`(?i)trino says|iceberg|alone_|does not exist|not found|127\.0\.0\.1:|dial|refused|connection|` +
	`TABLE_NOT|COLUMN_NOT|NO_NODES|REMOTE_|GENERIC_|PERMISSION|access denied|query failed|worker|away|years|price|io\.trino|java`)

// TestTrinoFails: whatever happens to the tables, and to the nodes of the cluster, analysts of
// neighbours see the same, and none of Trino's words; what was charged and did not end is one
// incident, and what could not begin costs nothing.
func TestTrinoFails(t *testing.T) {
	if !*full {
		t.Skip("starts a cluster and kills it; go test ./internal/server -run TestTrinoFails -full -v -timeout 0")
	}
	c := testtrino.Own(t, "--workers=1", "--set=query.remote-task.max-error-duration=10s", "--set=exchange.max-error-duration=10s")
	one, other := neighbours(t, attack.TrinoIn("iceberg", func(testing.TB) *testtrino.Cluster { return c }))
	wires := []*pgconn.HijackedConn{one.wire(), other.wire()}
	step := 0
	both := func(what string, fails bool) {
		t.Helper()
		step++
		var said [2]string
		var paid, failed [2]int
		for i, f := range []*front{one, other} {
			charges, incidents := strings.Count(f.books(), "\n"), f.incidents()
			said[i] = f.everything(wires[i], step)
			paid[i], failed[i] = strings.Count(f.books(), "\n")-charges, f.incidents()-incidents
		}
		if said[0] != said[1] {
			t.Errorf("%s: there is said\n%.3000s\nand without one person\n%.3000s", what, said[0], said[1])
		}
		if found := trinoWords.FindString(said[0]); found != "" {
			t.Errorf("%s: analysts are told of %q\n%.3000s", what, found, said[0])
		}
		t.Logf("%s: %d charges, %d incidents", what, paid[0], failed[0])
		if paid[0] != paid[1] || failed[0] != failed[1] || fails == strings.Contains(said[0], "DataRow") ||
			fails && paid[0] != failed[0] || !fails && (paid[0] == 0 || failed[0] != 0) {
			t.Errorf("%s: %d and %d charges, %d and %d incidents, for\n%.3000s", what, paid[0], paid[1], failed[0], failed[1], said[0])
		}
	}
	for _, m := range trinoMishaps {
		for f, all := range map[*front][]string{one: slices.Concat(m.run, m.own), other: m.run} {
			for _, text := range all {
				c.Run(t, f.within(text))
			}
		}
		both(m.name, m.fails)
	}
	for _, node := range []string{"worker1", "coordinator"} {
		c.Kill(t, node)
		both(node+" is killed", true)
		c.Restart(t)
		both(node+" is back", false)
	}
	if a, b := one.books(), other.books(); a != b {
		t.Errorf("the ledgers differ:\n%s\n%s", a, b)
	}
}

// within names the tables of a statement in the schema of the data.
func (f *front) within(statement string) string {
	schema := "iceberg." + f.database()[strings.Index(f.database(), "/")+1:] + "."
	return tableNames.ReplaceAllString(statement, "${1}"+schema+"${2}")
}

var tableNames = regexp.MustCompile(`^((?:INSERT INTO|ALTER TABLE|CREATE TABLE) |.* RENAME TO )(\w+)`)

// incidents are how many the ledger has.
func (f *front) incidents() (n int) {
	for r, err := range f.server.db.Records(context.Background(), 0) {
		if err != nil {
			f.t.Fatal(err)
		}
		if r.Kind == ledger.KindIncident {
			n++
		}
	}
	return n
}
