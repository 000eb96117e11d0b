package curator

import (
	"context"
	"time"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// place is an account together with what it is.
type place struct {
	ledger.Account
	kind    string // dataset, window, group or analyst
	window  uint64 // 0 where the dataset is not renewed, and of the dataset's own account, which is that of all windows
	expires string
}

// The names of accounts. A dataset, a group and an analyst have no "/", ":" or "#" in their names, which package policy sees
// to, so no two accounts have the same name.

func groupAccount(dataset, group string) string { return dataset + "/group:" + group }

func analystAccount(dataset, analyst string) string { return dataset + "/" + analyst }

// places names what a question of an analyst is charged to: the dataset, which holds against everybody colluding, the current
// window where there are windows, the groups of the analyst, and the analyst's own quota.
func (c *Curator) places(analyst string, window uint64) []place {
	all := c.of(window)
	for _, g := range c.dataset.GroupsOf(analyst) {
		all = append(all, c.group(g, window))
	}
	return append(all, c.analyst(analyst, window))
}

// of returns the accounts of everybody together.
func (c *Curator) of(window uint64) []place {
	name, ds := c.dataset.Name, c.dataset
	all := []place{{Account: ledger.Account{Name: name, Filter: ds.TotalFilter()}, kind: "dataset"}}
	if ds.Budget.Renews() {
		all = append(all, place{Account: ledger.Account{Name: ledger.WindowName(name, window), Filter: ds.Filter()}, kind: "window", window: window})
	}
	return all
}

func (c *Curator) group(name string, window uint64) place {
	quota, _ := c.dataset.GroupQuota(name)
	return c.inWindow(place{Account: ledger.Account{Name: groupAccount(c.dataset.Name, name), Filter: quota}, kind: "group"}, window)
}

func (c *Curator) analyst(name string, window uint64) place {
	quota, _ := c.dataset.Quota(name)
	p := place{Account: ledger.Account{Name: analystAccount(c.dataset.Name, name), Filter: quota}, kind: "analyst"}
	if a := c.dataset.Analysts[name]; a != nil {
		p.expires = lastDay(a)
	}
	return c.inWindow(p, window)
}

// inWindow makes a quota that of one window, where there are windows.
func (c *Curator) inWindow(p place, window uint64) place {
	if c.dataset.Budget.Renews() {
		p.Name, p.window = ledger.WindowName(p.Name, window), window
	}
	return p
}

func lastDay(a *policy.Analyst) string {
	if a.Expires.IsZero() {
		return ""
	}
	return a.Expires.Format(time.DateOnly)
}

func accountsOf(all []place) []ledger.Account {
	out := make([]ledger.Account, len(all))
	for i, p := range all {
		out[i] = p.Account
	}
	return out
}

// balances returns the accounts of an analyst in the current window, and what is in them.
func (c *Curator) balances(ctx context.Context, analyst string) ([]place, []ledger.Balance, error) {
	window, err := c.ledger.Window(ctx, c.dataset.Name)
	if err != nil {
		return nil, nil, err
	}
	all := c.places(analyst, window)
	balances, err := c.ledger.Balances(ctx, accountsOf(all))
	return all, balances, err
}
