package chain

import "github.com/discreet-dp/discreet/ledger"

// decisions are what owners decided; [ledger.Deferred] says why signatures are bound to them.
type decisions struct {
	all  []uint64        // their sequences
	last ledger.Position // the last one, or the first record
	seen ledger.Position // the same, or the last incident where that came later
}

// add takes the next record in.
func (d *decisions) add(r *ledger.Record, hash string) {
	here := ledger.Position{Sequence: r.Sequence, Hash: hash}
	switch r.Kind {
	case ledger.KindLedger:
		d.last, d.seen = here, here
	case ledger.KindOwner, ledger.KindTopUp, ledger.KindRenewal, ledger.KindRelease, ledger.KindRecovery:
		d.all = append(d.all, r.Sequence)
		d.last, d.seen = here, here
	case ledger.KindIncident:
		d.seen = here
	}
}

// before returns the record that one of a kind follows as a decision.
func (d *decisions) before(kind ledger.Kind) ledger.Position {
	if kind == ledger.KindRelease {
		return d.seen
	}
	return d.last
}
