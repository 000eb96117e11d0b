package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
)

// Sizes may be declared, changed and removed after something was charged: answers stay as they are.
func TestSizesChange(t *testing.T) {
	policy := deploy(t, tenQuestions)
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 0)
	command("check", policy).wants(t, 0, "Deadlines follow the sizes of the data", "chosen by the size of the data")
	block := command("check", policy, "--sizes").wants(t, 0, "    sizes:\n      people: ").out
	change(t, policy, func(s string) string { return s + block })
	command("check", policy).wants(t, 0, "chosen by the sizes that the policy declares")
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 0, "free")
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 50").wants(t, 0)
	change(t, policy, func(s string) string { return strings.ReplaceAll(s, "rows: ", "rows: 1") })
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 50").wants(t, 0, "free")
	change(t, policy, func(s string) string { return strings.TrimSuffix(s, s[strings.Index(s, "    # Paste"):]) })
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 50").wants(t, 0, "free")
	command("ledger", "replay", beside(policy, "policy.ledger")).wants(t, 0, "0 differ")
	command("check", policy, "--sizes", "--no-data").wants(t, 2, "leave out one of the two")
	command("check", policy, "--sizes", "--json").wants(t, 0, `"people":`)
}

// A draft of files declares their sizes, rounded up, and its deadlines follow from that. Where the
// data cannot be opened as it is drafted it says what to do.
func TestInitSizes(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "patients.csv")
	rows := "pid,note\n" + strings.Repeat("x1,abc\n", 1) + strings.Repeat("y,a longer text than that\n", 1500)
	if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	draft := filepath.Join(folder, "p.yaml")
	command("init", file, "--analyst", "ana", "-o", draft).wants(t, 0)
	db, err := discreet.Open(t.Context(), draft)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	sizes := db.Policy().Datasets["patients"].Sizes
	if sizes == nil || sizes.People != 2048 || sizes.Tables["patients"].Rows != 2048 || sizes.Tables["patients"].Lengths["note"] != 32 {
		t.Errorf("%+v", sizes)
	}
	command("check", draft).wants(t, 0, "chosen by the sizes that the policy declares")
	command("init", file, orders(t, folder), filepath.Join(folder, "items.csv"), "--unit", "patients.pid", "--person",
		"items=order->orders.nobody").wants(t, 0, "'discreet check --sizes' with")
}

// orders writes two more tables, and returns the first.
func orders(t *testing.T, folder string) string {
	t.Helper()
	for name, text := range map[string]string{"orders.csv": "pid,oid\nx1,7\n", "items.csv": "order,n\n7,1\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "orders.csv")
}
