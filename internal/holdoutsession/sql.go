package holdoutsession

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
)

// Holdouts in SQL: SELECT holdout_mean(expression [, training]) FROM table goes to the holdout of
// the table, and not to the mechanisms of other questions.

// sqlQuestion is a question in SQL, checked as far as the text and the policy go.
type sqlQuestion struct {
	api.HoldoutQuestion
	query *tree.Holdout
	notes []string // about settings that are not used: the price is in the policy
}

// prepareSQL checks who asks, the settings and the text.
func (c *Sessions) prepareSQL(ctx context.Context, q api.Question) (*sqlQuestion, error) {
	if err := c.Admit(q.Analyst); err != nil {
		return nil, err
	}
	s, err := pricing.Settings(q)
	if err != nil {
		return nil, err
	}
	h, err := plan.PrepareHoldout(c.Dataset, syntax.Open(q.SQL, q.Parsed), "", plan.Options{Meter: meter.Of(ctx)})
	if err != nil {
		return nil, err
	}
	out := &sqlQuestion{query: h, HoldoutQuestion: api.HoldoutQuestion{
		Analyst: q.Analyst, Holdout: h.Of.Name, SQL: q.SQL, Parsed: q.Parsed, Confidence: s.Level(),
	}}
	if s.Epsilon > 0 || s.Error != nil || s.Mechanism != "" {
		out.notes = []string{
			"the price and the noise of a holdout are in the policy: dp.epsilon, dp.error and dp.mechanism are not used here"}
	}
	return out, nil
}

// AskSQL answers a question in SQL. Where it was to be free nothing is charged for it.
func (c *Sessions) AskSQL(ctx context.Context, q api.Question, free bool) (*api.Answer, error) {
	ctx = meter.With(ctx)
	asked, err := c.prepareSQL(ctx, q)
	if err != nil {
		return nil, err
	}
	a, err := c.ask(ctx, asked.HoldoutQuestion, &interactive.Payer{Analyst: q.Analyst, Free: free, Alerts: []ledger.Alert{}})
	if err != nil {
		return nil, err
	}
	a.Notes = append(a.Notes, asked.notes...)
	return (&submission{query: asked.query}).table(a), nil
}

// DescribeSQL says which column the answer has.
func (c *Sessions) DescribeSQL(ctx context.Context, q api.Question) ([]api.Column, error) {
	asked, err := c.prepareSQL(meter.With(ctx), q)
	if err != nil {
		return nil, err
	}
	return (&submission{query: asked.query}).columns(), nil
}

// ExplainSQL prices a question in SQL. Of the holdout nothing is looked at.
func (c *Sessions) ExplainSQL(ctx context.Context, q api.Question) (*api.Explanation, error) {
	ctx = meter.With(ctx)
	asked, err := c.prepareSQL(ctx, q)
	if err != nil {
		return nil, err
	}
	p, err := c.prepareHoldout(ctx, asked.HoldoutQuestion)
	if err != nil {
		return nil, err
	}
	status := p.open.asOf(p.key, q.AsOf)
	if q.AsOf.IsZero() {
		if status, err = p.open.session.Status(ctx, p.key); err != nil {
			return nil, err
		}
	}
	if !status.Known && status.Left == 0 {
		return nil, p.usedUp()
	}
	round := p.open.tariff.Round
	e := &api.Explanation{
		Neighbours: c.Dataset.Neighbours.String(),
		Confidence: answers.SixDecimals(1 - p.beta), Questions: []api.Inquiry{p.explanation(status)},
		Split: "a round of tests and its one answer from the holdout share the price equally",
		Free:  []string{"every score of a round that is paid for", "asking it again"},
		Cost:  round, Pay: round, Known: status.Known,
	}
	if status.Known || status.Open {
		e.Pay = dp.Cost{}
	}
	if !e.Known {
		if e.Closed, err = c.ClosedAt(ctx, q.Analyst, q.AsOf); err != nil {
			return nil, err
		}
	}
	if e.Remaining, err = c.Remaining(ctx, q.Analyst); err != nil {
		return nil, err
	}
	if e.After, err = c.RemainingAfter(ctx, q.Analyst, e.Pay); err != nil {
		return nil, err
	}
	e.Affordable, err = c.Affords(ctx, q.Analyst, e.Pay)
	return e, err
}
