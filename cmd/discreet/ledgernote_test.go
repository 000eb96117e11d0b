package main

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
)

// A note is a line in every listing, and its contents are in none, however they are written.
func TestLedgerNotes(t *testing.T) {
	policy := deploy(t, tenQuestions)
	path := beside(policy, "policy.ledger")
	l, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	const secret = "THRESHOLD-NOISE-SECRET-17"
	for range 3 {
		if err := l.Note(t.Context(), "hospital/patients/v1", []byte(secret)); err != nil {
			t.Fatal(err)
		}
	}
	var salted []string // the secret, as somebody might print it
	for r, err := range l.Records(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind != ledger.KindNote || r.AnswerHash == ledger.Hash(secret) {
			t.Errorf("%+v", r)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	salted = append(salted, secret, strings.ToLower(secret), hex.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte(secret)), ledger.Hash(secret))
	for _, c := range []struct {
		says string
		args []string
	}{
		{"of hospital/patients/v1", []string{"ledger", "show", path}},
		{"of hospital/patients/v1", []string{"ledger", "show", path, "--dataset", "hospital", "--kind", "note"}},
		{`"session":"hospital/patients/v1"`, []string{"ledger", "show", path, "--json"}},
		{`"session":"hospital/patients/v1"`, []string{"ledger", "export", path, "--all", "--format", "jsonl"}},
		{"hospital/patients/v1", []string{"ledger", "export", path, "--all", "--format", "csv"}},
		{"", []string{"ledger", "export", path, "--format", "csv"}},
		{"", []string{"ledger", "replay", path}},
		{"", []string{"ledger", "replay", path, "--json"}},
		{"3 note", []string{"ledger", "verify", path}},
		{"", []string{"ledger", "verify", path, "--json"}},
		{"", []string{"budget", "-p", policy}},
	} {
		r := command(c.args...).wants(t, 0)
		if !strings.Contains(r.out+r.err, c.says) {
			t.Errorf("%v does not say %q: %s", c.args, c.says, r.out)
		}
		for _, text := range salted {
			if strings.Contains(r.out+r.err, text) {
				t.Errorf("%v tells a note: %s", c.args, r.out)
			}
		}
	}
	if r := command("ledger", "show", path, "--dataset", "school").wants(t, 0); strings.Contains(r.out, "patients") {
		t.Errorf("a note of another dataset: %s", r.out)
	}
}
