package curator

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

// Engine computes exact aggregates. It sees neither noise nor the ledger. All methods are
// safe for concurrent use.
type Engine interface {
	// Version names the state of the data.
	Version(ctx context.Context) (string, error)
	// Run returns, for each measure, one sealed integer per group. Its errors
	// do not depend on the data.
	Run(ctx context.Context, q *plan.Query) ([]exact.Vector, error)
}

// ErrRun is returned when an engine failed after the charge. The engine's own
// words are not passed on, whatever an engine promises about them: they could depend on the data.
var ErrRun = errors.New("the engine could not run this question, and the charge stays; ask the owner to run 'discreet check'")

// Curator answers questions about one dataset. It is safe for concurrent use.
type Curator struct {
	dataset  *policy.Dataset
	engine   Engine
	ledger   ledger.Ledger
	releaser *mech.Releaser
	flights  flights
}

// New returns the curator of a dataset.
func New(ds *policy.Dataset, e Engine, l ledger.Ledger, r *mech.Releaser) *Curator {
	return &Curator{dataset: ds, engine: e, ledger: l, releaser: r}
}

// Question is what an analyst asks.
type Question struct {
	Analyst string
	SQL     string
	// Epsilon is what the analyst is ready to pay; 0 means the policy's default.
	Epsilon dp.Amount
	// Request names the question for retries: the same request is charged once.
	Request string
}

// prepare does the steps that cost nothing: check, and price.
func (c *Curator) prepare(q Question) (*priced, error) {
	if _, ok := c.dataset.Analysts[q.Analyst]; !ok {
		return nil, &plan.Refusal{
			Reason:   "there is no analyst " + quoted(q.Analyst) + " in the dataset " + c.dataset.Name,
			Instead:  "ask as an analyst that the policy lists",
			Position: -1,
		}
	}
	p, err := plan.Prepare(c.dataset, q.SQL)
	if err != nil {
		return nil, err
	}
	return price(c.dataset, p, q.Epsilon)
}

// Ask answers a question. Errors: [*plan.Refusal] when it cannot be asked,
// [*ledger.BudgetError] when it cannot be paid for; with both nothing was spent.
func (c *Curator) Ask(ctx context.Context, q Question) (*Answer, error) {
	p, err := c.prepare(q)
	if err != nil {
		return nil, err
	}
	version, err := c.engine.Version(ctx)
	if err != nil {
		return nil, err
	}
	key := p.key(version)
	// One at a time for each key, so that two who ask the same at once pay once.
	defer c.flights.enter(key)()
	noisy, paid, err := c.recall(ctx, p, key)
	if err != nil {
		return nil, err
	}
	if noisy == nil {
		if noisy, paid, err = c.buy(ctx, q, p, version, key); err != nil {
			return nil, err
		}
	}
	remaining, err := c.Remaining(ctx, q.Analyst)
	if err != nil {
		return nil, err
	}
	a := p.finish(noisy)
	a.Receipt, a.Remaining = paid, remaining
	if !paid.Free {
		a.Cost = p.tag()
	}
	return a, nil
}

// recall returns the noisy values of an answer already paid for, or nil.
func (c *Curator) recall(ctx context.Context, p *priced, key string) ([][]int64, Receipt, error) {
	stored, sequence, found, err := c.ledger.Recall(ctx, key)
	if err != nil || !found {
		return nil, Receipt{}, err
	}
	noisy, err := p.decode(stored)
	return noisy, Receipt{Sequence: sequence, Free: true}, err
}

// buy charges, runs, releases and keeps, in this order.
func (c *Curator) buy(ctx context.Context, q Question, p *priced, version, key string) ([][]int64, Receipt, error) {
	charged, err := c.ledger.Charge(ctx, ledger.Charge{
		Request:     q.Request,
		Analyst:     q.Analyst,
		Dataset:     c.dataset.Name,
		DataVersion: version,
		Query:       p.hash(),
		Mechanisms:  p.mechanisms(),
		Cost:        p.cost,
		Accounts:    c.accounts(q.Analyst),
	})
	if err != nil {
		return nil, Receipt{}, c.advise(ctx, q.Analyst, err)
	}
	paid := Receipt{Sequence: charged.Sequence, Hash: charged.Hash, Free: charged.Again}

	// The charge is durable. From here on it stays, whatever happens.
	exactly, err := c.engine.Run(ctx, &p.plan.Query)
	if err != nil {
		return nil, Receipt{}, ErrRun
	}
	noisy := make([][]int64, len(exactly))
	for i, x := range exactly {
		noisy[i] = c.releaser.Release(x, p.noise[i])
	}

	// Released and now public, but kept before anybody sees it: an analyst who stops
	// waiting must not make us lose what was paid for.
	stored, err := encode(noisy)
	if err != nil {
		return nil, Receipt{}, err
	}
	if err := c.ledger.Keep(context.WithoutCancel(ctx), charged.Sequence, key, stored); err != nil {
		return nil, Receipt{}, err
	}
	return noisy, paid, nil
}

// accounts names what a question of an analyst is charged to: the dataset, which
// holds against everybody colluding, and the analyst's quota inside it.
func (c *Curator) accounts(analyst string) []ledger.Account {
	quota, _ := c.dataset.Quota(analyst)
	return []ledger.Account{
		{Name: c.dataset.Name, Filter: c.dataset.Filter()},
		{Name: c.dataset.Name + "/" + analyst, Filter: quota},
	}
}
