package curator

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
)

// prices prices a statement in every currency that the budget has: where there are two, the first
// is in epsilon and the other one in rho. One in which it cannot be asked is left out.
func (c *Curator) prices(text string, st *plan.Statement, s api.Settings) (p, other *pricing.Priced, err error) {
	for _, in := range pricing.Currencies(c.dataset.Budget, s) {
		next, failed := c.price(text, st, s, in)
		switch {
		case failed != nil:
			err = failed
		case p == nil:
			p = next
		default:
			other = next
		}
	}
	if p == nil {
		return nil, nil, err
	}
	if len(p.Purchases) == 0 || pricing.Cost(p.Purchases) == (dp.Cost{}) { // nothing is paid for
		other = nil
	}
	return p, other, nil
}

// choose takes one of two prices: one in which everything was paid for before, so that nothing is
// bought twice because the budget stands elsewhere by now, and else the sharper one. Where some of
// it was paid for the rest is what is to be sharp, so parts are compared as if all of it were
// bought. Everything that decides it is public: the prices, what was answered, and what is left.
func (a *asking) choose(ctx context.Context) error {
	found, err := a.c.memory.Recall(ctx, a.other, a.data.ID, a.horizon)
	if err != nil {
		return err
	}
	here, there := missing(a.Priced, a.released), missing(a.other, found.Released)
	take := len(there) == 0 && len(here) > 0
	if len(there) > 0 && len(here) > 0 {
		part, err := a.part(ctx, a.Priced, here)
		if err != nil {
			return err
		}
		otherPart, err := a.part(ctx, a.other, there)
		if err != nil {
			return err
		}
		take = !pricing.Sharper(a.Priced, a.other, part, otherPart)
		if a.otherPart = otherPart; take {
			a.otherPart = part
		}
	}
	if take {
		a.Priced, a.other = a.other, a.Priced
		a.take(found)
	}
	return nil
}

// part is the part of what is left that a question takes by what is missing of it, or would take if
// all of it were: infinite where that is not to be had.
func (a *asking) part(ctx context.Context, p *pricing.Priced, missing []*pricing.Purchase) (float64, error) {
	part, err := a.c.Takes(ctx, a.question.Analyst, pricing.Cost(missing))
	return part * float64(len(p.Purchases)) / float64(len(missing)), err
}

// missing are the purchases that were not paid for.
func missing(p *pricing.Priced, released []*answers.Released) []*pricing.Purchase {
	var out []*pricing.Purchase
	for i, b := range p.Purchases {
		if released[i] == nil && !b.Query.ListsKeys() {
			out = append(out, b)
		}
	}
	return out
}

// turned reports whether a request that is sent again was paid for with the other noise, and turns
// to that: where the budget stands by now is not what it was charged by. Nothing was charged yet.
func (a *asking) turned(ctx context.Context, err error) bool {
	var other *ledger.RequestError
	if a.other == nil || !errors.As(err, &other) {
		return false
	}
	found, failed := a.c.memory.Recall(ctx, a.other, a.data.ID, a.horizon)
	if failed != nil {
		return false
	}
	a.Priced, a.other = a.other, nil
	a.take(found)
	a.bought = missing(a.Priced, a.released)
	return len(a.bought) > 0 && len(a.diverted) == 0 && a.findBases(ctx) == nil
}
