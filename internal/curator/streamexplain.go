package curator

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/pricing"
)

// diversion is a purchase that would go through a stream.
type diversion struct {
	*route
	buy   *pricing.Purchase
	price streamPrice
}

type diversions map[*pricing.Purchase]*diversion

// quoteAsOf quotes to who is only told, as of a moment.
func quoteAsOf(asOf time.Time) quoting {
	return func(_ context.Context, r *route) (streamPrice, error) { return r.quoteAll(asOf) }
}

// others are the purchases that are bought by themselves.
func (d diversions) others(buys []*pricing.Purchase) []*pricing.Purchase {
	return slices.DeleteFunc(slices.Clone(buys), func(b *pricing.Purchase) bool { return d[b] != nil })
}

// most is what all of them could cost together.
func (d diversions) most() dp.Cost {
	var sum dp.Cost
	for _, one := range d {
		sum = sum.Add(one.price.most)
	}
	return sum
}

// known reports whether all of them were answered before.
func (d diversions) known() bool {
	for _, one := range d {
		if !one.price.cached {
			return false
		}
	}
	return true
}

// explainDiversion explains a question that goes through a stream.
func explainDiversion(q *api.Inquiry, p *pricing.Priced, d *diversion) {
	most := p.Currency.Plus(dp.Cost{}, d.price.most)
	q.Stream = &api.StreamInquiry{
		Name: d.policy.Name, Counts: len(d.different), Known: d.price.cached, Most: most, Error: d.tariff.Error, Confidence: 1 - d.policy.Beta, Ordinary: p.Currency.Plus(dp.Cost{}, q.Cost),
	}
	q.Cost, q.Known = most, d.price.cached
	for i := range q.Measures {
		m := &q.Measures[i]
		var worst int64
		for _, terms := range d.terms[i] {
			worst = max(worst, d.half(terms))
		}
		half := pricing.Scaled(big.NewInt(worst), d.buy.Query.Measures[i].Step())
		m.Mechanism, m.Deviation, m.Error, m.Cost, m.Norm, m.Sensitivity = "stream "+d.policy.Name, 0, &half, dp.Cost{}, "each", 1
		m.Why = fmt.Sprintf("made of counts that the stream has answered, predicts or pays for; each is within %d", d.tariff.Error)
	}
}
