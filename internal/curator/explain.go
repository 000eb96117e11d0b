package curator

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/answers"
)

// Explain prices a question without asking it.
func (c *Curator) Explain(ctx context.Context, q api.Question) (*api.Explanation, error) {
	if c.asksHoldout(q) {
		return c.explainHoldoutSQL(ctx, q)
	}
	p, err := c.prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	if _, err := answers.CheckOuter(ctx, p.Statement); err != nil {
		return nil, err
	}
	data, err := c.data(ctx)
	if err != nil {
		return nil, err
	}
	all, _, err := c.recall(ctx, p, data.ID, sight{q.AsOf, true})
	if err != nil {
		return nil, err
	}
	routes, err := c.routes(ctx, p, data)
	if err != nil {
		return nil, err
	}
	defer closeAll(routes)
	bill, err := c.bill(ctx, p, routes, all, q.Analyst, quoteAsOf(q.AsOf))
	if err != nil {
		return nil, err
	}
	e := &api.Explanation{
		Neighbours: c.dataset.Neighbours.String(), Confidence: p.Settings.Level(), Split: p.Split(), Free: p.Free(),
		Cost: bill.whole(), Pay: bill.pay(), Known: bill.settled(), Affordable: true,
	}
	for i, b := range p.Purchases {
		inquiry := p.Inquiry(b)
		if r := all[i]; r != nil {
			inquiry.Known, inquiry.Record, inquiry.Derived = true, r.Sequence, r.Derived != 0
		}
		if d := bill.diverted[b]; d != nil {
			explainDiversion(&inquiry, p, d)
		}
		e.Questions = append(e.Questions, inquiry)
	}
	if !e.Known {
		if e.Closed, err = c.closedAt(ctx, q.Analyst, q.AsOf); err != nil {
			return nil, err
		}
	}
	pay := bill.most()
	if e.Remaining, err = c.remaining(ctx, q.Analyst, dp.Cost{}); err != nil {
		return nil, err
	}
	if e.After, err = c.remaining(ctx, q.Analyst, pay); err != nil {
		return nil, err
	}
	e.Affordable, err = c.admits(ctx, q.Analyst, pay)
	return e, err
}
