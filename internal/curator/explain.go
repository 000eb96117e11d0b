package curator

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Explanation says what a question would cost, how exact its answer would be, and why. It is made from the text, the
// policy and the ledger, it is free, and of the data it uses only which version there is, to know
// whether the answer was paid for. How an engine would compute it, and how many rows there are, is no part of it.
type Explanation struct {
	Neighbours string  `json:"neighbours"`
	Confidence float64 `json:"confidence"`
	// Questions are what is paid for: one, or several where a query around them puts their answers together.
	Questions []Inquiry `json:"questions"`
	// Split says how the price is divided, and Free what costs nothing.
	Split string   `json:"split"`
	Free  []string `json:"free"`
	// Cost is the price of everything, and Pay what would be charged now: less, where some was paid for.
	Cost dp.Cost `json:"cost"`
	Pay  dp.Cost `json:"pay"`
	// Known says that the answer has been paid for and would be free.
	Known     bool      `json:"known"`
	Remaining Remaining `json:"remaining"` // before paying
	After     Remaining `json:"after"`     // after paying
	// Affordable says whether the budget admits the question now.
	Affordable bool `json:"affordable"`
	// Closed says that this would be refused, because questions failed after they were charged: there are no new answers before the owner has released it.
	Closed bool `json:"closed,omitempty"`
}

// Inquiry is one question that is paid for.
type Inquiry struct {
	Tables []string     `json:"tables"`
	Keys   []KeyInquiry `json:"keys"`
	Groups int          `json:"groups"` // rows of the answer; for each combination of private keys, where there are such
	Chosen int          `json:"chosen"` // how many of them are chosen; 0 where all are shown
	// MaxRows and MaxGroups are how much of one person counts, and Bounds says it in words.
	MaxRows   int64         `json:"max_rows"`
	MaxGroups int64         `json:"max_groups"`
	Bounds    string        `json:"bounds"`
	Measures  []Measurement `json:"measures"`
	Cost      dp.Cost       `json:"cost"`
	Known     bool          `json:"known"`
	// Record is the charge that paid for what is known, and Derived says that it paid for another question, of whose answer
	// this one is made. Its error is then at most that of the measures here.
	Record  uint64 `json:"record,omitempty"`
	Derived bool   `json:"derived,omitempty"`
	// Stream says that it would be answered through a stream, and Cost is then the most that it could cost now.
	Stream *StreamInquiry `json:"stream,omitempty"`
}

// KeyInquiry is something to group by.
type KeyInquiry struct {
	Key     string `json:"key"`
	Private bool   `json:"private"`
	Values  int    `json:"values"` // how many public ones there are
	Rule    string `json:"rule"`   // which values are shown
}

// Measurement is something that a mechanism releases.
type Measurement struct {
	Measure     string   `json:"measure"`
	Mechanism   string   `json:"mechanism"`
	Sensitivity float64  `json:"sensitivity"` // how far one person moves it, in units of the answer
	Norm        string   `json:"norm"`        // l1 or l2, over all groups together; each, for every group by itself
	Step        string   `json:"step"`
	Deviation   float64  `json:"scale"` // the scale b, or sigma, in units of the answer; in ranks, for quantiles
	Error       *float64 `json:"error"` // the half width of the interval; null where nobody can know it
	Why         string   `json:"why"`
	Cost        dp.Cost  `json:"cost"`
}

// Explain prices a question without asking it.
func (c *Curator) Explain(ctx context.Context, q Question) (*Explanation, error) {
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
	e := &Explanation{
		Neighbours: c.dataset.Neighbours.String(), Confidence: p.settings.confidence(), Split: p.split(), Free: p.free(),
		Cost: bill.whole(), Pay: bill.pay(), Known: bill.settled(), Affordable: true,
	}
	for i, b := range p.buys {
		inquiry := p.inquiry(b, all[i])
		if d := bill.diverted[b]; d != nil {
			inquiry.through(p, d)
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
func (p *priced) inquiry(b *purchase, r *released) Inquiry {
	q := b.query
	out := Inquiry{
		Tables: tables(q.From), Keys: []KeyInquiry{}, Groups: q.Groups(), MaxRows: q.MaxRows(), MaxGroups: q.MaxGroups(),
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
