package chain

import (
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

// Next returns the record that would make the charge, or a [*ledger.BudgetError]
// where an account does not admit it. It changes nothing.
func (s *State) Next(c ledger.Charge, now time.Time) (*Record, error) {
	r := &Record{
		Kind: Charge, Sequence: s.sequence + 1, Time: now, Previous: s.hash,
		Request: c.Request, Analyst: c.Analyst, Dataset: c.Dataset, DataVersion: c.DataVersion,
		Query: c.Query, Mechanisms: c.Mechanisms, Cost: c.Cost,
		Balances: make([]ledger.Balance, len(c.Accounts)),
	}
	for i, a := range c.Accounts {
		spent := s.Spent(a.Name)
		if !a.Filter.Admits(spent, c.Cost) {
			return nil, &ledger.BudgetError{Account: a.Name, Want: c.Cost, Left: a.Filter.Left(spent)}
		}
		r.Balances[i] = ledger.Balance{Account: a.Name, Limit: a.Filter.Limit(), Spent: spent.Add(c.Cost)}
	}
	return r, nil
}

// Differs says in which way a charge is another one than the record with the
// same request, or nothing where it is the same. Accounts and limits do not
// count: the owner may have changed them since.
func (r *Record) Differs(c ledger.Charge) string {
	for _, f := range []struct {
		name string
		same bool
	}{
		{"request", r.Request == c.Request},
		{"analyst", r.Analyst == c.Analyst},
		{"data set", r.Dataset == c.Dataset},
		{"data version", r.DataVersion == c.DataVersion},
		{"query", r.Query == c.Query},
		{"cost", r.Cost == c.Cost},
	} {
		if !f.same {
			return f.name
		}
	}
	return ""
}

// Receipt returns the receipt of a charge.
func (r *Record) Receipt(hash string, again bool) ledger.Receipt {
	return ledger.Receipt{
		Sequence: r.Sequence, Hash: hash, Time: r.Time.UTC(), Cost: r.Cost,
		Balances: r.Balances, Again: again,
	}
}
