package curator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Account is one account as a person reads it.
type Account struct {
	Name string `json:"name"`
	// Kind is dataset, window, group or analyst. A window is a dataset's account for one renewal window.
	Kind string `json:"kind"`
	// Window is the renewal window that the account belongs to, from 1 on, of Windows; both are 0 where the dataset is not
	// renewed. The dataset's own account is that of all windows together, and its Window is 0 too.
	Window  uint64 `json:"window,omitempty"`
	Windows uint64 `json:"windows,omitempty"`
	// Part is how much of the limit is spent, from 0 to 1, and Alert the highest of the thresholds 50, 80 and 95 that is
	// passed, or 0.
	Part  float64 `json:"part"`
	Alert int     `json:"alert"`
	// Granted is what top-ups added to the limit.
	Granted dp.Cost `json:"granted"`
	// Expires is the first day, as 2006-01-02, on which an analyst may not ask any more; empty where there is none.
	Expires string `json:"expires,omitempty"`
	// Limit, Spent and Left are in the claims that the account adds up: epsilon
	// for a pure budget, rho for an (epsilon, delta) budget; null for the others.
	Limit dp.Cost `json:"limit"`
	Spent dp.Cost `json:"spent"`
	Left  dp.Cost `json:"left"`
	// Total is the promise: everything that is ever answered from this account is,
	// together, (Epsilon, Delta)-differentially private, whoever stops when. Where the limit is another by now than at the
	// first charge, it was chosen after answers were seen, which counts: see account.Raised.
	// Guarantee is what the amount spent so far is worth in the same terms. It would
	// be the promise if that amount had been the limit from the start; of a moment
	// that somebody chooses after seeing answers it says nothing (see
	// account.Odometer, which does).
	Guarantee Guarantee `json:"guarantee"`
	Total     Guarantee `json:"total"`
}

// reading is an account as the ledger has it, with what its promise is derived from.
type reading struct {
	Account
	// alone is what the limit would promise if it had been the limit from the start: what is left is
	// counted with it.
	alone Guarantee
	first dp.Cost
}

// Guarantee is an (epsilon, delta) promise.
type Guarantee struct {
	Epsilon dp.Amount `json:"epsilon"`
	Delta   dp.Amount `json:"delta"`
}

// Remaining is what an analyst can still spend: the least of what is left in all accounts that a question is charged to.
type Remaining struct {
	// Epsilon is how much is left to grow to the promise: the total epsilon less what was
	// spent so far is worth. Rho is what charges are taken from under an (epsilon, delta)
	// budget, and null under a pure one, where it is epsilon.
	Epsilon dp.Amount `json:"epsilon"`
	Rho     dp.Amount `json:"rho"`
	Delta   dp.Amount `json:"delta"`
	// KeysDelta is what is left of the delta that is set aside for private keys.
	KeysDelta dp.Amount `json:"keys_delta"`
}

// Accounts returns the dataset's account, that of the current window where it is renewed, those of the groups of the named
// analysts, and those of the analysts.
func (c *Curator) Accounts(ctx context.Context, analysts ...string) ([]Account, error) {
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
func (c *Curator) Own(ctx context.Context, analyst string) ([]Account, error) {
	window, err := c.ledger.Window(ctx, c.dataset.Name)
	if err != nil {
		return nil, err
	}
	all, err := c.readAll(ctx, []place{c.analyst(analyst, window)})
	return accounts(all), err
}

// accounts are what readings show.
func accounts(all []reading) []Account {
	out := make([]Account, len(all))
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
		least = min(least, affordable(b.Left()))
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
func (c *Curator) Remaining(ctx context.Context, analyst string) (Remaining, error) {
	return c.remaining(ctx, analyst, dp.Cost{})
}

// remaining returns what the analyst could still spend after paying a cost.
func (c *Curator) remaining(ctx context.Context, analyst string, cost dp.Cost) (Remaining, error) {
	all, balances, err := c.balances(ctx, analyst)
	if err != nil {
		return Remaining{}, err
	}
	least := Remaining{Epsilon: dp.Unbounded, Rho: dp.Unbounded, KeysDelta: dp.Unbounded}
	for i, b := range balances {
		b.Spent = b.Spent.Add(cost)
		a, err := c.read(all[i], b)
		if err != nil {
			return Remaining{}, err
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
	a := reading{first: b.First, Account: Account{
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
		to  *Guarantee
		rho dp.Amount
	}{{&a.Guarantee, b.Spent.Rho}, {&a.alone, b.Limit.Rho}} {
		epsilon, err := account.Epsilon(g.rho, budget.RhoDelta())
		if err != nil {
			return reading{}, err
		}
		*g.to = Guarantee{epsilon, delta}
	}
	whole, err := c.raisedTo(b)
	a.Total = Guarantee{whole.Epsilon, delta.Add(whole.Delta.Sub(budget.RhoDelta()))}
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
