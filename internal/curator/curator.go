package curator

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/policy"
)

// ErrRun is returned when an engine failed after the charge. The engine's own
// words are not passed on, whatever an engine promises about them: they could depend on the data.
var ErrRun = errors.New("the engine could not run this question, and the charge stays; ask the owner to run 'discreet check'")

// Curator answers questions about one dataset. It is safe for concurrent use.
type Curator struct {
	dataset  *policy.Dataset
	engine   engine.Engine
	ledger   ledger.Ledger
	releaser *mech.Releaser
	flights  flights
	slots    slots
	fresh    fresh
	drafts   drafts
	holdouts holdouts
	streams  streams
	began    began
	// fit is learn.Fit; tests plant others.
	fit    fitter
	second opinion
	// tell is who is told of incidents, or nil.
	tell   func(api.Incident)
	reruns reruns
	// now is asked for one thing only: whether an analyst's access has expired. See [Curator.expired].
	now func() time.Time
}

// New returns the curator of a dataset.
func New(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) *Curator {
	return &Curator{dataset: ds, engine: e, ledger: l, releaser: r, fit: learn.Fit, second: secondOpinion, now: time.Now}
}

// Ask answers a question. Errors: [*api.Refusal] when it cannot be asked,
// [*ledger.BudgetError] when it cannot be paid for; with both nothing was spent. A [*ledger.DoorError] says whether something was.
func (c *Curator) Ask(ctx context.Context, q api.Question) (*api.Answer, error) {
	if err := foreign(q.Request); err != nil {
		return nil, err
	}
	if c.asksHoldout(q) {
		return c.askHoldoutSQL(ctx, q)
	}
	p, err := c.prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	around, err := answers.CheckOuter(ctx, p.Statement)
	if err != nil {
		return nil, err
	}
	data, err := c.data(ctx)
	if err != nil {
		return nil, err
	}
	routes, err := c.routes(ctx, p, data)
	if err != nil {
		return nil, err
	}
	defer closeAll(routes)
	// One at a time for each purchase, so that two who ask the same at once pay once.
	keys := make([]string, len(p.Purchases))
	for i, b := range p.Purchases {
		keys[i] = b.Key(data.ID)
		if routes[i] != nil && routes[i].fits(p, b) {
			keys = append(keys, routes[i].key)
		}
	}
	leave, err := c.flights.enter(ctx, keys...)
	if err != nil {
		return nil, err
	}
	defer leave()
	all, paid, err := c.recall(ctx, p, data.ID, sight{q.AsOf, false})
	if err != nil {
		return nil, err
	}
	bill, err := c.bill(ctx, p, routes, all, q.Analyst, quoteNow(q.AsOf))
	if err != nil {
		return nil, err
	}
	var spent dp.Cost
	var alerts []ledger.Alert
	if len(bill.buys) > 0 {
		if paid, alerts, err = c.buy(ctx, q, bill, all, data.Version); err != nil {
			return nil, err
		}
		if !paid.Free {
			spent = bill.tags()
		}
		c.teach(routes, p.Purchases, bill.buys, all)
	}
	who := &payer{analyst: q.Analyst, charged: spent != (dp.Cost{})}
	uses, receipt, err := c.through(ctx, bill, all, who)
	if err != nil {
		return nil, err
	}
	for _, u := range uses {
		spent = p.Currency.Plus(spent, u.Cost)
	}
	if receipt.Sequence != 0 {
		paid = receipt
	}
	alerts = append(alerts, who.alerts...)
	remaining, err := c.Remaining(ctx, q.Analyst)
	if err != nil {
		return nil, err
	}
	a, err := answers.Finish(ctx, p, around, all)
	if err != nil {
		return nil, err
	}
	a.Receipt, a.Remaining, a.Cost, a.Alerts, a.Through = paid, remaining, spent, alerts, uses
	if err := c.nameData(ctx, a, data); err != nil {
		return nil, err
	}
	return a, nil
}

// buy charges once for all that is missing, then runs, releases and keeps, in this order.
func (c *Curator) buy(ctx context.Context, q api.Question, bill *bill, all []*answers.Released, version ledger.Version) (api.Receipt, []ledger.Alert, error) {
	buys := bill.buys
	charged, err := c.charge(ctx, q.Analyst, ledger.Charge{
		Request:     q.Request,
		Analyst:     q.Analyst,
		Dataset:     c.dataset.Name,
		DataVersion: version.String(),
		Query:       pricing.HashAll(buys),
		Mechanisms:  pricing.Mechanisms(buys),
		Cost:        bill.charge(),
	})
	if err != nil {
		return api.Receipt{}, nil, err
	}

	// The charge is durable. From here on it stays, whatever happens.
	if charged.Again {
		if err := c.reruns.again(charged.Sequence); err != nil {
			return api.Receipt{}, nil, err
		}
	}
	bought, err := c.compute(ctx, buys, bill.Room())
	if err != nil {
		return api.Receipt{}, nil, c.failed(ctx, q.Analyst, charged.Sequence, err, ErrRun)
	}

	// Released and now public, but kept before anybody sees it: an analyst who stops
	// waiting must not make us lose what was paid for.
	if err := c.keep(context.WithoutCancel(ctx), charged.Sequence, buys, bought, version.ID); err != nil {
		return api.Receipt{}, nil, err
	}
	c.reruns.answered(charged.Sequence)
	for i, b := range bill.Priced.Purchases {
		if at := slices.Index(buys, b); at >= 0 {
			all[i] = bought[at]
		}
	}
	return api.Receipt{Sequence: charged.Sequence, Hash: charged.Hash, Free: charged.Again}, charged.Alerts(), nil
}

// compute runs all that was paid for, and releases it. What goes wrong can depend on the data.
func (c *Curator) compute(ctx context.Context, buys []*pricing.Purchase, room int) (bought []*answers.Released, err error) {
	defer caught(&err)
	bought = make([]*answers.Released, len(buys))
	for i, b := range buys {
		exactly, err := c.run(ctx, b.Query)
		if err != nil {
			return nil, err
		}
		if bought[i], err = c.release(b, exactly, room); err != nil {
			return nil, err
		}
	}
	return bought, nil
}
