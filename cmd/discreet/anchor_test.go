package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/test/testpg"
)

// anchored deploys a policy that keeps an anchor, in a folder that stands for another volume.
func anchored(t *testing.T) (policy, place string) {
	t.Helper()
	policy = deploy(t, tenQuestions)
	place = filepath.Join(t.TempDir(), "hospital.anchor")
	text := contents(t, policy)
	write(t, policy, fmt.Sprintf("anchor: {file: %q}\n%s", place, text))
	return policy, place
}

func TestLedgerAnchor(t *testing.T) {
	t.Parallel()
	command("ledger", "anchor", "-p", deploy(t, tenQuestions)).wants(t, 2, "the policy has no anchor")
	policy, place := anchored(t)
	file := beside(policy, "policy.ledger")
	command("ledger", "anchor", "-p", policy).wants(t, 0, "anchor: "+place, "no anchor is stored yet")
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 0)
	old := contents(t, file)
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 50").wants(t, 0)
	command("ledger", "anchor", "-p", policy).wants(t, 0, "record 7, ", "holds it, and 0 records after it", "hospital          0.2",
		"hospital/ana      0.2")
	r := command("ledger", "anchor", "-p", policy, "--json").wants(t, 0).decode(t)
	if r["holds"] != true || r["anchor"].(map[string]any)["sequence"] != 7.0 || r["place"] != place {
		t.Errorf("got %v", r)
	}
	command("ledger", "anchor", "-p", policy, "--write").wants(t, 0, "record 7, ", "holds it")
	command("ledger", "verify", "-p", policy).wants(t, 0, "anchor: "+place+", which the ledger holds")
	command("ledger", "anchor", "-p", policy, "--recover", "--reason", "none").wants(t, 0, "nothing was changed")

	// An older copy is put back.
	write(t, file, old)
	for _, c := range []result{
		asks(policy, "SELECT COUNT(*) FROM patients"), command("budget", "-p", policy),
		command("ledger", "anchor", "-p", policy, "--write"),
	} {
		c.wants(t, 1, "it is older: it ends at record 5 of 7", "discreet ledger anchor --recover")
	}
	command("ledger", "verify", "-p", policy).wants(t, 1, "it is an older copy")
	command("ledger", "verify", file).wants(t, 0, "is whole")
	command("ledger", "anchor", "-p", policy).wants(t, 1, "the anchor names record 7, but the ledger ends with "+
		"record 5: it is an older copy")
	command("ledger", "anchor", "-p", policy, "--recover").wants(t, 2, "give --reason 'what happened' with --recover")
	command("ledger", "anchor", "-p", policy, "--reason", "why").wants(t, 2, "give --reason 'what happened' with --recover")
	command("ledger", "anchor", "-p", policy, "--write", "--recover", "--reason", "why").wants(t, 2, "see discreet ledger anchor --help")
	command("ledger", "anchor", "-p", policy, "--recover", "--reason", "the disk").wants(t, 0, "What was lost counts as spent",
		"hospital      epsilon           0.1        0.2")
	command("ledger", "show", file).wants(t, 0, "counted as spent, up to the anchor at 7: the disk")
	command("ledger", "replay", file).wants(t, 0, "0 differ")
	command("budget", "-p", policy).wants(t, 0, "0.2")

	// The ledger is lost as a whole.
	for _, suffix := range []string{"", ".lock"} {
		must(t, os.Remove(file+suffix))
	}
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 1, "the ledger is missing")
	command("ledger", "anchor", "-p", policy).wants(t, 1, "the ledger is missing")
	command("ledger", "anchor", "-p", policy, "--recover", "--reason", "fire").wants(t, 0, "the ledger was missing",
		"hospital      epsilon             0        0.2")

	// The volume with the anchor is not mounted, and its mount point is an empty folder: nothing
	// tells an older copy.
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 60").wants(t, 0)
	mounted := contents(t, place)
	must(t, os.Remove(place))
	for _, c := range []result{
		asks(policy, "SELECT COUNT(*) FROM patients"), command("budget", "-p", policy), command("ledger", "anchor", "-p", policy),
		command("ledger", "anchor", "-p", policy, "--write"),
		command("ledger", "verify", "-p", policy),
	} {
		c.wants(t, 1, "has an anchor, and there is none in "+place, "Mount the volume", "--begin --reason")
	}
	write(t, place, mounted)
	command("ledger", "anchor", "-p", policy, "--begin", "--reason", "why").wants(t, 1, "there is an anchor in")
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 60").wants(t, 0)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.anchor")
	replace(t, policy, place, elsewhere)
	asks(policy, people).wants(t, 1, "there is none in "+elsewhere, "elsewhere (when the ledger got its anchor, that was "+place+")")
	replace(t, policy, elsewhere, place)
	must(t, os.Remove(place))
	command("ledger", "anchor", "-p", policy, "--begin", "--reason", "the disk of the anchor was lost").wants(t,
		0, "holds it, and 0 records after it")
	command("ledger", "show", file).wants(t, 0, "the disk of the anchor was lost")
	command("ledger", "replay", file).wants(t, 0, "0 differ")
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 61").wants(t, 0)

	// Neither is its folder there.
	must(t, os.RemoveAll(filepath.Dir(place)))
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 1, "its anchor could not be read")
	command("ledger", "anchor", "-p", "no.yaml").wants(t, 1, "no.yaml")
	command("ledger", "anchor").wants(t, 2, "missing flags: --policy")
}

