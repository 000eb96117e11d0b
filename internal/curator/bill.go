package curator

import (
	"context"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/pricing"
)

// bill is what a question takes when it is asked now. Explain shows it and Ask pays it, so what is shown and what is charged are
// one number and not two that agree.
type bill struct {
	*pricing.Priced
	buys     []*pricing.Purchase // bought by themselves, with one charge
	diverted diversions          // answered through streams, which charge for themselves
}

// quoting says what a stream would cost: to somebody who is told, or to somebody who asks.
type quoting func(context.Context, *route) (streamPrice, error)

// bill finds what is left to pay of a question, of which some may be released already. Of the rest, what can go through a stream does so where that is
// cheaper, or where the analyst wants it so, and where the accounts admit it. What they do not admit is bought like everything else, or refused.
func (c *Curator) bill(ctx context.Context, p *pricing.Priced, routes []*route, all []*answers.Released, analyst string, quote quoting) (*bill, error) {
	out := &bill{Priced: p, diverted: diversions{}}
	for i, b := range p.Purchases {
		if all[i] != nil {
			continue
		}
		d, err := c.divert(ctx, p, b, routes[i], analyst, quote)
		if err != nil {
			return nil, err
		}
		if d != nil {
			out.diverted[b] = d
		} else {
			out.buys = append(out.buys, b)
		}
	}
	return out, nil
}

// charge is what the purchases are charged with.
func (b *bill) charge() dp.Cost { return pricing.Cost(b.buys) }

// tags is the charge as an analyst reads it.
func (b *bill) tags() dp.Cost { return b.Tag(b.buys) }

// most is what all of it comes to at most, as it adds up; pay is that as an analyst reads it.
func (b *bill) most() dp.Cost { return b.charge().Add(b.diverted.most()) }
func (b *bill) pay() dp.Cost  { return b.Currency.Plus(b.tags(), b.diverted.most()) }

// whole is the price of everything, with what was paid for before.
func (b *bill) whole() dp.Cost {
	return b.Currency.Plus(b.Tag(b.diverted.others(b.Priced.Purchases)), b.diverted.most())
}

// settled says that nothing is left to be paid or to be asked.
func (b *bill) settled() bool { return len(b.buys) == 0 && b.diverted.known() }
