package main

import (
	"context"
	"fmt"
	"net/url"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/testpg"
)

// inDatabase puts the ledger of a policy into a database, and returns its address.
func inDatabase(t *testing.T, policy, schema string) string {
	t.Helper()
	u, err := url.Parse(testpg.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	change(t, policy, func(s string) string { return "ledger: " + u.String() + "\n" + s })
	return u.String()
}

// Two servers share a ledger, and the owner works beside them: what one of them is asked and told
// the other knows, and so does every command.
func TestSharedLedgerByCommand(t *testing.T) {
	policy := teamed(t, "{epsilon: 1, renewal: {every: month, windows: 3}, per_query: {default: 0.1, max: 0.5}}")
	address := inDatabase(t, policy, "two_servers")
	file := beside(policy, "before.users") // from when there was one server
	password := command("user", "add", "ana", "--users", file, "--json").wants(t, 0).decode(t)["password"].(string)
	command("user", "copy", beside(policy, "none.users"), address).wants(t, 2, "there are no users yet")
	command("user", "copy", file, address).wants(t, 0, "copied and compared: 1 user, 0 tokens, 0 saved, 0 lines of the trail",
		"go on with one")
	command("user", "copy", file, address).wants(t, 2, "there are users or a trail of logins already, and nothing is replaced")
	var conns []*pgx.Conn
	var servers []*running
	for range 2 {
		r := starts(t, nil, "-p", policy, "--listen", "127.0.0.1:0", "--http", "")
		servers = append(servers, r)
		at := r.out.find(t, `psql postgresql://ana@(\S+)/hospital`)
		by := fmt.Sprintf("postgresql://ana:%s@%s/hospital?sslmode=disable", url.QueryEscape(password), at)
		c, err := pgx.Connect(context.Background(), by)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background())
		conns = append(conns, c)
	}
	ask := func(on int) (n int) {
		t.Helper()
		if err := conns[on].QueryRow(context.Background(), people).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if a, b := ask(0), ask(1); a != b {
		t.Errorf("one question has two answers, %d and %d", a, b)
	}
	asks(policy, people).wants(t, 0, "free")
	asks(policy, older("40")).wants(t, 0)
	command("budget", "-p", policy).wants(t, 0, "0.2")
	key := beside(policy, "owner.key")
	command("ledger", "key", "-p", policy, key).wants(t, 0, "made")
	command("ledger", "topup", "-p", policy, "--key", key, "--epsilon", "0.1", "--reason", "test").wants(t, 0)
	command("ledger", "renew", "-p", policy, "--due", "--reason", "cron").wants(t, 0, "not due before")
	command("ledger", "renew", "-p", policy, "--reason", "February").wants(t, 0, "window 2 of 3 has begun")
	if a, b := ask(0), ask(1); a != b { // in the new window, and free: it was paid for
		t.Errorf("one question has two answers, %d and %d", a, b)
	}
	for _, args := range [][]string{{"show"}, {"export"}, {"replay"}, {"verify"}} {
		command(append([]string{"ledger"}, append(args, "-p", policy)...)...).wants(t, 0)
		command(append([]string{"ledger"}, append(args, address)...)...).wants(t, 0)
	}
	backup := beside(policy, "backup.ledger")
	command("ledger", "copy", address, backup).wants(t, 0, "copied and compared: 9 records, 2 answers kept", "go on with one of the two")
	command("ledger", "verify", backup).wants(t, 0, "is whole: 9 records")
	command("ledger", "copy", address, backup).wants(t, 1, "not replaced")
	for _, r := range servers {
		r.stops(t, syscall.SIGTERM)
	}
	command("ledger", "anchor", "-p", policy).wants(t, 2, "keeps no anchor")
}

// What a policy must not say of a shared ledger.
func TestSharedLedgerInPolicy(t *testing.T) {
	for ledger, want := range map[string]string{
		"ledger: postgres://discreet:hunter2@db.example.org/ledgers\n":                 "DISCREET_LEDGER_PASSWORD",
		"ledger: postgres://discreet@db.example.org/ledgers?password=hunter2\n":        "DISCREET_LEDGER_PASSWORD",
		"ledger: postgres:///ledgers\n":                                                "is not the address",
		"ledger: postgres://discreet@db.example.org/ledgers\nanchor: {file: x.json}\n": "several servers may have this ledger open",
	} {
		policy := deploy(t, tenQuestions)
		change(t, policy, func(s string) string { return ledger + s })
		command("budget", "-p", policy).wants(t, 1, want).lacks(t, "hunter2")
	}
}

// A database that has forgotten something is recovered where it is, and so is one that was lost.
func TestSharedLedgerAnchor(t *testing.T) {
	policy := deploy(t, tenQuestions)
	books, where := inDatabase(t, policy, "anchored"), testpg.Shared(t).URL()
	change(t, policy, func(s string) string { return fmt.Sprintf("anchor: {postgres: %q}\n%s", where, s) })
	database, err := pgx.Connect(context.Background(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close(context.Background())
	do := func(sql string) {
		t.Helper()
		if _, err := database.Exec(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	command("ledger", "anchor", "-p", policy).wants(t, 0, "no anchor was stored yet")
	asks(policy, people).wants(t, 0)
	asks(policy, older("50")).wants(t, 0)
	command("ledger", "anchor", "-p", policy).wants(t, 0, "record 7, ", "holds it", "hospital          0.2")
	command("ledger", "anchor", "-p", policy, "--recover", "--reason", "none").wants(t, 0, "nothing was changed")

	// A standby that was behind takes over.
	do("ALTER TABLE anchored.records DISABLE TRIGGER ALL")
	do("DELETE FROM anchored.records WHERE sequence > 5")
	do("UPDATE anchored.head SET sequence = 5, hash = (SELECT hash FROM anchored.records WHERE sequence = 5)")
	asks(policy, people).wants(t, 1, "it is older: it ends at record 5 of 7", "discreet ledger anchor --recover")
	command("ledger", "anchor", "-p", policy, "--recover", "--reason", "failover").wants(t, 0, "What was lost counts as spent",
		"hospital      epsilon           0.1        0.2")
	command("ledger", "show", books).wants(t, 0, "counted as spent, up to the anchor at 7: failover")
	command("ledger", "replay", books).wants(t, 0, "0 differ")
	command("budget", "-p", policy).wants(t, 0, "0.2")

	// The database is lost as a whole.
	do("DROP SCHEMA anchored CASCADE")
	asks(policy, people).wants(t, 1, "the ledger is missing")
	command("ledger", "anchor", "-p", policy).wants(t, 1, "the ledger is missing")
	command("ledger", "anchor", "-p", policy, "--begin", "--reason", "why").wants(t, 1, "there is an anchor in")
	command("ledger", "anchor", "-p", policy, "--recover", "--reason", "fire").wants(t, 0, "the ledger was missing",
		"hospital      epsilon             0        0.2")

	// The anchor is lost.
	asks(policy, older("60")).wants(t, 0)
	do("DELETE FROM discreet_anchor WHERE document LIKE '%\"hospital/ana\"%'")
	asks(policy, people).wants(t, 1, "has an anchor, and there is none in", "--begin --reason")
	command("ledger", "anchor", "-p", policy, "--recover", "--reason", "why").wants(t, 1, "there is no anchor in")
	command("ledger", "anchor", "-p", policy, "--begin", "--reason", "the anchor's disk").wants(t, 0, "holds it, and 0 records after it")
	command("ledger", "replay", books).wants(t, 0, "0 differ")
	asks(policy, older("61")).wants(t, 0)
}
