package streamsession

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/pricing"
)

// Diversion is a purchase that would go through a stream.
type Diversion struct {
	*Route
	buy   *pricing.Purchase
	price streamPrice
}

// Diversions are the purchases of a question that go through streams.
type Diversions map[*pricing.Purchase]*Diversion

// Others are the purchases that are bought by themselves.
func (d Diversions) Others(buys []*pricing.Purchase) []*pricing.Purchase {
	return slices.DeleteFunc(slices.Clone(buys), func(b *pricing.Purchase) bool { return d[b] != nil })
}

// Most is what all of them could cost together.
func (d Diversions) Most() dp.Cost {
	var sum dp.Cost
	for _, one := range d {
		sum = sum.Add(one.price.most)
	}
	return sum
}

// Known reports whether all of them were answered before.
func (d Diversions) Known() bool {
	for _, one := range d {
		if !one.price.cached {
			return false
		}
	}
	return true
}

// Explain explains a question that goes through a stream.
func (d *Diversion) Explain(q *api.Inquiry, p *pricing.Priced) {
	most := p.Currency.Plus(dp.Cost{}, d.price.most)
	q.Stream = &api.StreamInquiry{
		Name: d.policy.Name, Counts: len(d.different), Known: d.price.cached, Most: most, Error: d.tariff.Error,
		Confidence: 1 - d.policy.Beta, Ordinary: p.Currency.Plus(dp.Cost{}, q.Cost),
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
