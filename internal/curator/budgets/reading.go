package budgets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/ledger"
)

// reading is an account as the ledger has it, with what its promise is derived from.
type reading struct {
	api.Account
	// alone is what the limit would promise if it had been the limit from the start: what is left
	// is counted with it.
	alone api.Guarantee
	first dp.Cost
}

// Accounts returns the dataset's account, that of the current window where it is renewed, those of
// the groups of the named analysts, and those of the analysts.
func (s *DatasetAccounts) Accounts(ctx context.Context, analysts ...string) ([]api.Account, error) {
	window, err := s.ledger.Window(ctx, s.dataset.Name)
	if err != nil {
		return nil, err
	}
	all := s.chart.common(window)
	for _, g := range s.dataset.GroupNames() {
		if slices.ContainsFunc(s.dataset.Groups[g].Analysts, func(a string) bool { return slices.Contains(analysts, a) }) {
			all = append(all, s.chart.group(g, window))
		}
	}
	for _, a := range analysts {
		all = append(all, s.chart.analyst(a, window))
	}
	read, err := s.readAll(ctx, all)
	return accounts(read), err
}

// Own returns an analyst's own account, as of the current window.
func (s *DatasetAccounts) Own(ctx context.Context, analyst string) ([]api.Account, error) {
	window, err := s.ledger.Window(ctx, s.dataset.Name)
	if err != nil {
		return nil, err
	}
	all, err := s.readAll(ctx, []kindAccount{s.chart.analyst(analyst, window)})
	return accounts(all), err
}

func accounts(all []reading) []api.Account {
	out := make([]api.Account, len(all))
	for i, r := range all {
		out[i] = r.Account
	}
	return out
}

