package curator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
)

// reading is an account as the ledger has it, with what its promise is derived from.
type reading struct {
	api.Account
	// alone is what the limit would promise if it had been the limit from the start: what is left is
	// counted with it.
	alone api.Guarantee
	first dp.Cost
}

// Accounts returns the dataset's account, that of the current window where it is renewed, those of the groups of the named
// analysts, and those of the analysts.
func (c *Curator) Accounts(ctx context.Context, analysts ...string) ([]api.Account, error) {
	all, err := c.readings(ctx, analysts...)
	return accounts(all), err
}

func (c *Curator) readings(ctx context.Context, analysts ...string) ([]reading, error) {
	window, err := c.ledger.Window(ctx, c.dataset.Name)
	if err != nil {
		return nil, err
	}
	all := c.of(window)
	for _, g := range c.dataset.GroupNames() {
		if slices.ContainsFunc(c.dataset.Groups[g].Analysts, func(a string) bool { return slices.Contains(analysts, a) }) {
			all = append(all, c.group(g, window))
		}
	}
	for _, a := range analysts {
		all = append(all, c.analyst(a, window))
	}
	return c.readAll(ctx, all)
}

// Own returns an analyst's own account, as of the current window.
func (c *Curator) Own(ctx context.Context, analyst string) ([]api.Account, error) {
	window, err := c.ledger.Window(ctx, c.dataset.Name)
	if err != nil {
		return nil, err
	}
	all, err := c.readAll(ctx, []place{c.analyst(analyst, window)})
	return accounts(all), err
}

// accounts are what readings show.
func accounts(all []reading) []api.Account {
	out := make([]api.Account, len(all))
	for i, r := range all {
		out[i] = r.Account
	}
	return out
}

// readAll reads the balances of accounts.
func (c *Curator) readAll(ctx context.Context, all []place) ([]reading, error) {
	balances, err := c.ledger.Balances(ctx, accountsOf(all))
	if err != nil {
		return nil, err
	}
	out := make([]reading, len(all))
	for i, b := range balances {
		if out[i], err = c.read(all[i], b); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// advise adds to a budget error what the analyst can do. The error names the account with least
// left of those that refused; what can be paid is the least of what all of them admit.
func (c *Curator) advise(ctx context.Context, analyst string, err error) error {
	if !errors.As(err, new(*ledger.BudgetError)) {
		return err
	}
	var over *ledger.BudgetError
	if errors.As(err, &over) && over.Left.Delta < over.Want.Delta && over.Want.Rho <= over.Left.Rho {
		return fmt.Errorf("%w. What is left for private keys is delta %v: set dp.delta to at most that, list the keys you want with IN (...) in WHERE, or ask the owner of the data for more", err, over.Left.Delta)
	}
	_, balances, failed := c.balances(ctx, analyst)
	if failed != nil {
		return err
	}
	least := dp.Unbounded
	for _, b := range balances {
		if b.Limit.Epsilon != dp.Unbounded && b.Spent.Epsilon == dp.Unbounded {
			return fmt.Errorf("%w. What was spent in %q before the policy was changed has no pure epsilon, so a pure budget admits nothing after it: the owner of the data can give the budget its delta back", err, b.Account)
		}
		least = min(least, pricing.Affordable(b.Left()))
	}
	// Shown with two digits, rounded down, so that what is advised can be paid.
	most := least.Float()
	if most < 1e-4 || least < c.dataset.Budget.MinEpsilon {
		instead := "the owner of the data can raise the limit"
		if c.dataset.Budget.Renews() {
			instead = "the owner of the data can begin the next window, or raise the limit"
		}
		return fmt.Errorf("%w. Nothing is left to ask with; answers that were paid for stay free, and %s", err, instead)
	}
	digits := math.Pow(10, 1-math.Floor(math.Log10(most)))
	advised := fmt.Sprint(math.Floor(most*digits) / digits)
	if smallest := c.dataset.Budget.MinEpsilon; math.Floor(most*digits)/digits < smallest.Float() {
		advised = smallest.String() // rounded down, it would be too little for a question
	}
	return fmt.Errorf("%w. Ask with an epsilon of at most %s, or ask the owner of the data for more", err, advised)
}

// Remaining returns what the analyst can still spend.
func (c *Curator) Remaining(ctx context.Context, analyst string) (api.Remaining, error) {
	return c.remaining(ctx, analyst, dp.Cost{})
}

// remaining returns what the analyst could still spend after paying a cost.
func (c *Curator) remaining(ctx context.Context, analyst string, cost dp.Cost) (api.Remaining, error) {
	all, balances, err := c.balances(ctx, analyst)
	if err != nil {
		return api.Remaining{}, err
	}
	least := api.Remaining{Epsilon: dp.Unbounded, Rho: dp.Unbounded, KeysDelta: dp.Unbounded}
	for i, b := range balances {
		b.Spent = b.Spent.Add(cost)
		a, err := c.read(all[i], b)
		if err != nil {
			return api.Remaining{}, err
		}
		least.Epsilon = min(least.Epsilon, a.alone.Epsilon.Sub(a.Guarantee.Epsilon))
		least.Rho = min(least.Rho, a.Left.Rho)
		least.KeysDelta = min(least.KeysDelta, a.Left.Delta)
		if a.Kind == "dataset" || a.Kind == "window" {
			least.Delta = a.alone.Delta
		}
	}
	return least, nil
}

// read turns a balance into what it means.
func (c *Curator) read(p place, b ledger.Balance) (reading, error) {
	budget := c.dataset.Budget
	a := reading{first: b.First, Account: api.Account{
		Name: b.Account, Kind: p.kind, Window: p.window, Windows: uint64(budget.Renewal.Windows), Expires: p.expires,
		Part: b.Part(), Granted: b.Granted, Limit: b.Limit, Spent: b.Spent, Left: b.Left(),
	}}
	for _, percent := range ledger.Thresholds {
		if a.Part >= float64(percent)/100 {
			a.Alert = percent
		}
	}
	if budget.Pure() {
		a.Guarantee.Epsilon, a.Total.Epsilon = b.Spent.Epsilon, b.Limit.Epsilon
		a.alone = a.Total
		return a, nil
	}
	// What is set aside for private keys is no part of the conversion, and is of
	// the promise: all of it, also where a quota has only a part. Windows and top-ups can make it more.
	delta := max(budget.Delta, budget.RhoDelta().Add(b.Limit.Delta))
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
	whole, err := c.raisedTo(b)
	a.Total = api.Guarantee{Epsilon: whole.Epsilon, Delta: delta.Add(whole.Delta.Sub(budget.RhoDelta()))}
	return a, err
}

// raisedTo is what the limit of a balance promises with the conversion alone. The limit of the first charge was fixed before the first answer, and one that is larger by now was not; nor was
// one of which nothing is known but that something was spent before.
func (c *Curator) raisedTo(b ledger.Balance) (account.Reading, error) {
	first := b.First.Rho
	known := first > 0 && first != dp.Unbounded
	switch most := max(b.Limit.Rho, b.Spent.Rho); {
	case known:
		return account.Raised(first, most, c.dataset.Budget.RhoDelta())
	case b.Spent.Rho == 0:
		return account.Raised(b.Limit.Rho, b.Limit.Rho, c.dataset.Budget.RhoDelta())
	default:
		return account.Raised(most-most/5, most, c.dataset.Budget.RhoDelta())
	}
}
