package books

import (
	"context"
	"math"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// Books are the accounts of a dataset in a ledger.
type Books struct {
	dataset *policy.Dataset
	ledger  ledger.Ledger
	agreed  agreement
}

// New returns the books of a dataset.
func New(ds *policy.Dataset, l ledger.Ledger) *Books { return &Books{dataset: ds, ledger: l} }

// place is an account together with what it is.
type place struct {
	ledger.Account
	kind    string // dataset, window, group or analyst
	window  uint64 // 0 where the dataset is not renewed, and of the dataset's own account, which is that of all windows
	expires string
}

// The names of accounts. A dataset, a group and an analyst have no "/", ":" or "#" in their names,
// which package policy sees to, so no two accounts have the same name.

func groupAccount(dataset, group string) string { return dataset + "/group:" + group }

func analystAccount(dataset, analyst string) string { return dataset + "/" + analyst }

// side names the claim that an account is read by.
func side(b ledger.Balance) string {
	if b.Spent.ByEpsilon(b.Limit) {
		return "epsilon"
	}
	return "rho"
}

// places names what a question of an analyst is charged to: the dataset, which holds against
// everybody colluding, the current window where there are windows, the groups of the analyst, and
// the analyst's own quota.
func (s *Books) places(analyst string, window uint64) []place {
	all := s.common(window)
	for _, g := range s.dataset.GroupsOf(analyst) {
		all = append(all, s.group(g, window))
	}
	return append(all, s.analyst(analyst, window))
}

// common returns the accounts of everybody together.
func (s *Books) common(window uint64) []place {
	name, ds := s.dataset.Name, s.dataset
	all := []place{{Account: ledger.Account{Name: name, Filter: ds.TotalFilter()}, kind: "dataset"}}
	if ds.Budget.Renews() {
		all = append(all,
			place{Account: ledger.Account{Name: ledger.WindowName(name, window), Filter: ds.Filter()}, kind: "window", window: window})
	}
	return all
}

func (s *Books) group(name string, window uint64) place {
	quota, _ := s.dataset.GroupQuota(name)
	return s.inWindow(place{Account: ledger.Account{Name: groupAccount(s.dataset.Name, name), Filter: quota}, kind: "group"}, window)
}

func (s *Books) analyst(name string, window uint64) place {
	quota, _ := s.dataset.Quota(name)
	p := place{Account: ledger.Account{Name: analystAccount(s.dataset.Name, name), Filter: quota}, kind: "analyst"}
	if a := s.dataset.Analysts[name]; a != nil {
		p.expires = LastDay(a)
	}
	return s.inWindow(p, window)
}

// inWindow makes a quota that of one window, where there are windows.
func (s *Books) inWindow(p place, window uint64) place {
	if s.dataset.Budget.Renews() {
		p.Name, p.window = ledger.WindowName(p.Name, window), window
	}
	return p
}

// LastDay is the last one of an analyst's access, or nothing where it does not end.
func LastDay(a *policy.Analyst) string {
	if a.Expires.IsZero() {
		return ""
	}
	return a.Expires.Format(time.DateOnly)
}

// Charged are the accounts that a question of an analyst is charged to in a window.
func (s *Books) Charged(analyst string, window uint64) []ledger.Account {
	return accountsOf(s.places(analyst, window))
}

func accountsOf(all []place) []ledger.Account {
	out := make([]ledger.Account, len(all))
	for i, p := range all {
		out[i] = p.Account
	}
	return out
}

// balances returns the accounts of an analyst in the current window, and what is in them.
func (s *Books) balances(ctx context.Context, analyst string) ([]place, []ledger.Balance, error) {
	window, err := s.ledger.Window(ctx, s.dataset.Name)
	if err != nil {
		return nil, nil, err
	}
	all := s.places(analyst, window)
	balances, err := s.ledger.Balances(ctx, accountsOf(all))
	return all, balances, err
}

// Takes returns which part of what an analyst has left a cost takes, in the account where that is
// most; infinite where one of them does not admit it.
func (s *Books) Takes(ctx context.Context, analyst string, cost dp.Cost) (float64, error) {
	_, balances, err := s.balances(ctx, analyst)
	if err != nil {
		return 0, err
	}
	most := 0.0
	for _, b := range balances {
		if !b.Spent.Add(cost).Fits(b.Limit) {
			return math.Inf(1), nil
		}
		most = max(most, cost.Part(b.Left()))
	}
	return most, nil
}

// Affords reports whether all accounts of an analyst admit a cost now.
func (s *Books) Affords(ctx context.Context, analyst string, cost dp.Cost) (bool, error) {
	if cost == (dp.Cost{}) {
		return true, nil
	}
	_, balances, err := s.balances(ctx, analyst)
	if err != nil {
		return false, err
	}
	for _, b := range balances {
		if !b.Spent.Add(cost).Fits(b.Limit) {
			return false, nil
		}
	}
	return true, nil
}
