package curator

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/tree"
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
		Neighbours: c.dataset.Neighbours.String(), Confidence: p.settings.Level(), Split: p.split(), Free: p.free(),
		Cost: bill.whole(), Pay: bill.pay(), Known: bill.settled(), Affordable: true,
	}
	for i, b := range p.buys {
		inquiry := p.inquiry(b, all[i])
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

// inquiry explains one purchase.
func (p *priced) inquiry(b *purchase, r *released) api.Inquiry {
	q := b.query
	out := api.Inquiry{
		Tables: tables(q.From), Keys: []api.KeyInquiry{}, Groups: q.Groups(), MaxRows: q.MaxRows(), MaxGroups: q.MaxGroups(),
		Bounds: bounds(q), Cost: b.cost(), Known: r != nil,
	}
	if r != nil {
		out.Record, out.Derived = r.sequence, r.derived != 0
	}
	for _, k := range q.Keys {
		out.Keys = append(out.Keys, keyInquiry(k, b))
	}
	if b.choice != nil {
		out.Chosen = q.Choice.K
		out.Measures = append(out.Measures, p.chosen(b))
		return out
	}
	for i, m := range q.Measures {
		out.Measures = append(out.Measures, p.measurement(b, m, b.noise[i]))
	}
	if b.keys != nil {
		out.Measures = append(out.Measures, p.keyMeasurement(b))
	}
	return out
}

// split says how the price is divided.
func (p *priced) split() string {
	unit := "rho"
	if p.currency.pure {
		unit = "epsilon"
	}
	if p.raised {
		return fmt.Sprintf("the error asked for would cost less than a question may; the least %s that one costs here is shared in proportion to what each count and sum needs, and makes them more exact", unit)
	}
	if p.settings.Error != nil {
		return fmt.Sprintf("each count and sum pays the least %s that has the error asked for", unit)
	}
	shares, text := 0, ""
	for _, b := range p.buys {
		shares += b.shares()
	}
	if len(p.buys) > 1 {
		text = fmt.Sprintf("%d questions share %s equally, and ", len(p.buys), unit)
	}
	if shares == len(p.buys) && text == "" {
		return "one release takes the whole price"
	}
	return text + fmt.Sprintf("the releases of a question share its %s equally, which makes the largest error, counted in people, as small as it can be", unit)
}

// free lists what the statement does after the noise.
func (p *priced) free() []string {
	var out []string
	add := func(has bool, what string) {
		if has {
			out = append(out, what)
		}
	}
	var having, order, limit, distinct, computed bool
	for _, one := range p.statement.Plans {
		having = having || one.Having != nil
		order = order || len(one.Order) > 0
		limit = limit || (one.Limit != nil || one.Offset > 0) && one.Query.Choice == nil
		distinct = distinct || one.Distinct
		for _, s := range one.Stats {
			computed = computed || s.Kind == tree.AverageStat || s.Kind == tree.VarianceStat
		}
	}
	add(computed, "averages and variances, from noisy counts and sums")
	add(having, "HAVING")
	add(order, "ORDER BY")
	add(limit, "LIMIT and OFFSET")
	add(distinct, "DISTINCT")
	add(p.statement.Outer != nil, "the query around the answers")
	add(true, "asking it again")
	return out
}
