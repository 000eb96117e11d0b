package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// anchored deploys a policy that keeps an anchor, in a folder that stands for another volume.
func anchored(t *testing.T) (policy, place string) {
	t.Helper()
	policy = deploy(t, tenQuestions)
	place = filepath.Join(t.TempDir(), "hospital.anchor")
	text, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	write(t, policy, fmt.Sprintf("anchor: {file: %q}\n%s", place, text))
	return policy, place
}

func TestLedgerAnchor(t *testing.T) {
	command("ledger", "anchor", "-p", deploy(t, tenQuestions)).wants(t, 2, "the policy keeps no anchor")
	policy, place := anchored(t)
	books := beside(policy, "policy.ledger")
	command("ledger", "anchor", "-p", policy).wants(t, 0, "anchor: "+place, "no anchor was stored yet")
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 0)
	old, err := os.ReadFile(books)
	if err != nil {
		t.Fatal(err)
	}
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
	write(t, books, string(old))
	for _, c := range []result{
		asks(policy, "SELECT COUNT(*) FROM patients"), command("budget", "-p", policy),
		command("ledger", "anchor", "-p", policy, "--write"),
	} {
		c.wants(t, 1, "it is older: it ends at record 5 of 7", "discreet ledger anchor --recover")
	}
	command("ledger", "verify", "-p", policy).wants(t, 1, "it is an older copy")
	command("ledger", "verify", books).wants(t, 0, "is whole")
	command("ledger", "anchor", "-p", policy).wants(t, 1, "the anchor names record 7, and the ledger ends with "+
		"record 5: it is an older copy")
	command("ledger", "anchor", "-p", policy, "--recover").wants(t, 2, "--recover, --begin and --give-up need --reason")
	command("ledger", "anchor", "-p", policy, "--reason", "why").wants(t, 2, "--recover, --begin and --give-up need --reason")
	command("ledger", "anchor", "-p", policy, "--write", "--recover", "--reason", "why").wants(t, 2, "see discreet ledger anchor --help")
	command("ledger", "anchor", "-p", policy, "--recover", "--reason", "the disk").wants(t, 0, "What was lost counts as spent",
		"hospital      epsilon           0.1        0.2")
	command("ledger", "show", books).wants(t, 0, "counted as spent, up to the anchor at 7: the disk")
	command("ledger", "replay", books).wants(t, 0, "0 differ")
	command("budget", "-p", policy).wants(t, 0, "0.2")

	// The ledger is lost as a whole.
	for _, suffix := range []string{"", ".lock"} {
		if err := os.Remove(books + suffix); err != nil {
			t.Fatal(err)
		}
	}
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 1, "the ledger is missing")
	command("ledger", "anchor", "-p", policy).wants(t, 1, "the ledger is missing")
	command("ledger", "anchor", "-p", policy, "--recover", "--reason", "fire").wants(t, 0, "the ledger was missing",
		"hospital      epsilon             0        0.2")

	// The volume with the anchor is not mounted, and its mount point is an empty folder: nothing
	// tells an older copy.
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 60").wants(t, 0)
	mounted, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(place); err != nil {
		t.Fatal(err)
	}
	for _, c := range []result{
		asks(policy, "SELECT COUNT(*) FROM patients"), command("budget", "-p", policy), command("ledger", "anchor", "-p", policy),
		command("ledger", "anchor", "-p", policy, "--write"),
		command("ledger", "verify", "-p", policy),
	} {
		c.wants(t, 1, "has an anchor, and there is none in "+place, "Mount the volume", "--begin --reason")
	}
	write(t, place, string(mounted))
	command("ledger", "anchor", "-p", policy, "--begin", "--reason", "why").wants(t, 1, "there is an anchor in")
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 60").wants(t, 0)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.anchor")
	change(t, policy, func(s string) string { return strings.Replace(s, place, elsewhere, 1) })
	asks(policy, people).wants(t, 1, "there is none in "+elsewhere, "elsewhere (when the ledger got its anchor, that was "+place+")")
	change(t, policy, func(s string) string { return strings.Replace(s, elsewhere, place, 1) })
	if err := os.Remove(place); err != nil {
		t.Fatal(err)
	}
	command("ledger", "anchor", "-p", policy, "--begin", "--reason", "the disk of the anchor was lost").wants(t,
		0, "holds it, and 0 records after it")
	command("ledger", "show", books).wants(t, 0, "the disk of the anchor was lost")
	command("ledger", "replay", books).wants(t, 0, "0 differ")
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 61").wants(t, 0)

	// Neither is its folder there.
	if err := os.RemoveAll(filepath.Dir(place)); err != nil {
		t.Fatal(err)
	}
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 1, "its anchor could not be read")
	command("ledger", "anchor", "-p", "no.yaml").wants(t, 1, "no.yaml")
	command("ledger", "anchor").wants(t, 2, "missing flags: --policy")
}