// Whoever stores the anchor closes the ledger in order, which takes away what a process that died
// is known by. So that it died is counted first.
func TestLedgerAnchorCounts(t *testing.T) {
	t.Parallel()
	policy, _ := anchored(t)
	db, err := discreet.Open(t.Context(), policy)
	must(t, err)
	s, err := db.OpenSparse(t.Context(), api.SparseQuestion{Analyst: "ana", Epsilon: dp.One / 8, Above: 1, Sensitivity: 1})
	must(t, err)
	must(t, errorOf(s.Ask(t.Context(), "SELECT COUNT(*) FROM patients", "500")))
	dead := t.TempDir() // what a process leaves that ends here
	if err := os.CopyFS(dead, os.DirFS(filepath.Dir(policy))); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	must(t, db.Close())
	copied := filepath.Join(dead, filepath.Base(policy))
	command("ledger", "anchor", "-p", copied, "--write").wants(t, 0, "holds it")
	command("incidents", "-p", copied).wants(t, 0, "crash")
}

// A ledger that has an anchor is not opened by a policy that names none, and an older copy answers
// nothing again. The owner can give the anchor up, and says why.
func TestLedgerWithoutItsAnchor(t *testing.T) {
	t.Parallel()
	policy, place := anchored(t)
	file := beside(policy, "policy.ledger")
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 0)
	old := contents(t, file)
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 50").wants(t, 0)
	line := fmt.Sprintf("anchor: {file: %q}\n", place)
	replace(t, policy, line, "")
	newer := contents(t, file)
	for _, copied := range []string{newer, old} {
		write(t, file, string(copied))
		for _, c := range []result{
			asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 50"), command("budget", "-p", policy),
			command("ledger", "verify", "-p", policy), command("ledger", "anchor", "-p", policy), command("check", policy),
			command("check", policy, "--no-data"),
		} {
			c.wants(t, 1, "has an anchor, and the policy names none", "that was "+place, "--give-up --reason")
		}
		command("ledger", "verify", file).wants(t, 0, "is whole", "anchor: it has one")
	}
	// An older copy has nothing to give up.
	change(t, policy, func(s string) string { return line + s })
	command("ledger", "anchor", "-p", policy, "--give-up", "--reason", "why").wants(t, 1, "it is older")
	write(t, file, newer)
	command("ledger", "anchor", "-p", policy, "--give-up", "--reason", "the anchor moves").wants(t, 0, "has no anchor from now on",
		"Remove the key 'anchor'", "remove "+place).lacks(t, "record ", "no account can have spent")
	replace(t, policy, line, "")
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 60").wants(t, 0)
	command("check", policy).wants(t, 0)
	command("ledger", "verify", "-p", policy).wants(t, 0).lacks(t, "anchor:")
	command("ledger", "show", file).wants(t, 0, "no anchor: the anchor moves")
	command("ledger", "replay", file).wants(t, 0, "0 differ")
}

