package curator

import (
	"context"
	"math/big"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/memory"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/pricing"
)

// Explain prices a question without asking it.
func (c *Curator) Explain(ctx context.Context, q api.Question) (*api.Explanation, error) {
	text := syntax.Open(q.SQL, q.Parsed)
	q.Parsed = text
	if plan.AsksHoldout(text) {
		return c.Holdouts.ExplainSQL(ctx, q)
	}
	a, err := c.newAsking(ctx, q, memory.Horizon{AsOf: q.AsOf, Spoken: true})
	if err != nil {
		return nil, err
	}
	defer a.close()
	if a.empty != nil {
		return a.explainEmpty(ctx)
	}
	if err := a.claim(ctx); err != nil {
		return nil, err
	}
	e := &api.Explanation{
		Neighbours: c.dataset.Neighbours.String(), Confidence: a.Settings.Level(), Split: a.Split(), Free: a.Free(),
		Cost: a.whole(), Pay: a.pay(), Known: a.settled(), Now: text.Now(),
	}
	if e.Now != "" {
		name, constant := clock(e.Now)
		e.Free[len(e.Free)-1] = "asking it again with " + constant + " in the place of " + name
	}
	if a.other != nil {
		e.Noise = a.SayNoise(a.otherPart)
	}
	for i, b := range a.Purchases {
		inquiry := a.Inquiry(b)
		if r := a.released[i]; r != nil {
			inquiry.Known, inquiry.Record, inquiry.Derived = true, r.Sequence, r.Derived != 0
		}
		if base := a.bases.of[b]; base != nil {
			explainBase(&inquiry, b, base)
		}
		if d := a.diverted[b]; d != nil {
			d.Explain(&inquiry, a.Priced)
		}
		e.Questions = append(e.Questions, inquiry)
	}
	if q.Parts {
		if e.Makeup, err = a.makeup(ctx); err != nil {
			return nil, err
		}
	}
	if e.Deadline, err = a.deadline(ctx); err != nil {
		return nil, err
	}
	if !e.Known {
		if e.Closed, err = c.ClosedAt(ctx, q.Analyst, q.AsOf); err != nil {
			return nil, err
		}
	}
	if e.Remaining, err = c.Remaining(ctx, q.Analyst); err != nil {
		return nil, err
	}
	if n, ok := e.Remaining.More(a.most()); ok && !e.Known {
		e.More = &n
	}
	if e.After, err = c.RemainingAfter(ctx, q.Analyst, a.most()); err != nil {
		return nil, err
	}
	e.Affordable, err = c.Affords(ctx, q.Analyst, a.most())
	return e, err
}

// explainBase says what a purchase costs that is made of an earlier answer, and how exact it is.
func explainBase(inquiry *api.Inquiry, b *pricing.Purchase, base *memory.Base) {
	inquiry.Sharpens, inquiry.Cost = base.Sequence, b.CostAfter(base.By)
	for i, by := range base.By {
		if half := inquiry.Measures[i].Error; by != nil && half != nil {
			*half += pricing.Scaled(big.NewInt(by.Off()), b.Query.Measures[i].Step())
		}
	}
}
