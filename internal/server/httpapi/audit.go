package httpapi

import (
	"context"
	"net/http"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/ledger/replay"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
)

// Audit is what a second look at the ledger says.
type Audit struct {
	// Good says that there is nothing to look after.
	Good        bool              `json:"good" doc:"The chain is whole, and every decision is what follows from those before it"`
	Head        Head              `json:"head" doc:"The last record that was looked at"`
	Records     uint64            `json:"records" doc:"How many records there are"`
	Decisions   uint64            `json:"decisions" doc:"How many charges were decided once more"`
	Differ      uint64            `json:"differ" doc:"How many records are not what follows from those before"`
	Differences []replay.Decision `json:"differences" doc:"The first hundred of these"`
	Doubts      []replay.Decision `json:"doubts" doc:"The first hundred records about which something cannot be told that an owner may want to ask about"`
	Spent       []ledger.Balance  `json:"spent" doc:"What was spent in every account ever charged, as it was derived here"`
	Datasets    []DatasetAudit    `json:"datasets" doc:"What the server goes by"`
}

// DatasetAudit is one dataset in an audit.
type DatasetAudit struct {
	Name     string        `json:"name"`
	Accounts []api.Account `json:"accounts"`
	Promise  []string      `json:"promise" doc:"What the budget promises to every person in the data"`
}

// mostListed is how many differences are told one by one.
const mostListed = 100

func (d *door) audit() {
	register(d,
		operation(ownerOnly, http.MethodGet, "/v1/audit", "audit", "A second look at the ledger",
			"For the owner. Verifies the chain of records from the first to the last, decides every charge once more, by code that "+
				"shares nothing with what decided it first, and tells what is spent and promised."),
		func(ctx context.Context, _ users.User, _ *nothing) (*body[Audit], error) {
			select { // it reads everything, so one at a time
			case d.audits <- struct{}{}:
				defer func() { <-d.audits }()
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			a, err := d.look(ctx, func(uint64) {})
			if err != nil {
				return nil, err
			}
			return of(*a), nil
		})
}

// look decides every charge once more, and tells now and then how far it is.
func (d *door) look(ctx context.Context, tell func(done uint64)) (*Audit, error) {
	db, again := d.Dispatcher.DB(), replay.New()
	a := &Audit{Differences: []replay.Decision{}, Doubts: []replay.Decision{}, Spent: []ledger.Balance{}, Datasets: []DatasetAudit{}}
	for r, err := range db.Records(ctx, 0) {
		if err != nil {
			return nil, err
		}
		hash := ledger.Hash(r.Encode())
		one := again.Next(r, hash)
		if len(one.Differs) > 0 && len(a.Differences) < mostListed {
			a.Differences = append(a.Differences, one)
		}
		if len(one.Doubts) > 0 && len(a.Doubts) < mostListed {
			a.Doubts = append(a.Doubts, one)
		}
		a.Head, a.Records = Head{r.Sequence, hash}, a.Records+1
		if r.Sequence%4096 == 0 {
			tell(r.Sequence)
		}
	}
	a.Decisions, a.Differ = again.Decisions()
	a.Good = a.Differ == 0 && a.Records > 0
	a.Spent = append(a.Spent, again.Spent()...)
	for _, name := range db.Policy().Names() {
		accounts, err := db.Budget(ctx, name)
		if err != nil {
			return nil, err
		}
		promise, err := db.Promise(ctx, name)
		if err != nil {
			return nil, err
		}
		a.Datasets = append(a.Datasets, DatasetAudit{name, accounts, promise})
	}
	return a, nil
}