// Whoever stores the anchor closes the ledger in order, which takes away what a process that died
// is known by. So that it died is counted first.
func TestLedgerAnchorCounts(t *testing.T) {
	policy, _ := anchored(t)
	db, err := discreet.Open(t.Context(), policy)
	if err != nil {
		t.Fatal(err)
	}
	s, err := db.OpenSparse(t.Context(), api.SparseQuestion{Analyst: "ana", Epsilon: dp.One / 8, Above: 1, Sensitivity: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ask(t.Context(), "SELECT COUNT(*) FROM patients", "500"); err != nil {
		t.Fatal(err)
	}
	dead := t.TempDir() // what a process leaves that ends here
	if err := os.CopyFS(dead, os.DirFS(filepath.Dir(policy))); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dead, filepath.Base(policy))
	command("ledger", "anchor", "-p", copied, "--write").wants(t, 0, "holds it")
	command("incidents", "-p", copied).wants(t, 0, "crash")
}

// A ledger that has an anchor is not opened by a policy that names none, and an older copy answers
// nothing again. The owner can give the anchor up, and says why.
func TestLedgerWithoutItsAnchor(t *testing.T) {
	policy, place := anchored(t)
	books := beside(policy, "policy.ledger")
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 0)
	old, err := os.ReadFile(books)
	if err != nil {
		t.Fatal(err)
	}
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 50").wants(t, 0)
	line := fmt.Sprintf("anchor: {file: %q}\n", place)
	change(t, policy, func(s string) string { return strings.Replace(s, line, "", 1) })
	newer, err := os.ReadFile(books)
	if err != nil {
		t.Fatal(err)
	}
	for _, copied := range [][]byte{newer, old} {
		write(t, books, string(copied))
		for _, c := range []result{
			asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 50"), command("budget", "-p", policy),
			command("ledger", "verify", "-p", policy), command("ledger", "anchor", "-p", policy), command("check", policy),
			command("check", policy, "--no-data"),
		} {
			c.wants(t, 1, "has an anchor, and the policy names none", "that was "+place, "--give-up --reason")
		}
		command("ledger", "verify", books).wants(t, 0, "is whole", "anchor: it has one")
	}
	// An older copy has nothing to give up.
	change(t, policy, func(s string) string { return line + s })
	command("ledger", "anchor", "-p", policy, "--give-up", "--reason", "why").wants(t, 1, "it is older")
	write(t, books, string(newer))
	command("ledger", "anchor", "-p", policy, "--give-up", "--reason", "the anchor moves").wants(t, 0, "has no anchor from here on",
		"Remove the key 'anchor'", "remove "+place).lacks(t, "record ", "no account can have spent")
	change(t, policy, func(s string) string { return strings.Replace(s, line, "", 1) })
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 60").wants(t, 0)
	command("check", policy).wants(t, 0)
	command("ledger", "verify", "-p", policy).wants(t, 0).lacks(t, "anchor:")
	command("ledger", "show", books).wants(t, 0, "no anchor: the anchor moves")
	command("ledger", "replay", books).wants(t, 0, "0 differ")
}
