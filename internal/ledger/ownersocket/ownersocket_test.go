package ownersocket

import (
	"context"
	"crypto/ed25519"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

var (
	ctx     = context.Background()
	noError = ledgertest.NoError
	key     = ledgertest.OwnerKey
)

// opened returns a ledger in a file that is open here, with its listener, and a client of it.
func opened(t *testing.T) (*sqlite.Ledger, *Client) {
	t.Helper()
	l, err := sqlite.Open(filepath.Join(t.TempDir(), "a.ledger"))
	noError(t, err)
	t.Cleanup(func() { l.Close() })
	for i := range 200 {
		r := ledgertest.MustCharge(t, l, ledgertest.Ask(fmt.Sprint(i), ledgertest.Hospital(1000)))
		ledgertest.MustKeep(t, l, r.Sequence, fmt.Sprint("key ", i), strings.Repeat("answer", i+1))
	}
	h, err := Open(l, l.Path, nil)
	noError(t, err)
	t.Cleanup(func() { h.Close() })
	return l, dial(t, l.Path)
}

func dial(t *testing.T, path string) *Client {
	t.Helper()
	v, there, err := Dial(path)
	if err != nil || !there {
		t.Fatal(there, err)
	}
	return v
}

// Everything that an owner enters arrives, signed by the owner's key, and by no other.
func TestEnter(t *testing.T) {
	l, v := opened(t)
	far := v.Ledger()
	topup := func(signer byte) ledger.TopUp {
		return ledger.TopUp{Accounts: []string{"hospital"}, Amount: dp.Cost{Rho: dp.One}, Reason: "more", Signer: key(signer)}
	}
	public := func(n byte) ed25519.PublicKey { return key(n).Public().(ed25519.PublicKey) }
	if _, err := l.Fail(ctx, ledger.Incident{Analyst: "eve", Dataset: "hospital", Failure: ledger.FailedError, ByAnalyst: 1,
		ByDataset: 5}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		e    ledger.Entry
		want string // in the error
	}{
		{topup(1), "no owner yet"},
		{ledger.Owner{Public: public(1), Reason: "begin"}, ""},
		{topup(2), "not that of the ledger's owner"},
		{topup(1), ""},
		{ledger.Owner{Public: public(2), Reason: "Kim has left"}, "signature"},
		{ledger.Owner{Public: public(2), Reason: "Kim has left", Signer: key(1)}, ""},
		{topup(1), "not that of the ledger's owner"},
		{topup(2), ""},
		{ledger.Release{Dataset: "hospital", Analyst: "eve", Reason: "looked at"}, "takes the owner's key"},
		{ledger.Release{Dataset: "hospital", Analyst: "eve", Reason: "looked at", Signer: key(2)}, ""},
		{ledger.Renewal{Dataset: "hospital", From: 2, Reason: "a month"}, "window"},
		{ledger.Renewal{Dataset: "hospital", From: 1, Reason: "a month"}, ""},
		{ledger.Renewal{Dataset: "hospital", From: 0, Reason: "a month"}, "window"},
		{ledger.Recovery{Reason: "why"}, "no server"},
	} {
		r, err := far.Enter(ctx, step.e)
		switch {
		case step.want == "" && err != nil, step.want != "" && (err == nil || !strings.Contains(err.Error(), step.want)):
			t.Errorf("%T: got %v; want %q", step.e, err, step.want)
		case err == nil:
			if n, hash, _ := l.Head(ctx); n != r.Sequence || hash != r.Hash {
				t.Errorf("%T: the receipt is of record %d, and the ledger ends with %d", step.e, r.Sequence, n)
			}
		}
	}
	b, err := far.Balances(ctx, []ledger.Account{ledgertest.Hospital(1000)})
	near, _ := l.Balances(ctx, []ledger.Account{ledgertest.Hospital(1000)})
	if err != nil || len(b) != 1 || b[0] != near[0] || b[0].Granted.Rho != 2*dp.One {
		t.Errorf("%+v, %v; want %+v", b, err, near)
	}
	if n, err := far.Window(ctx, "hospital"); n != 2 || err != nil {
		t.Errorf("window %d, %v", n, err)
	}
	if d, err := far.Lockout(ctx, "hospital", "eve"); d.Closed || err != nil {
		t.Errorf("%+v, %v", d, err)
	}
}

// A client reads one moment, all of it, and analysts' questions do not go through.
func TestRead(t *testing.T) {
	l, v := opened(t)
	n, hash := v.Head()
	ledgertest.MustCharge(t, l, ledgertest.Ask("later", ledgertest.Hospital(1000)))
	s, err := v.Verify(nil)
	if err != nil || s.Records != n || s.Head != hash || s.Charges != 200 || s.Answers != 200 {
		t.Errorf("%+v, %v", s.Report, err)
	}
	records := 0
	for r, err := range v.Ledger().Records(ctx, 10) {
		if err != nil || r.Sequence != uint64(10+records) {
			t.Fatalf("record %d, %v", r.Sequence, err)
		}
		records++
	}
	if records != 401+1-10 {
		t.Errorf("%d records", records)
	}
	for what, err := range map[string]error{
		"charge": ledgertest.ErrOf(v.Ledger().Charge(ctx, ledgertest.Ask("x", ledgertest.Hospital(1000)))),
		"keep":   v.Ledger().Keep(ctx, 1, "key", []byte("42")),
		"note":   v.Ledger().Note(ctx, "session", []byte("42")),
	} {
		if !errors.Is(err, ledger.ErrBusy) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Nobody is behind a socket that a process left which was killed.
func TestNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ledger")
	if _, there, err := Dial(path); there || err != nil {
		t.Error(there, err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket(path)})
	noError(t, err)
	listener.SetUnlinkOnClose(false)
	listener.Close()
	noError(t, ledgertest.ErrOf(os.Stat(socket(path))))
	if _, there, err := Dial(path); there || err != nil {
		t.Error(there, err)
	}
}

// Who has asked for a top-up and does not sign it holds up the ledger for a moment, and no longer.
func TestNoSignature(t *testing.T) {
	was := patience
	patience = 200 * time.Millisecond
	t.Cleanup(func() { patience = was })
	l, v := opened(t)
	noError(t, ledgertest.ErrOf(v.Ledger().Enter(ctx, ledger.Owner{Public: key(1).Public().(ed25519.PublicKey), Reason: "begin"})))
	p, _, err := pack(ledger.TopUp{Accounts: []string{"hospital"}, Amount: dp.Cost{Rho: dp.One}, Reason: "more", Signer: key(1)})
	noError(t, err)
	c, in, err := v.begin(ctx, message{Want: wantEntry, Entry: p})
	noError(t, err)
	defer c.Close()
	if m, err := in.next(); err != nil || m.Sign == nil {
		t.Fatal(m, err)
	}
	begun := time.Now()
	ledgertest.MustCharge(t, l, ledgertest.Ask("meanwhile", ledgertest.Hospital(1000)))
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it waited for %v", took)
	}
}

func impostor(t *testing.T, answer func(message) message) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.ledger")
	listener, err := net.Listen("unix", socket(path))
	noError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			var m message
			if gob.NewDecoder(c).Decode(&m) == nil {
				_ = gob.NewEncoder(c).Encode(answer(m))
			}
			c.Close()
		}
	}()
	return dial(t, path)
}