// inDatabase puts the ledger of a policy into a database, and returns its address.
func inDatabase(t *testing.T, policy, schema string) string {
	t.Helper()
	u, err := url.Parse(testpg.Shared(t).URL())
	must(t, err)
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	change(t, policy, func(s string) string { return "ledger: " + u.String() + "\n" + s })
	return u.String()
}

// Two servers share a ledger, and the owner works beside them: what one of them is asked and told
// the other knows, and so does every command.
func TestSharedLedgerByCommand(t *testing.T) {
	t.Parallel()
	policy := teamed(t, "{epsilon: 1, renewal: {every: month, windows: 3}, per_query: {default: 0.1, max: 0.5}}")
	address := inDatabase(t, policy, "two_servers")
	file := beside(policy, "before.users") // from when there was one server
	password := comes(t, file, "ana")
	command("user", "copy", beside(policy, "none.users"), address).wants(t, 2, "there are no users yet")
	command("user", "copy", file, address).wants(t, 0, "copied and compared: 1 user, 0 tokens, 0 saved, 0 lines of the trail",
		"go on with only one of the two")
	command("user", "copy", file, address).wants(t, 2, "there are already users or a record of logins, and nothing is replaced")
	var conns []*pgx.Conn
	var servers []*running
	for range 2 {
		r := starts(t, nil, "-p", policy, "--listen", "127.0.0.1:0", "--http", "")
		servers = append(servers, r)
		at := r.out.find(t, `psql postgresql://ana@(\S+)/hospital`)
		by := fmt.Sprintf("postgresql://ana:%s@%s/hospital?sslmode=disable", url.QueryEscape(password), at)
		c, err := pgx.Connect(context.Background(), by)
		must(t, err)
		defer c.Close(context.Background())
		conns = append(conns, c)
	}
	ask := func(on int) (n int) {
		t.Helper()
		must(t, conns[on].QueryRow(context.Background(), people).Scan(&n))
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
	command("ledger", "copy", address, backup).wants(t, 0, "copied and compared: 9 records, 2 answers kept",
		"go on with only one of the two")
	command("ledger", "verify", backup).wants(t, 0, "is whole: 9 records")
	command("ledger", "copy", address, backup).wants(t, 1, "not replaced")
	for _, r := range servers {
		r.stops(t, syscall.SIGTERM)
	}
	command("ledger", "anchor", "-p", policy).wants(t, 2, "has no anchor")
}

// What a policy must not say of a shared ledger.
func TestSharedLedgerInPolicy(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	policy := deploy(t, tenQuestions)
	file, where := inDatabase(t, policy, "anchored"), testpg.Shared(t).URL()
	change(t, policy, func(s string) string { return fmt.Sprintf("anchor: {postgres: %q}\n%s", where, s) })
	database, err := pgx.Connect(context.Background(), where)
	must(t, err)
	defer database.Close(context.Background())
	do := func(sql string) {
		t.Helper()
		must(t, errorOf(database.Exec(context.Background(), sql)))
	}
	command("ledger", "anchor", "-p", policy).wants(t, 0, "no anchor is stored yet")
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
	command("ledger", "show", file).wants(t, 0, "counted as spent, up to the anchor at 7: failover")
	command("ledger", "replay", file).wants(t, 0, "0 differ")
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
	command("ledger", "replay", file).wants(t, 0, "0 differ")
	asks(policy, older("61")).wants(t, 0)
}

// turnNeighbours makes a policy say substitute in the place of add-remove, or the other way round.
func turnNeighbours(t *testing.T, policy string) {
	t.Helper()
	change(t, policy, func(s string) string {
		if strings.Contains(s, "neighbours: substitute") {
			return strings.Replace(s, "neighbours: substitute", "neighbours: add-remove", 1)
		}
		s = strings.Replace(s, "    neighbours: add-remove\n", "", 1)
		return strings.Replace(s, "    unit:", "    neighbours: substitute\n    unit:", 1)
	})
}

// Whom a policy protects does not change once something was charged: no command goes on with a
// policy that says otherwise, and each says what to do.
func TestPolicyProtectsOthers(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	turn := func() { turnNeighbours(t, policy) }
	turn()
	command("budget", "-p", policy).wants(t, 0, "somebody else's")
	turn()
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 0)
	turn()
	for _, c := range []result{
		asks(policy, "SELECT COUNT(*) FROM patients"), asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 50"),
		command("budget", "-p", policy), command("check", policy), command("check", policy, "--no-data"),
	} {
		c.wants(t, 1, `says neighbours: substitute, and said neighbours: add-remove`, "Put it back")
	}
	// A server does this before it lets anybody in.
	db, err := discreet.Open(t.Context(), policy)
	must(t, err)
	if err := db.Warm(t.Context()); !errors.As(err, new(*budgets.ChangedError)) {
		t.Errorf("a server would begin: %v", err)
	}
	must(t, db.Close())
	turn()
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 0, "free")
	command("check", policy).wants(t, 0)
	command("ledger", "replay", beside(policy, "policy.ledger")).wants(t, 0, "0 differ")
}

