package ownercmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/anchor"
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/openledger"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

type ledgerAnchorCmd struct {
	Policy  string `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	Write   bool   `help:"Write an anchor of the ledger as it is now." xor:"do"`
	Recover bool   `help:"Count as spent what the anchor knows and this ledger has lost." xor:"do"`
	Begin   bool   `help:"Begin a new anchor for a ledger whose anchor is lost for good." xor:"do"`
	GiveUp  bool   `help:"Record in the ledger that it has no anchor from now on." xor:"do"`
	Reason  string `help:"With --recover, --begin and --give-up: what happened, for the ledger." placeholder:"TEXT"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (ledgerAnchorCmd) Help() string {
	return `Shows where the anchor is, which record it names, how old it is, and whether the ledger holds that record. A
ledger without that record is an older copy of itself, or another ledger, and is not opened. Nor is a ledger whose
anchor is missing, or whose policy no longer names it: mount its volume, or write the key 'anchor' back. If the
anchor is lost for good, --begin makes another, and ends all sessions. To do without an anchor, run --give-up
before you remove the key. --write, --recover, --begin and --give-up need the ledger for themselves: stop the servers first.

  discreet ledger anchor --policy hospital.yaml
  discreet ledger anchor --policy hospital.yaml --write
  discreet ledger anchor --policy hospital.yaml --recover --reason 'the disk of 3 May was lost'
  discreet ledger anchor --policy hospital.yaml --begin --reason 'the disk of the anchor was lost'
  discreet ledger anchor --policy hospital.yaml --give-up --reason 'the anchor moves to a database'`
}

var errNoAnchor = console.Misuse(errors.New("the policy has no anchor, so nothing tells the ledger from an older copy of itself: " +
	"name a place for one with the key 'anchor', on another disk"))

// anchorState is an anchor beside the ledger that it is of.
type anchorState struct {
	Place  string         `json:"place"`
	Ledger string         `json:"ledger"`
	Anchor *ledger.Anchor `json:"anchor"` // nil where none was stored yet
	// Holds says whether the ledger holds the record that the anchor names, and Problem why not.
	Holds   bool   `json:"holds"`
	Problem string `json:"problem,omitempty"`
	// Ahead is how many records the ledger has after the one that the anchor names.
	Ahead uint64 `json:"ahead"`
}

func (c *ledgerAnchorCmd) Run(ctx context.Context, s console.Screen) error {
	if (c.Recover || c.Begin || c.GiveUp) == (c.Reason == "") {
		return console.Misuse(errors.New("give --reason 'what happened' with --recover, --begin and --give-up, and only with these"))
	}
	p, err := policy.Load(c.Policy)
	if err != nil {
		return err
	}
	place, release, err := anchor.Open(p)
	if err != nil {
		return err
	}
	defer release()
	if place == nil {
		if err := refuseUnanchored(p.Ledger, nil); err != nil {
			return err
		}
		return errNoAnchor
	}
	if c.Recover {
		return c.recover(s, p, place)
	}
	if c.Begin {
		if _, err := openledger.BeginAnchor(p, place, c.Reason); err != nil {
			return err
		}
	}
	if c.Write || c.GiveUp {
		// An anchor is stored when a ledger is opened, and when it is closed. The library does
		// it, because it counts a process that died: who closes a ledger in order takes away what
		// that is known by.
		db, err := discreet.Open(ctx, c.Policy)
		if err != nil {
			return err
		}
		if err := db.Close(); err != nil {
			return err
		}
	}
	if c.GiveUp {
		if err := openledger.GiveUpAnchor(p, place, c.Reason); err != nil {
			return err
		}
		if c.JSON {
			return console.PrintJSON(s.Out, map[string]any{"place": place.String(), "ledger": p.Ledger, "given_up": true})
		}
		fmt.Fprintf(s.Out, "%s has no anchor from now on. Remove the key 'anchor' from the policy, or the ledger gets one again when "+
			"it is next opened; then remove %s, which nothing reads any more\n", p.Ledger, render.Clean(place.String()))
		return nil
	}
	state, err := readAnchor(ctx, p.Ledger, place)
	if err != nil {
		return err
	}
	if state.Anchor != nil && !state.Holds {
		return &ledger.AnchorError{Path: p.Ledger, Anchorage: state.Place, Problem: state.Problem}
	}
	if c.JSON {
		return console.PrintJSON(s.Out, state)
	}
	state.print(s, s.Now())
	return nil
}

// recover counts the missing part as spent, and shows what was counted.
func (c *ledgerAnchorCmd) recover(s console.Screen, p *policy.Policy, place ledger.Anchorage) error {
	before, err := summarizeLedger(p.Ledger)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	done, err := openledger.Recover(p, place, c.Reason)
	if err != nil {
		return err
	}
	after, err := summarizeLedger(p.Ledger)
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"place": place.String(), "recovered": done, "before": before.Balances,
			"after": after.Balances})
	}
	known := map[string]ledger.Balance{}
	for _, b := range before.Balances {
		known[b.Account] = b
	}
	t := &render.Table{Header: []string{"account", "claim", "spent before", "spent now"}, Right: []bool{false, false, true, true}}
	for _, b := range after.Balances {
		old := known[b.Account].Spent
		for _, k := range []struct {
			name        string
			before, now string
		}{
			{"epsilon", old.Epsilon.Short(), b.Spent.Epsilon.Short()}, {"rho", old.Rho.Short(), b.Spent.Rho.Short()},
			{"delta", old.Delta.Short(), b.Spent.Delta.Short()},
		} {
			if k.before != k.now && k.now != dp.Unbounded.Short() {
				t.Add(b.Account, k.name, k.before, k.now)
			}
		}
	}
	fmt.Fprintln(s.Out, done)
	if len(t.Rows) > 0 {
		t.Write(s.Out)
	}
	return nil
}

