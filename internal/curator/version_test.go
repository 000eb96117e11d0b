package curator

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/ledger"
)

// TestVersionIsNamed: answers say which version of the data they are about, by a number, and the
// first one after a change says that there was one.
func TestVersionIsNamed(t *testing.T) {
	w := newWorld(t, plenty)
	load := func(h *hospital.Hospital) { w.check(h.Write(filepath.Join(w.dir, "data"))) }
	full, less := hospital.New(200, 1), hospital.New(200, 1).Without(hospital.Target)
	asks := func(text string, number uint64, noted bool) {
		t.Helper()
		a := w.mustAsk(text)
		note := fmt.Sprintf("the data, or how the policy reads it, has changed: answers with receipts before %d are about other data",
			a.Receipt.Sequence)
		if a.Version != (api.DataVersion{Number: number}) || slices.Contains(a.Notes, note) != noted {
			t.Errorf("%s: version %v, notes %q", text, a.Version, a.Notes)
		}
	}
	asks(byAge(1), 1, false)
	asks(byAge(1), 1, false) // free
	asks(byAge(2), 1, false)
	load(less)
	asks(byAge(1), 2, true)
	asks(byAge(1), 2, false)
	asks(byAge(2), 2, false)
	// The data is again what it was, and so is its number, in an answer that is remembered and in a
	// new one.
	load(full)
	asks(byAge(2), 1, false)
	asks(byAge(3), 1, true)
	load(hospital.New(200, 2))
	asks(byAge(1), 3, true)
	w.reopen()
	asks(byAge(1), 3, false)
	load(less)
	asks(byAge(1), 2, false)
	// The same contents, written once more, are no other version.
	load(less)
	asks(byAge(2), 2, false)
	asks(byAge(4), 2, true)
	asks(byAge(5), 2, false)
}

// guess rebuilds, from what an analyst can know, the hash of a charge that came with a new version
// of the data, and reports whether it is that of the receipt. All is known but the version: the
// time to the nanosecond, what every account has spent, and the hash of the record before.
func guess(t *testing.T, records []*ledger.Record, receipt api.Receipt, version string) bool {
	t.Helper()
	changed, charge := *records[receipt.Sequence-1], *records[receipt.Sequence]
	if changed.Kind != ledger.KindVersion || charge.Kind != ledger.KindCharge {
		t.Fatalf("records %v and %v", changed.Kind, charge.Kind)
	}
	changed.DataVersion, charge.DataVersion = version, version
	charge.Previous = ledger.Hash(changed.Encode())
	return ledger.Hash(charge.Encode()) == receipt.Hash
}

// TestReceiptConfirmsNoGuess: who knows the contents of all files, but for one person, cannot find
// out from receipts which of two databases it is.
func TestReceiptConfirmsNoGuess(t *testing.T) {
	w := newWorld(t, plenty)
	w.mustAsk(byAge(1))
	w.check(hospital.New(200, 1).Without(hospital.Target).Write(filepath.Join(w.dir, "data")))
	a := w.mustAsk(byAge(1))
	state, err := w.data.Version(ctx) // what the attacker's guess would have
	w.check(err)
	contents := state.Key()
	var records []*ledger.Record
	for r, err := range w.books.Records(ctx, 0) {
		w.check(err)
		records = append(records, r)
	}
	if guess(t, records, a.Receipt, contents) {
		t.Error("a receipt confirms a guess of the contents")
	}
	for _, identity := range []string{"", "hospital", records[0].Identity[:31] + "x"} {
		if guess(t, records, a.Receipt, ledger.VersionID(identity, "hospital", contents)) {
			t.Error("a receipt confirms a guess without the key")
		}
	}
	// The attack itself works: with the key it finds out.
	if !guess(t, records, a.Receipt, ledger.VersionID(records[0].Identity, "hospital", contents)) {
		t.Error("the attack does not rebuild the receipt, so that it fails says nothing")
	}
	// The ledger itself holds no hash of the contents.
	for _, r := range records {
		if strings.Contains(r.Encode(), contents) {
			t.Errorf("record %d holds the hash of the contents", r.Sequence)
		}
	}
}

// TestNobodyIsShownTheVersion: nothing that an analyst gets holds the hash of the contents, what it
// is called in the ledger, or the key.
func TestNobodyIsShownTheVersion(t *testing.T) {
	h := restless(60, 1)
	p := newPair(t, hospital.Dataset("hospital", "data", plenty), h, h.Without(hospital.Target))
	var all []string
	for _, w := range []*world{p.a, p.b} {
		state, err := w.data.Version(ctx)
		w.check(err)
		contents := state.Key()
		var identity string
		for r, err := range w.books.Records(ctx, 0) {
			w.check(err)
			identity = r.Identity
			break
		}
		hidden := []string{contents, identity, ledger.VersionID(identity, "hospital", contents)}
		var shown strings.Builder
		for _, text := range []string{byAge(1), byAge(1), "SELECT zip, COUNT(*) FROM patients GROUP BY zip", "SELECT nothing FROM patients",
			"SELECT COUNT(*) FROM patients; SELECT 1"} {
			q := api.Question{Analyst: "ana", SQL: text, Request: freshID()}
			a, err := w.Ask(ctx, q)
			e, err2 := w.Explain(ctx, q)
			for _, x := range []any{a, e} {
				b, err := json.Marshal(x)
				w.check(err)
				shown.Write(b)
			}
			fmt.Fprintln(&shown, err, err2)
			if a != nil && a.Version != (api.DataVersion{Number: 1}) {
				t.Errorf("%s: version %v", text, a.Version)
			}
		}
		for _, secret := range hidden {
			if len(secret) < 32 || strings.Contains(shown.String(), secret) {
				t.Errorf("%q is shown, or is nothing", secret)
			}
		}
		all = append(all, hidden...)
	}
	if all[0] == all[3] {
		t.Error("the neighbours have one version, so the test says nothing")
	}
}
