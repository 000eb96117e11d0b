package postgres

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

// TestNewerLedger: a ledger that a newer version made, or took over, is refused in words, for
// reading and for writing; a server that has it open writes nothing more.
func TestNewerLedger(t *testing.T) {
	at := address(t)
	l := open(t, at, Options{})
	mustCharge(t, l, ask("before", hospital(100)))
	check := func(err error, says string) {
		t.Helper()
		if !errors.As(err, new(*ledger.CorruptError)) || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "is damaged") {
			t.Errorf("%v; want %q", err, says)
		}
	}
	refused := func(says string) {
		t.Helper()
		_, err := OpenWith(at, Options{})
		check(err, says)
		_, err = Read(at)
		check(err, says)
	}
	noError(t, ledgertest.ErrOf(l.database.do("UPDATE ledger.head SET format = 2")))
	refused("has the format 2, as Discreet development writes it. This is Discreet development, which reads the format 1. Nothing was " +
		"changed.")
	noError(t, ledgertest.ErrOf(l.database.do("COMMENT ON TABLE ledger.head IS 'a ledger of Discreet 0.9.1'")))
	refused("has the format 2, as Discreet 0.9.1 writes it. This")
	noError(t, ledgertest.ErrOf(l.database.do("COMMENT ON TABLE ledger.head IS 'ours'")))
	refused("has the format 2. This")

	_, err := l.Charge(ctx, ask("after", hospital(100)))
	if err == nil || !strings.Contains(err.Error(), "has the format 2. This") {
		t.Errorf("a server that runs has charged, or says %v", err)
	}
	noError(t, ledgertest.ErrOf(l.database.do("UPDATE ledger.head SET format = 1")))
	if _, err := l.Charge(ctx, ask("later", hospital(100))); err == nil {
		t.Error("a server that has stopped charges again")
	}
	if r := verify(t, at); r.Charges != 1 {
		t.Errorf("%d charges", r.Charges)
	}
}

// TestServersOfTheSchema: what docs/upgrade.md tells an owner to look at is there.
func TestServersOfTheSchema(t *testing.T) {
	text, err := os.ReadFile("../../../docs/upgrade.md")
	noError(t, err)
	const query = "SELECT server, host, seen FROM discreet.servers WHERE state = 'serving'"
	if !strings.Contains(string(text), query) {
		t.Fatal("docs/upgrade.md has another query")
	}
	l := open(t, address(t), Options{})
	noError(t, ledgertest.ErrOf(l.database.do(strings.Replace(query, "discreet.", "ledger.", 1))))
}