// A ledger that was lost and is counted as spent still knows whom its charges protected.
func TestRecoveredLedgerProtects(t *testing.T) {
	t.Parallel()
	policy, _ := anchored(t)
	file := beside(policy, "policy.ledger")
	lose := func() {
		t.Helper()
		for _, suffix := range []string{"", ".lock"} {
			must(t, os.Remove(file+suffix))
		}
	}
	asks(policy, people).wants(t, 0)
	for range 2 { // also where what was recovered is lost again
		lose()
		command("ledger", "anchor", "-p", policy, "--recover", "--reason", "fire").wants(t, 0, "the ledger was missing")
		turnNeighbours(t, policy)
		for _, c := range []result{asks(policy, people), command("budget", "-p", policy), command("check", policy)} {
			c.wants(t, 1, `says neighbours: substitute, and said neighbours: add-remove`, "Put it back")
		}
		turnNeighbours(t, policy)
		command("check", policy).wants(t, 0)
	}
	asks(policy, people).wants(t, 0)
	command("ledger", "replay", file).wants(t, 0, "0 differ")
}

// Where a copy from before the first charge went on by itself with another policy, its charges and
// those that were lost protect different people: no policy goes on with both.
func TestRecoveredLedgerProtectsTwo(t *testing.T) {
	t.Parallel()
	policy, place := anchored(t)
	file := beside(policy, "policy.ledger")
	command("budget", "-p", policy).wants(t, 0)
	fresh := contents(t, file)
	early := contents(t, place)
	asks(policy, people).wants(t, 0)
	late := contents(t, place)
	write(t, file, fresh)
	write(t, place, early)
	turnNeighbours(t, policy)
	asks(policy, people+" WHERE age > 50").wants(t, 0)
	write(t, place, late)
	command("ledger", "anchor", "-p", policy, "--recover", "--reason", "two copies").wants(t, 0, "counts as spent")
	asks(policy, people).wants(t, 1, "said neighbours: add-remove")
	turnNeighbours(t, policy)
	asks(policy, people).wants(t, 1, "said neighbours: substitute")
}
