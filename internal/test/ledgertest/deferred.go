package ledgertest

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// OwnerKey is the key of the n-th owner of a ledger.
func OwnerKey(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

var ownerKey = OwnerKey(1)

func ownedLedger(t *testing.T, w World) ledger.Ledger {
	t.Helper()
	l := w.Open(t)
	NoError(t, ErrOf(l.Enter(ctx, ledger.Owner{Public: ownerKey.Public().(ed25519.PublicKey), Reason: "the first"})))
	return l
}

// decision is something that an owner signs for.
type decision struct {
	name  string
	entry func(ledger.Deferred) ledger.Entry
}

// ownersDecisions are the three kinds. A renewal is from the window that the number is.
func ownersDecisions(window *uint64) []decision {
	return []decision{
		{"a top-up", func(d ledger.Deferred) ledger.Entry {
			return ledger.TopUp{Accounts: []string{"hospital"}, Amount: dp.Cost{Epsilon: dp.One}, Reason: "more", Signer: d}
		}},
		{"a renewal", func(d ledger.Deferred) ledger.Entry {
			return ledger.Renewal{Dataset: "hospital", From: *window, Reason: "a month", Signer: d}
		}},
		{"a release", func(d ledger.Deferred) ledger.Entry {
			return ledger.Release{Dataset: "hospital", Reason: "looked at", Signer: d}
		}},
	}
}

// Promise12SignedElsewhere: an entry is drafted, signed where the key is, and written; nothing else
// is written, and a draft writes nothing.
func Promise12SignedElsewhere(t *testing.T, w World) {
	other := ed25519.NewKeyFromSeed([]byte(strings.Repeat("x", ed25519.SeedSize)))
	window := uint64(1)
	entries := ownersDecisions(&window)
	var wrong *ledger.SignatureError
	l := w.Open(t)
	for _, e := range entries {
		if _, err := l.Enter(ctx, e.entry(ledger.Deferred{})); !errors.As(err, &wrong) {
			t.Errorf("%s without an owner: %v", e.name, err)
		}
	}
	MustClose(t, l)
	l = ownedLedger(t, w)
	for _, e := range entries {
		name, entry := e.name, e.entry
		before, hash, _ := l.Head(ctx)
		text := draft(t, l, entry)
		if after, _, _ := l.Head(ctx); after != before {
			t.Errorf("drafting %s wrote %d records", name, after-before)
		}
		for _, bad := range []ledger.Deferred{
			{Text: text, Signature: ed25519.Sign(other, []byte(text))},
			{Text: text, Signature: []byte{}},
			{Text: "x", Signature: ed25519.Sign(ownerKey, []byte("x"))},
			{Text: text + "x", Signature: ed25519.Sign(ownerKey, []byte(text+"x"))},
		} {
			if _, err := l.Enter(ctx, entry(bad)); !errors.As(err, &wrong) {
				t.Errorf("%s, badly signed: %v", name, err)
			}
		}
		var old ledger.Record
		NoError(t, old.DecodeSigned(text))
		follows := ledger.Position{Sequence: before, Hash: hash}
		old.Time = old.Time.Add(-ledger.DraftHolds - time.Minute)
		var stale *ledger.StaleError
		if _, err := l.Enter(ctx, entry(signed(string(old.Signed(follows))))); !errors.As(err, &stale) || !stale.Old {
			t.Errorf("%s, drafted long ago: %v", name, err)
		}
		r, err := l.Enter(ctx, entry(signed(text)))
		if err != nil || r.Sequence != before+1 {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		for record, err := range l.Records(ctx, r.Sequence) {
			if err != nil || string(record.Signed(follows)) != text {
				t.Errorf("%s: what was written is not what was signed: %v", name, err)
			}
		}
		if name == "a renewal" {
			window++
		}
		if _, err := l.Enter(ctx, entry(signed(text))); !errors.As(err, &stale) || stale.After != before || stale.Last != r.Sequence {
			t.Errorf("%s, a second time: %v", name, err)
		}
	}
	MustClose(t, l)
	MustClose(t, w.Open(t))
}

// Promise12BesideAnalysts: what analysts cause between a draft and its signature does not matter. A
// signature counts once, in one ledger, and only as long as its owner has decided nothing else; a
// release only as long as nothing else has failed.
func Promise12BesideAnalysts(t *testing.T, w, another World) {
	l := ownedLedger(t, w)
	account := Hospital(10_000)
	asked := 0
	records := func() {
		t.Helper()
		for range 5 {
			asked++
			c := Ask(fmt.Sprintf("question %d", asked), account)
			c.Analyst, c.DataVersion = "ben", fmt.Sprint("version ", asked)
			c.Window, _ = l.Window(ctx, "hospital")
			paid := MustCharge(t, l, c)
			MustNote(t, l, ledger.ChargeNotes(paid.Sequence), "it is below")
			MustKeep(t, l, paid.Sequence, fmt.Sprint("key ", asked), "42")
		}
	}
	fails := func() {
		t.Helper()
		records()
		ana := Ask(fmt.Sprintf("fails %d", asked), account)
		ana.DataVersion = fmt.Sprint("version ", asked)
		ana.Window, _ = l.Window(ctx, "hospital")
		i := failure(MustCharge(t, l, ana).Sequence)
		i.ByAnalyst, i.ByDataset = 100, 100
		if tell, err := l.Fail(ctx, i); err != nil || !tell {
			t.Fatal(tell, err)
		}
	}
	window := uint64(1)
	var stale *ledger.StaleError
	var bad *ledger.SignatureError
	far := ownedLedger(t, another)
	for _, e := range ownersDecisions(&window) {
		fails()
		text := draft(t, l, e.entry)
		records()
		MustClose(t, l)
		l = w.Open(t) // which reads what is signed for anew
		for {
			from, err := far.Window(ctx, "hospital")
			NoError(t, err)
			if from >= window {
				break
			}
			MustRenew(t, far, "hospital", from)
		}
		if _, err := far.Enter(ctx, e.entry(signed(text))); !errors.As(err, &stale) && !errors.As(err, &bad) {
			t.Errorf("%s in another ledger: %v", e.name, err)
		}
		if _, err := l.Enter(ctx, e.entry(signed(text))); err != nil {
			t.Errorf("%s, after questions of analysts: %v", e.name, err)
		}
		window, _ = l.Window(ctx, "hospital")
		records()
		if _, err := l.Enter(ctx, e.entry(signed(text))); !errors.As(err, &stale) {
			t.Errorf("%s, a second time: %v", e.name, err)
		}
		text = draft(t, l, e.entry)
		fails()
		_, err := l.Enter(ctx, e.entry(signed(text)))
		if e.name == "a release" && !errors.As(err, &stale) || e.name != "a release" && err != nil {
			t.Errorf("%s, after something failed: %v", e.name, err)
		}
		window, _ = l.Window(ctx, "hospital")
		for _, between := range ownersDecisions(&window) {
			text := draft(t, l, e.entry)
			NoError(t, ErrOf(l.Enter(ctx, between.entry(signed(draft(t, l, between.entry))))))
			window, _ = l.Window(ctx, "hospital")
			if _, err := l.Enter(ctx, e.entry(signed(text))); !errors.As(err, &stale) {
				t.Errorf("%s, after %s: %v", e.name, between.name, err)
			}
		}
	}
	MustClose(t, l)
	w.Verify(t)
	MustClose(t, w.Open(t))
}

func draft(t *testing.T, l ledger.Ledger, entry func(ledger.Deferred) ledger.Entry) string {
	t.Helper()
	var d *ledger.DraftError
	if _, err := l.Enter(ctx, entry(ledger.Deferred{})); !errors.As(err, &d) {
		t.Fatalf("no draft: %v", err)
	}
	return d.Text
}

// signed is the owner's signature under a draft.
func signed(text string) ledger.Deferred {
	return ledger.Deferred{Text: text, Signature: ed25519.Sign(ownerKey, []byte(text))}
}
