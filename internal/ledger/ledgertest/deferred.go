package ledgertest

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Promise12SignedElsewhere: an entry is drafted, signed where the key is, and written where nothing
// came in between; nothing else is written, and a draft writes nothing.
func Promise12SignedElsewhere(t *testing.T, w World) {
	l := w.Open(t)
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat("o", ed25519.SeedSize)))
	other := ed25519.NewKeyFromSeed([]byte(strings.Repeat("x", ed25519.SeedSize)))
	window := uint64(1)
	entries := map[string]func(ledger.Deferred) ledger.Entry{
		"a top-up": func(d ledger.Deferred) ledger.Entry {
			return ledger.TopUp{Accounts: []string{"hospital"}, Amount: dp.Cost{Epsilon: dp.One}, Reason: "more", Signer: d}
		},
		"a renewal": func(d ledger.Deferred) ledger.Entry {
			return ledger.Renewal{Dataset: "hospital", From: window, Reason: "a month", Signer: d}
		},
		"a release": func(d ledger.Deferred) ledger.Entry {
			return ledger.Release{Dataset: "hospital", Reason: "looked at", Signer: d}
		},
	}
	var wrong *ledger.SignatureError
	for name, entry := range entries {
		if _, err := l.Enter(ctx, entry(ledger.Deferred{})); !errors.As(err, &wrong) {
			t.Errorf("%s without an owner: %v", name, err)
		}
	}
	if _, err := l.Enter(ctx, ledger.Owner{Public: key.Public().(ed25519.PublicKey), Reason: "the first"}); err != nil {
		t.Fatal(err)
	}
	for name, entry := range entries {
		before, _, _ := l.Head(ctx)
		text := draft(t, l, entry)
		if after, _, _ := l.Head(ctx); after != before {
			t.Errorf("drafting %s wrote %d records", name, after-before)
		}
		for _, bad := range []ledger.Deferred{
			{Text: text, Signature: ed25519.Sign(other, []byte(text))},
			{Text: text, Signature: []byte{}},
			{Text: "x", Signature: ed25519.Sign(key, []byte("x"))},
			{Text: text + "x", Signature: ed25519.Sign(key, []byte(text+"x"))},
		} {
			if _, err := l.Enter(ctx, entry(bad)); !errors.As(err, &wrong) {
				t.Errorf("%s, badly signed: %v", name, err)
			}
		}
		MustNote(t, l, "another", "record in between")
		var stale *ledger.StaleError
		if _, err := l.Enter(ctx, entry(signed(key, text))); !errors.As(err, &stale) || stale.Sequence != before+1 || stale.Old {
			t.Errorf("%s, after another record: %v", name, err)
		}
		var old ledger.Record
		if err := old.DecodeSigned(draft(t, l, entry)); err != nil {
			t.Fatal(err)
		}
		old.Time = old.Time.Add(-ledger.DraftHolds - time.Minute)
		if _, err := l.Enter(ctx, entry(signed(key, string(old.Signed())))); !errors.As(err, &stale) || !stale.Old {
			t.Errorf("%s, drafted long ago: %v", name, err)
		}
		text = draft(t, l, entry)
		r, err := l.Enter(ctx, entry(signed(key, text)))
		if err != nil || r.Sequence != before+2 {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		for record, err := range l.Records(ctx, r.Sequence) {
			if err != nil || string(record.Signed()) != text {
				t.Errorf("%s: what was written is not what was signed: %v", name, err)
			}
		}
		if name == "a renewal" {
			window++
		}
		if _, err := l.Enter(ctx, entry(signed(key, text))); !errors.As(err, &stale) {
			t.Errorf("%s, a second time: %v", name, err)
		}
	}
	MustClose(t, l)
	MustClose(t, w.Open(t))
}

// draft returns what there is to sign.
func draft(t *testing.T, l ledger.Ledger, entry func(ledger.Deferred) ledger.Entry) string {
	t.Helper()
	var d *ledger.DraftError
	if _, err := l.Enter(ctx, entry(ledger.Deferred{})); !errors.As(err, &d) {
		t.Fatalf("no draft: %v", err)
	}
	return d.Text
}

func signed(key ed25519.PrivateKey, text string) ledger.Deferred {
	return ledger.Deferred{Text: text, Signature: ed25519.Sign(key, []byte(text))}
}
