package httpapi

import (
	"context"
	"math/big"
	"net/http"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/policywords"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// PolicyQuota is what an analyst or a group may spend of a budget.
type PolicyQuota struct {
	Name     string    `json:"name"`
	Share    *float64  `json:"share,omitempty" doc:"The share of the budget, if the policy gives a share"`
	Epsilon  dp.Amount `json:"epsilon,omitempty" doc:"The amount, if the policy gives an amount"`
	Limit    dp.Cost   `json:"limit" doc:"The same in the units of the ledger, without top-ups"`
	Expires  string    `json:"expires,omitempty" doc:"The first day, in UTC, on which they may no longer ask"`
	Groups   []string  `json:"groups,omitempty" doc:"For an analyst: whose quotas they share"`
	Analysts []string  `json:"analysts,omitempty" doc:"For a group: its members"`
}

type PolicyTable struct {
	Name    string         `json:"name"`
	Public  bool           `json:"public"`
	Rows    string         `json:"rows" doc:"How many rows count, and for whom"`
	Path    string         `json:"path" doc:"How to get from a row to its person; - if there is nothing to follow"`
	Columns []PolicyColumn `json:"columns"`
}

// PolicyColumn is what can be asked of a column, in words.
type PolicyColumn struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Bounds string `json:"bounds"`
	Keys   string `json:"keys"`
	Sum    string `json:"sum" doc:"Whether you can sum and average it: yes, no, or what is missing"`
	Group  string `json:"group" doc:"Whether you can group by it: yes or no"`
}

// PolicyDataset is a dataset of the policy, readably.
type PolicyDataset struct {
	Name       string        `json:"name"`
	Unit       string        `json:"unit"`
	Neighbours string        `json:"neighbours"`
	Budget     Budget        `json:"budget"`
	InWords    string        `json:"budget_in_words"`
	Promise    []string      `json:"promise" doc:"What the budget promises to every person in the data, including top-ups"`
	Failures   string        `json:"failures" doc:"How many failures are tolerated, and what ends that"`
	Release    string        `json:"release" doc:"When answers are sent"`
	Analysts   []PolicyQuota `json:"analysts"`
	Groups     []PolicyQuota `json:"groups"`
	Tables     []PolicyTable `json:"tables"`
	Views      []View        `json:"views"`
	Streams    []string      `json:"streams"`
	Holdouts   []string      `json:"holdouts"`
	Warnings   []string      `json:"warnings" doc:"Settings that are allowed but probably not intended"`
}

// Policy is what the server goes by.
type Policy struct {
	Datasets    []PolicyDataset `json:"datasets"`
	Fingerprint string          `json:"fingerprint,omitempty" doc:"Of the key with which the ledger's owner signs; left out if there is none, and then nothing can be signed over HTTP"`
}

// CheckedDataset is what was found about a dataset.
type CheckedDataset struct {
	Name     string   `json:"name"`
	Warnings []string `json:"warnings" doc:"Settings that are allowed but probably not intended"`
}

// PolicyCheck is what 'discreet check --no-data' finds.
type PolicyCheck struct {
	OK       bool             `json:"ok" doc:"True if there are no problems; there may be warnings"`
	Problems []string         `json:"problems" doc:"Views that no question can use, and streams that nobody can ask"`
	Datasets []CheckedDataset `json:"datasets"`
	Data     string           `json:"data" doc:"What was not checked, and how to check it"`
}

// dataNotChecked is why the data is not looked at: what 'discreet check' finds there are exact
// numbers about people's rows, and none of these ever leaves over HTTP, to nobody.
const dataNotChecked = "the data itself was not checked; run 'discreet check' on the machine with the data, and nowhere else: it counts " +
	"rows without noise"

// policyHandler tells the owner what the policy says.
type policyHandler struct {
	dispatcher *admission.Dispatcher
	history    *history
}

// Reload is how the policy is read again.
type Reload struct {
	DryRun bool `json:"dry_run,omitempty" doc:"Only say what would change"`
}

type reloadInput struct{ Body Reload }

