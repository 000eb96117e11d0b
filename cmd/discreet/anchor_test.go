package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/ledger/sqlite"
	"github.com/discreet-dp/discreet/policy"
)

// drawer is a place for one anchor.
type drawer struct {
	anchor *ledger.Anchor
	err    error
}

func (d *drawer) Load(context.Context) (ledger.Anchor, bool, error) {
	if d.anchor == nil || d.err != nil {
		return ledger.Anchor{}, false, d.err
	}
	return *d.anchor, true, nil
}

func (d *drawer) Store(_ context.Context, a ledger.Anchor) error { d.anchor = &a; return nil }
func (d *drawer) String() string                                 { return "the drawer" }

// anchored puts a drawer where anchors are kept until the test ends.
func anchored(t *testing.T) *drawer {
	before := anchoring
	t.Cleanup(func() { anchoring = before })
	d := &drawer{}
	anchoring.place = func(*policy.Policy) (ledger.Anchorage, error) { return d, nil }
	anchoring.write = func(p *policy.Policy, at ledger.Anchorage) error {
		sum, err := summary(p.Ledger)
		if err != nil {
			return err
		}
		return at.Store(t.Context(), ledger.Anchor{
			Identity: sum.Identity, Sequence: sum.Records, Hash: sum.Head, Time: time.Now().Add(-3 * time.Hour),
			Most: []ledger.Ceiling{{Account: "hospital", Spent: dp.Cost{Epsilon: dp.One, Rho: dp.Unbounded}}},
		})
	}
	anchoring.recover = func(p *policy.Policy, at ledger.Anchorage, reason string) (ledger.Receipt, error) {
		a, _, err := at.Load(t.Context())
		if err != nil {
			return ledger.Receipt{}, err
		}
		l, err := sqlite.Open(p.Ledger)
		if err != nil {
			return ledger.Receipt{}, err
		}
		var spent []ledger.Balance
		for _, m := range a.Most {
			spent = append(spent, ledger.Balance{Account: m.Account, Spent: m.Spent})
		}
		r, err := l.Enter(t.Context(), ledger.Recovery{Anchor: a, Spent: spent, Reason: reason})
		return r, errors.Join(err, l.Close())
	}
	return d
}

func TestLedgerAnchor(t *testing.T) {
	policy := deploy(t, tenQuestions)
	command("ledger", "anchor", "-p", policy).wants(t, 2, "the policy keeps no anchor")
	d := anchored(t)
	command("ledger", "anchor", "-p", policy).wants(t, 0, "anchor: the drawer", "no anchor was stored yet")
	s := newScribe(t, policy)
	s.charge("first", day(9), dp.One/4, 0)
	s.charge("second", day(8), dp.One/4, 0)
	books := s.save()
	command("ledger", "anchor", "-p", policy, "--write").wants(t, 0, "record 2, ", "3 hours ago", "holds it, and 0 records after it", "hospital        1    -      0")
	r := command("ledger", "anchor", "-p", policy, "--json").wants(t, 0).decode(t)
	if r["holds"] != true || r["anchor"].(map[string]any)["sequence"] != 2.0 || r["place"] != "the drawer" {
		t.Errorf("got %v", r)
	}

	// An anchor of what the ledger has lost, of another record, and of another ledger.
	good := *d.anchor
	d.anchor.Sequence = 9
	command("ledger", "anchor", "-p", policy).wants(t, 0, "does not hold it: the anchor names record 9, and the ledger ends with record 2: it is an older copy")
	d.anchor.Sequence, d.anchor.Hash = 1, strings.Repeat("0", 64)
	command("ledger", "anchor", "-p", policy).wants(t, 0, "record 1 is another one than the anchor names")
	d.anchor.Identity = "another"
	command("ledger", "anchor", "-p", policy).wants(t, 0, "the anchor is of another ledger")
	d.anchor = &good

	command("ledger", "anchor", "-p", policy, "--recover").wants(t, 2, "--recover needs --reason")
	command("ledger", "anchor", "-p", policy, "--reason", "why").wants(t, 2, "--recover needs --reason")
	command("ledger", "anchor", "-p", policy, "--write", "--recover", "--reason", "why").wants(t, 2, "see discreet ledger anchor --help")
	command("ledger", "anchor", "-p", policy, "--recover", "--reason", "the disk").wants(t, 0, "counts as spent: record 3", "hospital  epsilon           0.5          1").lacks(t, "hospital/ana")
	command("ledger", "show", books).wants(t, 0, "1 account counted as spent, up to the anchor at 2: the disk")
	command("ledger", "replay", books).wants(t, 0, "0 differ")
	command("ledger", "anchor", "-p", policy, "--recover", "--reason", "again").wants(t, 0, "no account has spent more than before")

	d.err = errors.New("the drawer is locked")
	command("ledger", "anchor", "-p", policy).wants(t, 1, "the drawer is locked")
	command("ledger", "anchor", "-p", "no.yaml").wants(t, 1, "no.yaml")
	command("ledger", "anchor").wants(t, 2, "missing flags: --policy")
}