// readAll reads the balances of accounts. What they promise is promised to the people whom charges
// protected, or not at all.
func (s *DatasetAccounts) readAll(ctx context.Context, all []kindAccount) ([]reading, error) {
	if _, err := s.Protected(ctx); err != nil {
		return nil, err
	}
	balances, err := s.ledger.Balances(ctx, accountsOf(all))
	if err != nil {
		return nil, err
	}
	out := make([]reading, len(all))
	for i, b := range balances {
		if out[i], err = s.read(all[i], b); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Advise adds to a budget error what the analyst can do. The error names the account with least
// left of those that refused; what can be paid is the least of what all of them admit.
func (s *DatasetAccounts) Advise(ctx context.Context, analyst string, err error) error {
	if !errors.As(err, new(*ledger.BudgetError)) {
		return err
	}
	var over *ledger.BudgetError
	if errors.As(err, &over) && over.Left.Delta < over.Want.Delta &&
		(over.Want.Rho <= over.Left.Rho || over.Want.Epsilon <= over.Left.Epsilon) {
		return fmt.Errorf("%w. Delta %v is left for private keys: set dp.delta to at most that, list the keys you want with IN "+
			"(...) in WHERE, or ask the owner of the data for more", err, over.Left.Delta)
	}
	_, balances, failed := s.balances(ctx, analyst, 0)
	if failed != nil {
		return err
	}
	least := dp.Unbounded
	for _, b := range balances {
		if b.Limit.Rho == dp.Unbounded && b.Spent.Epsilon == dp.Unbounded {
			return fmt.Errorf("%w. The amount spent in %q before the policy was changed has no pure epsilon, so a pure budget admits "+
				"nothing after it: the owner of the data can give the budget its delta back", err, b.Account)
		}
		if b.Spent.Delta > b.Limit.Delta {
			return fmt.Errorf("%w. For private keys delta %v was spent in %q before the policy was changed, which is more than it has "+
				"now, so it admits nothing: the owner of the data can give the budget its delta back", err, b.Spent.Delta, b.Account)
		}
		least = min(least, pricing.Affordable(b.Left()))
	}
	// Shown with two digits, rounded down, so that what is advised can be paid.
	most := least.Float()
	if most < 1e-4 || least < s.dataset.Budget.MinEpsilon {
		instead := "the owner of the data can raise the limit"
		if s.dataset.Budget.Renews() {
			instead = "the owner of the data can begin the next window, or raise the limit"
		}
		return fmt.Errorf("%w. Nothing is left to ask with; answers that were paid for stay free, and %s", err, instead)
	}
	digits := math.Pow(10, 1-math.Floor(math.Log10(most)))
	advised := fmt.Sprint(math.Floor(most*digits) / digits)
	if smallest := s.dataset.Budget.MinEpsilon; math.Floor(most*digits)/digits < smallest.Float() {
		advised = smallest.String() // rounded down, it would be too little for a question
	}
	return fmt.Errorf("%w. Ask with an epsilon of at most %s, or ask the owner of the data for more", err, advised)
}

// Remaining returns what the analyst can still spend.
func (s *DatasetAccounts) Remaining(ctx context.Context, analyst string) (api.Remaining, error) {
	return s.RemainingIn(ctx, analyst, 0, dp.Cost{})
}

// RemainingAfter returns what the analyst could still spend after paying a cost.
func (s *DatasetAccounts) RemainingAfter(ctx context.Context, analyst string, cost dp.Cost) (api.Remaining, error) {
	return s.RemainingIn(ctx, analyst, 0, cost)
}

// RemainingIn does it for a window that is known; 0 stands for the current one.
func (s *DatasetAccounts) RemainingIn(ctx context.Context, analyst string, window uint64, cost dp.Cost) (api.Remaining, error) {
	all, balances, err := s.balances(ctx, analyst, window)
	if err != nil {
		return api.Remaining{}, err
	}
	least := api.Remaining{Epsilon: dp.Unbounded, Rho: dp.Unbounded, Pure: dp.Unbounded, KeysDelta: dp.Unbounded}
	for i, b := range balances {
		b.Spent = b.Spent.Add(cost)
		a, err := s.read(all[i], b)
		if err != nil {
			return api.Remaining{}, err
		}
		grows := a.alone.Epsilon.Sub(a.Guarantee.Epsilon)
		if byEpsilon, byRho := openSides(b); !byEpsilon && !byRho {
			grows = 0
		}
		least.Epsilon = min(least.Epsilon, grows)
		least.Rho = min(least.Rho, a.Left.Rho)
		least.KeysDelta = min(least.KeysDelta, a.Left.Delta)
		if b.Limit.Epsilon == dp.Unbounded || b.Spent.Epsilon == dp.Unbounded {
			least.Pure = 0
		}
		least.Pure = min(least.Pure, a.Left.Epsilon)
		if a.Kind == "dataset" || a.Kind == "window" {
			least.Delta = a.alone.Delta
		}
	}
	return least, nil
}

// read turns a balance into what it means.
func (s *DatasetAccounts) read(p kindAccount, b ledger.Balance) (reading, error) {
	budget := s.dataset.Budget
	a := reading{first: b.First, Account: api.Account{
		Name: b.Account, Kind: p.kind, Window: p.window, Windows: uint64(budget.Renewal.Windows), Expires: p.expires,
		Part: b.Part(), Granted: b.Granted, Limit: b.Limit, Spent: b.Spent, Left: b.Left(), Side: side(b),
	}}
	for _, percent := range ledger.Thresholds {
		if a.Part >= float64(percent)/100 {
			a.Alert = percent
		}
	}
	// What private keys were paid is a part of the promise, whatever the policy sets aside for them
	// by now.
	keys := max(b.Limit.Delta, b.Spent.Delta)
	if budget.Pure() {
		// Sums of epsilon and of delta are certain, so it matters to nobody when a limit was
		// chosen; and what was spent stays so where a limit is lowered.
		a.Guarantee = api.Guarantee{Epsilon: b.Spent.Epsilon, Delta: b.Spent.Delta}
		a.Total = api.Guarantee{Epsilon: max(b.Limit.Epsilon, b.Spent.Epsilon), Delta: keys}
		a.alone = a.Total
		return a, nil
	}
	// What is set aside for private keys is no part of the conversion, and is of the promise: all
	// of it, also where a quota has only a part. Windows and top-ups can make it more.
	delta := max(budget.Delta, budget.RhoDelta().Add(keys))
	for _, g := range []struct {
		to  *api.Guarantee
		rho dp.Amount
	}{{&a.Guarantee, b.Spent.Rho}, {&a.alone, b.Limit.Rho}} {
		epsilon, err := account.Epsilon(g.rho, budget.RhoDelta())
		if err != nil {
			return reading{}, err
		}
		*g.to = api.Guarantee{Epsilon: epsilon, Delta: delta}
	}
	// What was spent is worth the smaller of the two sums.
	a.Guarantee.Epsilon = min(a.Guarantee.Epsilon, b.Spent.Epsilon)
	if b.Limit.Epsilon != dp.Unbounded { // either sum keeps the limit: account.EitherFilter
		a.alone.Epsilon = max(a.alone.Epsilon, b.Limit.Epsilon)
	}
	var err error
	a.Total, err = s.promised(b, delta)
	return a, err
}

// promised is what an account promises at a delta, by how it may end as long as its limit stays.
//
// Either the sum of epsilon ends within some e, so that no answer is more than exp(e) times as
// likely, and it matters to nobody when a limit was chosen; or the sum of rho ends within some
// level of [account.ClaimOfRaisedLimit]. Both are claims about how an account ends, and not about
// the limits that it had, so they hold together: let what is stated at the end of a transcript t be
// at most e for all t of an event S, and N those of them whose epsilons add up to at most e. Then
// P(t) <= exp(e) P'(t) for every t of N, and all others are within levels that convert to at most
// e, so that P(S) <= exp(e) P'(S) + the deltas of these levels, by the proof there.
//
// An account ends within its epsilon, or as it is, once more than its rho was spent; within its
// rho, or as it is, once more than its epsilon was; and as it is where both or more than its delta
// were: then nothing is admitted any more, and the better of the two claims about what was spent
// holds.
func (s *DatasetAccounts) promised(b ledger.Balance, delta dp.Amount) (api.Guarantee, error) {
	byEpsilon, byRho := openSides(b)
	if byEpsilon && !byRho {
		return api.Guarantee{Epsilon: b.Limit.Epsilon, Delta: delta}, nil
	}
	most := b.Limit.Rho
	if !byRho {
		most = b.Spent.Rho
	}
	whole, err := s.raisedTo(b, most)
	out := api.Guarantee{Epsilon: whole.Epsilon, Delta: delta.Add(whole.Delta.Sub(s.dataset.Budget.RhoDelta()))}
	switch {
	case byRho && b.Limit.Epsilon != dp.Unbounded: // of which the rho was derived, and rounded
		out.Epsilon = max(out.Epsilon, b.Limit.Epsilon)
	case !byRho && b.Spent.Epsilon != dp.Unbounded && (err != nil || b.Spent.Epsilon <= out.Epsilon):
		return api.Guarantee{Epsilon: b.Spent.Epsilon, Delta: delta}, nil
	}
	return out, err
}

// openSides reports by which of its sums an account may still admit something.
func openSides(b ledger.Balance) (epsilon, rho bool) {
	if b.Spent.Delta > b.Limit.Delta {
		return false, false
	}
	return b.Limit.Epsilon != dp.Unbounded && b.Spent.Epsilon <= b.Limit.Epsilon, b.Spent.Rho <= b.Limit.Rho
}

// raisedTo is what a sum of rho promises with the conversion alone. The limit of the first charge
// was fixed before the first answer, and one that is larger by now was not; nor was one of which
// nothing is known but that something was spent before.
func (s *DatasetAccounts) raisedTo(b ledger.Balance, most dp.Amount) (account.Reading, error) {
	first, delta := b.First.Rho, s.dataset.Budget.RhoDelta()
	switch {
	case first == dp.Unbounded: // the budget was pure then
		return account.ClaimOfUnknownFirstLimit(most, delta)
	case first > 0:
		return account.ClaimOfRaisedLimit(first, most, delta)
	case b.Spent.Rho == 0:
		return account.ClaimOfRaisedLimit(b.Limit.Rho, b.Limit.Rho, delta)
	}
	// The first limit is among what was lost, or what was spent is from two accounts. Until then
	// something else was stated, by [account.Raised], and whether it still is may follow from the
	// answers. Both unions hold at once at the sum of their deltas, delta and 2 delta.
	whole, err := account.ClaimOfUnknownFirstLimit(most, delta)
	whole.Delta = whole.Delta.Add(delta).Add(delta)
	return whole, err
}
