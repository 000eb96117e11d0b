package books

import (
	"context"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// sinceBegun returns the account of a window with what the dataset spent in it while the policy had
// no windows, which no account of a window has.
func (s *Books) sinceBegun(ctx context.Context, window uint64, total, now reading) (reading, error) {
	counted, err := s.countedInWindows(ctx, window)
	if err != nil || counted == total.Spent && counted.Rho != dp.Unbounded {
		return now, err // no account of a window lacks anything
	}
	spent, err := s.spentIn(ctx, window)
	if err != nil {
		return reading{}, err
	}
	// Of two sums without an end nobody knows the difference; what has none in this window alone is
	// summed up from the records.
	before := dp.Cost{Rho: spent.Rho.Sub(now.Spent.Rho), Delta: spent.Delta.Sub(now.Spent.Delta)}
	if before.Epsilon = spent.Epsilon.Sub(now.Spent.Epsilon); now.Spent.Epsilon == dp.Unbounded {
		before.Epsilon = 0 // the window's own has none already
	}
	if before == (dp.Cost{}) {
		return now, nil
	}
	first := dp.Cost{} // of a later window nobody knows what limit it began with
	if window == 1 {
		first = total.first
	}
	return s.read(bookAccount{kind: now.Kind, window: window},
		ledger.Balance{Account: now.Name, Limit: now.Limit.Add(before), Spent: now.Spent.Add(before), First: first})
}

// countedInWindows is what the accounts of all windows up to one have spent.
func (s *Books) countedInWindows(ctx context.Context, window uint64) (dp.Cost, error) {
	all := make([]ledger.Account, window)
	for i := range all {
		all[i] = ledger.Account{Name: ledger.WindowName(s.dataset.Name, uint64(i)+1), Filter: s.dataset.Filter()}
	}
	balances, err := s.ledger.Balances(ctx, all)
	var sum dp.Cost
	for _, b := range balances {
		sum = sum.Add(b.Spent)
	}
	return sum, err
}

// spentIn is what the dataset spent since a window began, by the records: charges, and what a
// recovery counted.
func (s *Books) spentIn(ctx context.Context, window uint64) (dp.Cost, error) {
	var in, all dp.Cost
	at := uint64(1)
	for r, err := range s.ledger.Records(ctx, 1) {
		if err != nil {
			return dp.Cost{}, err
		}
		if r.Kind == ledger.KindRenewal && r.Dataset == s.dataset.Name {
			in, at = dp.Cost{}, r.Window
		}
		for _, b := range r.Balances {
			if b.Account != s.dataset.Name {
				continue
			}
			added := r.Cost
			if r.Kind == ledger.KindRecovery {
				added = b.Spent.Sub(all)
			}
			in, all = in.Add(added), b.Spent
		}
	}
	if at != window {
		return dp.Cost{}, nil // it has not begun
	}
	return in, nil
}