func (h *policyHandler) register(r *router) {
	register(r, operation(ownerOnly, http.MethodGet, "/v1/policy", "policy", "The policy in readable form",
		"For the owner: the policy that the server uses, with the promise in words. Nothing is read from the data."),
		func(ctx context.Context, _ users.User, _ *empty) (*body[Policy], error) {
			db, out := h.dispatcher.DB(), Policy{Datasets: []PolicyDataset{}}
			for _, name := range db.Policy().Names() {
				promise, err := db.Promise(ctx, name)
				if err != nil {
					return nil, err
				}
				ds := policyOf(db.Policy().Datasets[name], h.dispatcher.Tick(name))
				ds.Promise = promise
				out.Datasets = append(out.Datasets, ds)
			}
			key, err := h.history.ownerKey(ctx, db)
			if key != "" {
				out.Fingerprint = ledger.Fingerprint(key)
			}
			return bodyOf(out), err
		})
	register(r, operation(ownerOnly, http.MethodPost, "/v1/policy/reload", "reload", "Read the policy again",
		"For the owner: as 'discreet reload' does. Where the file has a mistake, or says something else that cannot change while the "+
			"server runs, the server goes on as before."),
		func(ctx context.Context, _ users.User, in *reloadInput) (*body[api.Reloaded], error) {
			out, err := h.dispatcher.DB().Reload(ctx, in.Body.DryRun)
			if err != nil {
				return nil, invalid(clip(err.Error()), "mend the file, and read it again")
			}
			return bodyOf(*out), nil
		})
	register(r, operation(ownerOnly, http.MethodGet, "/v1/check", "check", "What is wrong with the policy",
		"For the owner: what 'discreet check --no-data' finds. The data is not read."),
		func(context.Context, users.User, *empty) (*body[PolicyCheck], error) {
			db := h.dispatcher.DB()
			out := PolicyCheck{Problems: db.Problems(), Datasets: []CheckedDataset{}, Data: dataNotChecked}
			out.OK = len(out.Problems) == 0
			for _, name := range db.Policy().Names() {
				out.Datasets = append(out.Datasets, CheckedDataset{name, policywords.Warnings(db.Policy().Datasets[name])})
			}
			return bodyOf(out), nil
		})
}

func policyOf(ds *policy.Dataset, tick time.Duration) PolicyDataset {
	whole := DatasetOf(ds, users.User{Role: users.Owner})
	out := PolicyDataset{
		Name: ds.Name, Unit: whole.Unit, Neighbours: whole.Neighbours, Budget: whole.Budget, InWords: policywords.Budget(ds),
		Failures: policywords.Failures(ds), Release: policywords.Release(ds, tick), Analysts: []PolicyQuota{},
		Groups: []PolicyQuota{}, Tables: []PolicyTable{}, Views: whole.Views, Streams: append([]string{}, ds.StreamNames()...),
		Holdouts: append([]string{}, ds.HoldoutNames()...), Warnings: policywords.Warnings(ds),
	}
	for _, name := range ds.AnalystNames() {
		a := ds.Analysts[name]
		quota, _ := ds.Quota(name)
		out.Analysts = append(out.Analysts, PolicyQuota{Name: name, Share: shareOf(a.Share), Epsilon: a.Epsilon, Limit: quota.Limit(),
			Expires: budgets.LastDay(a), Groups: ds.GroupsOf(name)})
	}
	for _, name := range ds.GroupNames() {
		g := ds.Groups[name]
		quota, _ := ds.GroupQuota(name)
		out.Groups = append(out.Groups, PolicyQuota{Name: name, Share: shareOf(g.Share), Epsilon: g.Epsilon, Limit: quota.Limit(),
			Analysts: g.Analysts})
	}
	for _, name := range ds.TableNames() {
		t := ds.Tables[name]
		table := PolicyTable{Name: name, Public: t.Public, Rows: policywords.Rows(t), Path: policywords.Path(t), Columns: []PolicyColumn{}}
		for _, column := range t.ColumnNames() {
			a := policywords.Column(t, t.Columns[column])
			table.Columns = append(table.Columns, PolicyColumn{column, a.Type, a.Bounds, a.Keys, a.Sum, a.Group})
		}
		out.Tables = append(out.Tables, table)
	}
	return out
}

// shareOf is a share as a number; nil where there is none.
func shareOf(r *big.Rat) *float64 {
	if r == nil {
		return nil
	}
	f, _ := r.Float64()
	return &f
}