// Nothing is signed but what was asked for.
func TestSignsNothingElse(t *testing.T) {
	asked := ledger.TopUp{Accounts: []string{"hospital"}, Amount: dp.Cost{Rho: 5}, Reason: "more", Signer: key(1)}
	record := func(change func(*ledger.Record)) []byte {
		r := &ledger.Record{Kind: ledger.KindTopUp, Time: time.Now(), Accounts: asked.Accounts, Cost: asked.Amount,
			Reason: asked.Reason, PublicKey: fmt.Sprintf("%x", []byte(key(1).Public().(ed25519.PublicKey)))}
		change(r)
		return r.Signed(ledger.Position{Sequence: 7, Hash: strings.Repeat("0", 64)})
	}
	p, _, err := pack(asked)
	noError(t, err)
	noError(t, p.checkAsked(record(func(*ledger.Record) {})))
	for name, sign := range map[string][]byte{
		"more":           record(func(r *ledger.Record) { r.Cost.Rho = 6 }),
		"another limit":  record(func(r *ledger.Record) { r.Accounts = []string{"hospital/eve"} }),
		"another reason": record(func(r *ledger.Record) { r.Reason = "less" }),
		"another owner":  record(func(r *ledger.Record) { r.Kind = ledger.KindOwner }),
		"a release":      record(func(r *ledger.Record) { r.Kind, r.Dataset = ledger.KindRelease, "hospital" }),
		"anything":       []byte("anything"),
	} {
		v := impostor(t, func(m message) message {
			if m.Want == wantEntry {
				return message{Sign: sign}
			}
			return message{}
		})
		if _, err := v.Ledger().Enter(ctx, asked); err == nil {
			t.Errorf("%s was signed", name)
		} else if strings.Contains(err.Error(), "gone") {
			t.Errorf("%s: a signature was sent: %v", name, err)
		}
	}
}

// TestNoKeyLeaves: no entry is packed together with the key that signs it.
func TestNoKeyLeaves(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	if _, _, err := pack(ledger.Renewal{Dataset: "d", From: 1, Reason: "r", Signer: key}); err == nil {
		t.Error("a renewal is packed with its key")
	}
	if p, _, err := pack(ledger.TopUp{Reason: "r", Signer: key}); err != nil || p.TopUp.Signer != nil {
		t.Error("a top-up is packed with its key", err)
	}
	if p, _, err := pack(ledger.Release{Reason: "r", Signer: key}); err != nil || p.Release.Signer != nil {
		t.Error("a release is packed with its key", err)
	}
}

// A reload takes as long as it takes, and what is said of it comes back; also that it failed, and
// that this server has none.
func TestReload(t *testing.T) {
	before := patience
	patience = 20 * time.Millisecond
	defer func() { patience = before }()
	l, client := opened(t)
	if _, err := client.Reload(ctx, "/policy.yaml", false); err == nil || !strings.Contains(err.Error(), "restart it") {
		t.Error(err)
	}
	noError(t, os.Remove(socket(l.Path)))
	h, err := Open(l, l.Path, func(_ context.Context, file string, trial bool) ([]byte, error) {
		time.Sleep(10 * patience) // more than anybody waits for one message
		if !trial {
			return nil, errors.New("the policy has a mistake")
		}
		return []byte("nothing has changed in " + file), nil
	})
	noError(t, err)
	defer h.Close()
	if said, err := client.Reload(ctx, "/policy.yaml", true); err != nil || string(said) != "nothing has changed in /policy.yaml" {
		t.Errorf("%q, %v", said, err)
	}
	if said, err := client.Reload(ctx, "/policy.yaml", false); err == nil || err.Error() != "the policy has a mistake" || said != nil {
		t.Errorf("%q, %v", said, err)
	}
}
