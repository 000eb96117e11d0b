package chain

import (
	"cmp"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Charge returns the records that would make the charge: itself, after one of kind version where
// the data is another. It returns a [*ledger.BudgetError] where an account does not admit it, a
// [*ledger.WindowError] where the window is not the current one, and a [*ledger.DoorError] where
// the door is closed. It changes nothing.
func (s *State) Charge(c ledger.Charge, now time.Time) ([]*Link, error) {
	if s.doors.Closed(c.Dataset, c.Analyst) {
		return nil, &ledger.DoorError{Dataset: c.Dataset}
	}
	if current := s.Window(c.Dataset); c.Window != current {
		return nil, &ledger.WindowError{Dataset: c.Dataset, Window: c.Window, Want: current}
	}
	if c.Looked && c.Since != s.versions[c.Dataset].since {
		return nil, &ledger.VersionError{Dataset: c.Dataset}
	}
	r := &ledger.Record{
		Kind: ledger.KindCharge, Time: now,
		Request: c.Request, Analyst: c.Analyst, Dataset: c.Dataset, DataVersion: c.DataVersion,
		Query: c.Query, Mechanisms: c.Mechanisms, Window: c.Window, Cost: c.Cost,
		Balances: make([]ledger.Balance, len(c.Accounts)),
	}
	var refused *ledger.BudgetError // by the account that has least left, which is the one to talk about
	for i, a := range c.Accounts {
		b := s.Balance(a)
		left := b.Left()
		b.Spent = b.Spent.Add(c.Cost)
		if !b.Spent.Fits(b.Limit) && (refused == nil || less(left, refused.Left)) {
			refused = &ledger.BudgetError{Account: a.Name, Want: c.Cost, Left: left}
		}
		r.Balances[i] = b
	}
	if refused != nil {
		return nil, refused
	}
	if s.versions[c.Dataset].last == c.DataVersion {
		return s.link(r), nil
	}
	version := &ledger.Record{Kind: ledger.KindVersion, Time: now, Dataset: c.Dataset, DataVersion: c.DataVersion}
	return s.link(version, r), nil
}

// less compares what is left in two accounts.
func less(a, b dp.Cost) bool {
	return cmp.Or(cmp.Compare(a.Epsilon, b.Epsilon), cmp.Compare(a.Rho, b.Rho), cmp.Compare(a.Delta, b.Delta)) < 0
}

// Differs says in which way a charge is another one than the record with the same request, or
// nothing where it is the same. Accounts and limits do not count: the owner may have changed them
// since. Windows do, in another way: see [State.Lapsed].
func Differs(r *ledger.Record, c ledger.Charge) string {
	for _, f := range []struct {
		name string
		same bool
	}{
		{"request", r.Request == c.Request},
		{"analyst", r.Analyst == c.Analyst},
		{"data set", r.Dataset == c.Dataset},
		{"data version", r.DataVersion == c.DataVersion},
		{"question or price", r.Query == c.Query && r.Cost == c.Cost},
	} {
		if !f.same {
			return f.name
		}
	}
	return ""
}

// Receipt returns the receipt of a record.
func Receipt(r *ledger.Record, hash string, again bool) ledger.Receipt {
	return ledger.Receipt{
		Sequence: r.Sequence, Hash: hash, Time: r.Time.UTC(), Cost: r.Cost,
		Window: r.Window, Balances: r.Balances, Again: again,
	}
}
