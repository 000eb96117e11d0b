package chain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Accounts are what was spent, and up to which limits.
type Accounts struct {
	spent   map[string]*ledger.Balance
	granted map[string]dp.Cost // what top-ups added, by account
	first   map[string]dp.Cost // the limit of an account at its first charge
}

func newAccounts() Accounts {
	return Accounts{map[string]*ledger.Balance{}, map[string]dp.Cost{}, map[string]dp.Cost{}}
}

func (a *Accounts) clone() Accounts {
	spent := make(map[string]*ledger.Balance, len(a.spent))
	for name, b := range a.spent {
		own := *b
		spent[name] = &own
	}
	return Accounts{spent, maps.Clone(a.granted), maps.Clone(a.first)}
}

func (a *Accounts) Spent(account string) dp.Cost {
	if b := a.spent[account]; b != nil {
		return b.Spent
	}
	return dp.Cost{}
}

// Balance returns the balance of an account, with what top-ups added to its limit.
func (a *Accounts) Balance(of ledger.Account) ledger.Balance {
	granted := a.granted[of.Name]
	return ledger.Balance{Account: of.Name, Limit: of.Filter.Limit().Add(granted), Granted: granted, Spent: a.Spent(of.Name)}
}

// First returns the limit of an account at its first charge; see [ledger.Balance].
func (a *Accounts) First(account string) dp.Cost { return a.first[account] }

// All returns the balance of every account ever charged, by name, with the
// limit of its last charge.
func (a *Accounts) All() []ledger.Balance {
	all := make([]ledger.Balance, 0, len(a.spent))
	for _, b := range a.spent {
		all = append(all, *b)
	}
	slices.SortFunc(all, func(a, b ledger.Balance) int { return cmp.Compare(a.Account, b.Account) })
	return all
}

// check returns an error unless a charge can be made in its accounts.
func (a *Accounts) check(r *ledger.Record) error {
	for i, b := range r.Balances {
		if b.Spent != a.Spent(b.Account).Add(r.Cost) {
			return fmt.Errorf("the balance of %q is not what was spent", b.Account)
		}
		if b.Granted != a.granted[b.Account] || !b.Granted.Within(b.Limit) {
			return fmt.Errorf("the limit of %q has a part that no top-up granted", b.Account)
		}
		if !b.Spent.Fits(b.Limit) {
			return fmt.Errorf("the account %q is overspent", b.Account)
		}
		if slices.ContainsFunc(r.Balances[:i], func(c ledger.Balance) bool { return b.Account == c.Account }) {
			return fmt.Errorf("the account %q is charged twice", b.Account)
		}
	}
	return nil
}

// grant adds a top-up to the limits of accounts.
func (a *Accounts) grant(accounts []string, amount dp.Cost) {
	for _, name := range accounts {
		a.granted[strings.Clone(name)] = a.granted[name].Add(amount)
	}
}

// recover counts what a recovery says was spent, and leaves limits as they were.
func (a *Accounts) recover(spent []ledger.Balance) {
	all := slices.Clone(spent)
	for i := range all {
		if known := a.spent[all[i].Account]; known != nil {
			all[i].Limit, all[i].Granted = known.Limit, known.Granted
		}
	}
	a.set(all)
}

// begin remembers the limits of accounts that are charged for the first time. Of one that a
// recovery has counted something in, nobody knows what it was at first.
func (a *Accounts) begin(all []ledger.Balance) {
	for _, b := range all {
		if a.spent[b.Account] == nil {
			a.first[strings.Clone(b.Account)] = b.Limit
		}
	}
}

func (a *Accounts) set(all []ledger.Balance) {
	for _, b := range all {
		known := a.spent[b.Account]
		if known == nil {
			// The name was cut out of a record; a copy lets go of the rest.
			b.Account = strings.Clone(b.Account)
			known = &ledger.Balance{Account: b.Account}
			a.spent[b.Account] = known
		}
		known.Limit, known.Granted, known.Spent = b.Limit, b.Granted, b.Spent
	}
}
