package budgets

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// DatasetAccounts are the accounts of a dataset in a ledger.
type DatasetAccounts struct {
	chart
	ledger ledger.Ledger
	check  protectionCheck
}

// New returns the accounts of a dataset.
func New(ds *policy.Dataset, l ledger.Ledger) *DatasetAccounts {
	return &DatasetAccounts{chart: chart{ds}, ledger: l}
}

// kindAccount is an account together with what it is.
type kindAccount struct {
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

type chart struct{ dataset *policy.Dataset }

// of names what a question of an analyst is charged to: the dataset, which holds against
// everybody colluding, the current window where there are windows, the groups of the analyst, and
// the analyst's own quota.
func (c chart) of(analyst string, window uint64) []kindAccount {
	all := c.common(window)
	for _, g := range c.dataset.GroupsOf(analyst) {
		all = append(all, c.group(g, window))
	}
	return append(all, c.analyst(analyst, window))
}

// common returns the accounts of everybody together.
func (c chart) common(window uint64) []kindAccount {
	name, ds := c.dataset.Name, c.dataset
	all := []kindAccount{{Account: ledger.Account{Name: name, Filter: ds.TotalFilter()}, kind: "dataset"}}
	if ds.Budget.Renews() {
		all = append(all,
			kindAccount{Account: ledger.Account{Name: ledger.WindowName(name, window), Filter: ds.Filter()}, kind: "window",
				window: window})
	}
	return all
}

func (c chart) group(name string, window uint64) kindAccount {
	quota, _ := c.dataset.GroupQuota(name)
	return c.inWindow(kindAccount{Account: ledger.Account{Name: groupAccount(c.dataset.Name, name), Filter: quota}, kind: "group"}, window)
}

func (c chart) analyst(name string, window uint64) kindAccount {
	quota, _ := c.dataset.Quota(name)
	p := kindAccount{Account: ledger.Account{Name: analystAccount(c.dataset.Name, name), Filter: quota}, kind: "analyst"}
	if a := c.dataset.Analysts[name]; a != nil {
		p.expires = LastDay(a)
	}
	return c.inWindow(p, window)
}

// inWindow makes a quota that of one window, where there are windows.
func (c chart) inWindow(p kindAccount, window uint64) kindAccount {
	if c.dataset.Budget.Renews() {
		p.Name, p.window = ledger.WindowName(p.Name, window), window
	}
	return p
}

// toRaise returns the accounts that a top-up raises.
func (c chart) toRaise(name string, window uint64) ([]kindAccount, error) {
	ds := c.dataset
	group, isGroup := strings.CutPrefix(name, "group:")
	switch {
	case name == "":
		return c.common(window), nil
	case isGroup && ds.Groups[group] != nil:
		return []kindAccount{c.group(group, window)}, nil
	case isGroup && len(ds.Groups) == 0:
		return nil, api.Refuse("name an analyst, or nobody for the dataset", "the dataset %s has no groups", ds.Name)
	case isGroup:
		return nil, api.Refuse("name one of "+strings.Join(ds.GroupNames(), ", "), "there is no group %s in the dataset %s",
			strconv.Quote(group), ds.Name)
	case ds.Analysts[name] != nil:
		return []kindAccount{c.analyst(name, window)}, nil
	}
	return nil, api.Refuse("name one of "+strings.Join(ds.AnalystNames(), ", "), "there is no analyst %s in the dataset %s",
		strconv.Quote(name), ds.Name)
}

// LastDay is the last one of an analyst's access, or nothing where it does not end.
func LastDay(a *policy.Analyst) string {
	if a.Expires.IsZero() {
		return ""
	}
	return a.Expires.Format(time.DateOnly)
}

// Charged are the accounts that a question of an analyst is charged to in a window.
func (s *DatasetAccounts) Charged(analyst string, window uint64) []ledger.Account {
	return accountsOf(s.chart.of(analyst, window))
}

func accountsOf(all []kindAccount) []ledger.Account {
	out := make([]ledger.Account, len(all))
	for i, p := range all {
		out[i] = p.Account
	}
	return out
}

// balances returns the accounts of an analyst in a window, in the current one where that is 0, and
// what is in them.
func (s *DatasetAccounts) balances(ctx context.Context, analyst string, window uint64) (_ []kindAccount, _ []ledger.Balance, err error) {
	if window == 0 {
		if window, err = s.ledger.Window(ctx, s.dataset.Name); err != nil {
			return nil, nil, err
		}
	}
	all := s.chart.of(analyst, window)
	balances, err := s.ledger.Balances(ctx, accountsOf(all))
	return all, balances, err
}

// Takes returns which part of what an analyst has left each of some costs takes in a window (the
// current one, where that is 0), in the account where that is most; infinite where one of them does
// not admit it.
func (s *DatasetAccounts) Takes(ctx context.Context, analyst string, window uint64, costs ...dp.Cost) ([]float64, error) {
	_, balances, err := s.balances(ctx, analyst, window)
	if err != nil {
		return nil, err
	}
	parts := make([]float64, len(costs))
	for i, cost := range costs {
		for _, b := range balances {
			if !b.Spent.Add(cost).Fits(b.Limit) {
				parts[i] = math.Inf(1)
				break
			}
			parts[i] = max(parts[i], cost.Part(b.Left()))
		}
	}
	return parts, nil
}

// Unaffordable returns the error of a charge that would be refused now, a [*ledger.BudgetError], or
// nil.
func (s *DatasetAccounts) Unaffordable(ctx context.Context, analyst string, cost dp.Cost) error {
	_, balances, err := s.balances(ctx, analyst, 0)
	if err != nil {
		return err
	}
	for _, b := range balances {
		if !b.Spent.Add(cost).Fits(b.Limit) {
			return s.Advise(ctx, analyst, &ledger.BudgetError{Account: b.Account, Want: cost, Left: b.Left()})
		}
	}
	return nil
}

// Affords reports whether all accounts of an analyst admit a cost now.
func (s *DatasetAccounts) Affords(ctx context.Context, analyst string, cost dp.Cost) (bool, error) {
	if cost == (dp.Cost{}) {
		return true, nil
	}
	_, balances, err := s.balances(ctx, analyst, 0)
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
