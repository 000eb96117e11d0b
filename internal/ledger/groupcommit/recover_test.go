package groupcommit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

func anchoredLedger(t *testing.T, m *memory, place ledger.Anchorage) *memLedger {
	t.Helper()
	l := mustOpen(t, m)
	keeper := chain.NewAnchorKeeper(place, 1)
	keeper.SetNoteReader(l.ProtectsAt)
	noError(t, keeper.Open(ctx, l.Path, l.State, l.HashAt))
	l.Keeper = keeper
	return l
}

// A recovery counts what the anchor knows and the ledger has lost as spent, once, also where it
// died before its anchor was stored, and brings back whom charges protect.
func TestRecover(t *testing.T) {
	place := &ledgertest.MemoryAnchor{}
	m := newMemory()
	l := anchoredLedger(t, m, place)
	mustCharge(t, l, ask("before", hospital(100)))
	older := slices.Clone(m.lines)
	unanswered := mustCharge(t, l, ask("lost", hospital(100)))
	mustKeep(t, l, unanswered.Sequence, "key", "42")
	mustNote(t, l, ledger.ProtectsNotes("hospital", 0), "patients")
	recovery := func() (Recovered, error) {
		l := mustOpen(t, m)
		return Recovery{Committer: l.Committer, Keeper: chain.NewAnchorKeeper(place, 1), Reason: "a backup"}.
			Recover(ctx, false, m.records())
	}
	if r, err := recovery(); err != nil || r.Problem != "" || !strings.Contains(r.String(), "nothing was changed") {
		t.Errorf("recovered what is fine: %v, %v", r, err)
	}
	m.lines = older
	place.Before = func(ledger.Anchor) { place.Fail = errors.New("away") }
	if _, err := recovery(); err == nil {
		t.Fatal("recovered without an anchor")
	}
	place.Before, place.Fail = nil, nil
	r, err := recovery()
	if err != nil || !r.Counted || !strings.Contains(r.Problem, "it is older") {
		t.Fatalf("%+v, %v", r, err)
	}
	l = anchoredLedger(t, m, place)
	if n := spent(t, l, "hospital"); n != 2 {
		t.Errorf("%d counts as spent; want 2", n)
	}
	if all, err := l.Notes(ctx, ledger.ProtectsNotes("hospital", 0)); err != nil || fmt.Sprintf("%s", all) != "[patients]" {
		t.Errorf("whom charges protect: %q, %v", all, err)
	}
	if era, err := l.Era(ctx); err != nil || era == "" {
		t.Errorf("the era is %q, %v", era, err)
	}
	ledgertest.DecideAgain(t, m.records())
}

// Where something is written between what was counted and its record, the recovery is not written.
func TestRecoverMeanwhile(t *testing.T) {
	l := fresh(t)
	at := l.State.Clone()
	mustCharge(t, l, ask("meanwhile", hospital(1)))
	if _, err := l.enterAt(ctx, at, ledger.Recovery{Reason: "why"}); !errors.Is(err, ledger.ErrBehind) {
		t.Errorf("got %v; want ErrBehind", err)
	}
}

// What cannot be done to an anchor is refused before anything is opened.
func TestChecks(t *testing.T) {
	none, away := &ledgertest.MemoryAnchor{}, &ledgertest.MemoryAnchor{Fail: errors.New("away")}
	there := &ledgertest.MemoryAnchor{Anchor: &ledger.Anchor{}}
	long := strings.Repeat("x", maxGiveUp+1)
	for _, c := range []struct {
		name string
		err  error
		want string // in it; nothing where there is none
	}{
		{"recover without a place", CheckRecover(ctx, nil, "a", "why"), "place of the anchor"},
		{"recover without a reason", CheckRecover(ctx, there, "a", ""), "reason"},
		{"recover without an anchor", CheckRecover(ctx, none, "a", "why"), "no anchor in"},
		{"recover without an answer", CheckRecover(ctx, away, "a", "why"), "could not be read"},
		{"recover", CheckRecover(ctx, there, "a", "why"), ""},
		{"begin without a place", CheckBeginAnchor(ctx, nil, "why"), "place of the anchor"},
		{"begin without a reason", CheckBeginAnchor(ctx, none, ""), "reason"},
		{"begin over another", CheckBeginAnchor(ctx, there, "why"), "there is an anchor"},
		{"begin without an answer", CheckBeginAnchor(ctx, away, "why"), "could not be read"},
		{"begin", CheckBeginAnchor(ctx, none, "why"), ""},
		{"give up without a place", CheckGiveUpAnchor(nil, "why"), "place of the anchor"},
		{"give up without a reason", CheckGiveUpAnchor(there, ""), "reason"},
		{"give up for a long reason", CheckGiveUpAnchor(there, long), "bytes long"},
		{"give up", CheckGiveUpAnchor(there, "why"), ""},
	} {
		if (c.err != nil) != (c.want != "") || c.err != nil && !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: got %v; want %q", c.name, c.err, c.want)
		}
	}
}

// A ledger begins another anchor, by which its sessions end, and says when it gives one up.
func TestBeginAndGiveUpAnchor(t *testing.T) {
	m := newMemory()
	l := mustOpen(t, m)
	mustNote(t, l, "session", "secret")
	mustNote(t, l, ledger.AnchorNotes, "elsewhere")
	place := &ledgertest.MemoryAnchor{}
	r, err := Recovery{Committer: l.Committer, Keeper: chain.NewAnchorKeeper(place, 1), Reason: "lost"}.BeginAnchor(ctx)
	if err != nil || place.Anchor.Sequence != r.Sequence || place.Anchor.Hash != r.Hash || r.Sequence != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := l.Notes(ctx, "session"); !errors.Is(err, ledger.ErrEra) {
		t.Errorf("a session goes on: %v", err)
	}
	if !l.State.Notes.Anchored() {
		t.Error("the ledger does not know its anchor")
	}
	if err := (Recovery{Committer: l.Committer, Reason: "why"}).GiveUpAnchor(ctx); err != nil || l.State.Notes.Anchored() {
		t.Errorf("given up: %v", err)
	}
}