// summarizeLedger reads a ledger, which need not be the one that its anchor knows.
func summarizeLedger(path string) (chain.Summary, error) {
	r, err := openledger.Read(path)
	if err != nil {
		return chain.Summary{}, err
	}
	defer r.Close()
	return r.Verify(nil)
}

func readAnchor(ctx context.Context, path string, at ledger.Anchorage) (anchorState, error) {
	state := anchorState{Place: at.String(), Ledger: path}
	a, ok, err := at.Load(ctx)
	if err != nil {
		return state, err
	}
	if !ok {
		state.Problem = "no anchor is stored yet; the ledger stores one when it is next opened"
		return state, refuseUnanchored(path, at)
	}
	state.Anchor = &a
	r, err := openledger.Read(path)
	if errors.Is(err, os.ErrNotExist) {
		state.Problem = fmt.Sprintf("the ledger is missing; it had %s", render.Count(int64(a.Sequence), "record"))
		return state, nil
	} else if err != nil {
		return state, err
	}
	defer r.Close()
	return state, state.compare(r, a)
}

// refuseUnanchored returns an error where a ledger, by its own records, has an anchor that is not
// in its place, or has no place.
func refuseUnanchored(path string, at ledger.Anchorage) error {
	r, err := openledger.Read(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer r.Close()
	return requireAnchor(r, at)
}

func requireAnchor(r openledger.Reader, at ledger.Anchorage) error {
	has, was, err := openledger.AnchorOf(r)
	if err != nil || !has {
		return err
	}
	refused := &ledger.UnanchoredError{Path: r.Path(), Was: was}
	if at != nil {
		refused.Anchorage = at.String()
	}
	return refused
}

// compare says whether the ledger holds an anchor.
func (k *anchorState) compare(r openledger.Reader, a ledger.Anchor) error {
	last, _ := r.Head()
	if a.Sequence > last {
		k.Problem = fmt.Sprintf("the anchor names record %d, but the ledger ends with record %d: it is an older copy", a.Sequence, last)
	}
	k.Ahead = last - min(a.Sequence, last)
	for line, err := range r.Records() {
		if err != nil {
			return err
		}
		switch record := line.Record; {
		case record.Kind == ledger.KindLedger && ledger.Hash(record.Identity) != a.Identity:
			k.Problem = "the anchor belongs to another ledger"
			return nil
		case record.Sequence == a.Sequence && line.Hash != a.Hash:
			k.Problem = fmt.Sprintf("record %d is not the one that the anchor names", a.Sequence)
			return nil
		case record.Sequence == a.Sequence:
			k.Holds = true
			return nil
		}
	}
	return nil
}

// checkAnchor compares a ledger with the anchor of its policy, and says where that is; nothing
// where there is none.
func checkAnchor(ctx context.Context, p *policy.Policy, r openledger.Reader) (string, error) {
	if p == nil {
		if has, _, err := openledger.AnchorOf(r); err != nil || !has {
			return "", err
		}
		return "it has one, which tells it from an older copy; name the policy to compare the two", nil
	}
	place, release, err := anchor.Open(p)
	if err != nil {
		return "", err
	}
	defer release()
	if place == nil {
		return "", requireAnchor(r, nil)
	}
	a, found, err := place.Load(ctx)
	if err != nil {
		return "", err
	}
	if !found {
		return place.String() + ", which has none yet", requireAnchor(r, place)
	}
	var state anchorState
	if err := state.compare(r, a); err != nil {
		return "", err
	}
	if !state.Holds {
		return "", &ledger.AnchorError{Path: p.Ledger, Anchorage: place.String(), Problem: state.Problem}
	}
	return place.String() + ", which the ledger holds", nil
}

func (k anchorState) print(s console.Screen, now time.Time) {
	fmt.Fprintf(s.Out, "anchor: %s\n", render.Clean(k.Place))
	if k.Anchor == nil {
		fmt.Fprintln(s.Out, k.Problem)
		return
	}
	a := k.Anchor
	fmt.Fprintf(s.Out, "record %d, %s\nwritten %s (UTC), %s\n", a.Sequence, render.Clean(a.Hash), console.Timestamp(a.Time),
		ageWords(now.Sub(a.Time)))
	fmt.Fprintf(s.Out, "%s holds it, and %s after it\n", k.Ledger, render.Count(int64(k.Ahead), "record"))
	if len(a.Most) == 0 {
		return
	}
	fmt.Fprintln(s.Out, "until the next anchor no account can have spent more than this; a lost ledger counts as having spent it:")
	t := &render.Table{Header: []string{"account", "epsilon", "rho", "delta"}, Right: []bool{false, true, true, true}}
	for _, m := range a.Most {
		t.Add(m.Account, m.Spent.Epsilon.Short(), m.Spent.Rho.Short(), m.Spent.Delta.Short())
	}
	t.Write(s.Out)
}

func ageWords(d time.Duration) string {
	switch {
	case d < 0:
		return "later than this machine's clock"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}
