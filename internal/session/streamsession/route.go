package streamsession

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/planner/cells"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
)

// Route is how a purchase can be answered through a stream: its measures and groups as linear
// queries.
type Route struct {
	*openStream
	terms [][][]cells.Term // by measure, then by group
	// different are the queries, each once, in the order in which they are asked.
	different []*linear.Query
}

// Routes returns, for each purchase, how it can go through a stream, or nil where it cannot. It is
// made from the text and the policy; the sessions are opened, which reads their journals.
func (c *Sessions) Routes(ctx context.Context, p *pricing.Priced, d sessionhost.Data) ([]*Route, error) {
	out := make([]*Route, len(p.Purchases))
	if len(c.Dataset.Streams) == 0 || p.Settings.Stream == "off" {
		return out, nil
	}
	work := meter.Part(ctx, 4)
	for i, b := range p.Purchases {
		if b.Query.ListsKeys() {
			continue
		}
		for _, name := range c.Dataset.StreamNames() {
			s, err := c.streamPlan(c.Dataset.Streams[name])
			if err != nil {
				continue // which Streams says
			}
			var terms [][][]cells.Term
			ok := false
			err = meter.Run(func() error {
				terms, ok = s.grid.Linear(work, b.Query)
				return nil
			})
			if err != nil {
				CloseAll(out)
				return nil, err
			}
			if !ok {
				continue
			}
			o, err := c.openStream(ctx, s, d)
			if errors.Is(err, stream.ErrJournal) || errors.Is(err, stream.ErrConfig) {
				continue
			}
			if err != nil {
				CloseAll(out)
				return nil, err
			}
			r := &Route{openStream: o, terms: terms}
			seen := map[string]bool{}
			for _, groups := range terms {
				for _, all := range groups {
					for _, t := range all {
						if !seen[t.Query.Key()] {
							seen[t.Query.Key()] = true
							r.different = append(r.different, t.Query)
						}
					}
				}
			}
			out[i] = r
			break
		}
	}
	return out, nil
}

// CloseAll gives the streams of routes back.
func CloseAll(routes []*Route) {
	for _, r := range routes {
		if r != nil {
			r.close()
		}
	}
}

// Fits reports whether a stream may answer a purchase as it was asked for: no price or mechanism
// was named, and the stream is as exact and as sure as was asked.
func (r *Route) Fits(p *pricing.Priced, b *pricing.Purchase) bool {
	s := p.Settings
	if s.Epsilon != 0 || s.Mechanism != "" || s.Level() > 1-r.policy.Beta {
		return false
	}
	if s.Error == nil {
		return true
	}
	for i, m := range b.Query.Measures {
		for _, terms := range r.terms[i] {
			if r.half(terms) > pricing.Steps(s.Error, m) {
				return false
			}
		}
	}
	return true
}

// half is how far a sum of answers may be off, in steps.
func (r *Route) half(terms []cells.Term) int64 {
	sum := new(big.Int)
	for _, t := range terms {
		w := new(big.Int).Abs(big.NewInt(t.Weight))
		sum.Add(sum, w.Mul(w, big.NewInt(r.tariff.Error)))
	}
	if !sum.IsInt64() {
		return math.MaxInt64
	}
	return sum.Int64()
}

// streamPrice is what a purchase would cost through a stream.
type streamPrice struct {
	most      dp.Cost
	cached    bool // all of it was answered before
	unchecked bool // some of it has no guarantee any more
	unpaid    bool // some of it cannot be answered with what is left to the stream
}

// quoteAll says what all queries together cost at most. The dearest costs what it is quoted at;
// every other at most a round or a plain answer more, and the joint marginals that an alarm before
// it may have made the stream want: one of the question's attributes, or one of each pair of them,
// at twice a plain answer. It depends on what was released and nothing else.
func (r *Route) quoteAll(asOf time.Time) (streamPrice, error) {
	var out streamPrice
	out.cached = true
	first := dp.Cost{}
	more, wide := -1, 0
	for _, q := range r.different {
		way, cost, err := r.quote(q, asOf)
		switch {
		case errors.Is(err, stream.ErrSpent):
			out.unpaid = true
		case err != nil:
			return out, err
		}
		if way == stream.Cached {
			continue
		}
		out.cached, out.unchecked = false, out.unchecked || way == stream.Unchecked
		more++
		k := len(q.Attributes())
		wide = max(wide, k*(k-1)/2, 1)
		if r.amount(cost) > r.amount(first) {
			first = cost
		}
	}
	if !asOf.IsZero() {
		if !out.cached { // one of them; who asks for several is told no more
			out.most = r.atMost(dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Unbounded}, r.amount(first).Mul(uint64(more)+1))
		}
		return out, nil
	}
	out.most = first
	for range more {
		out.most = out.most.Add(r.dearest())
		for range wide {
			out.most = out.most.Add(r.tariff.Plain).Add(r.tariff.Plain)
		}
	}
	report := r.session.Report()
	out.most = r.atMost(out.most, r.allowance(streamBalance{different: report.Different, spent: r.amount(report.Spent)}, more+1))
	return out, nil
}

// cheaper reports whether a purchase that is not paid for yet goes through its stream: where that
// costs no more than the question by itself, in the worst case, or where the analyst wants it so.
// What has no error bar any more is not released through SQL.
func (r *Route) cheaper(p *pricing.Priced, b *pricing.Purchase, q streamPrice) bool {
	if q.unpaid || q.unchecked {
		return false
	}
	return p.Settings.Stream == "on" || r.amount(q.most) <= r.amount(b.Cost())
}

// Divert returns how a purchase that is not paid for goes through a stream, or nil where it does
// not.
func (c *Sessions) Divert(
	ctx context.Context, p *pricing.Priced, b *pricing.Purchase, r *Route, analyst string, see answercache.Horizon,
) (*Diversion, error) {
	if r == nil || !r.Fits(p, b) {
		return nil, nil
	}
	price, err := r.priceAs(ctx, see)
	if err != nil || !r.cheaper(p, b, price) {
		return nil, err
	}
	// What the accounts do not admit is refused as every other question is, before anything of it
	// is paid.
	affordable, err := c.Affords(ctx, analyst, price.most)
	if err == nil && affordable {
		affordable, err = r.affords(ctx, c, price.most)
	}
	if err != nil || !affordable {
		return nil, err
	}
	// Nor is a part of it paid where the stream may take longer to look than a question may.
	if err := r.checkTime(ctx); err != nil && !price.cached {
		return nil, ifNoRefusal(err)
	}
	return &Diversion{r, b, price}, nil
}

func ifNoRefusal(err error) error {
	if errors.As(err, new(*api.Refusal)) {
		return nil
	}
	return err
}

// priceAs quotes to who is only told, as of a moment; or to who asks, and has the turn of the
// stream, so what it knows is what was asked before this question.
func (r *Route) priceAs(ctx context.Context, see answercache.Horizon) (streamPrice, error) {
	if see.Spoken {
		return r.quoteAll(see.AsOf)
	}
	if err := r.learn(ctx, see.AsOf); err != nil {
		return streamPrice{}, err
	}
	if err := r.session.Renew(ctx); err != nil {
		return streamPrice{}, err
	}
	return r.quoteAll(time.Time{})
}

// Answer asks all queries of a purchase, one after the other, and makes of the answers what a
// mechanism would have released.
func (r *Route) Answer(ctx context.Context, who *sessionhost.Payer) (*answers.Released, error) {
	use := &api.Through{Stream: r.policy.Name, Asked: len(r.different), Error: r.tariff.Error, Confidence: 1 - r.policy.Beta}
	values := map[string]int64{}
	out := &answers.Released{Quantiles: make([][][]int64, len(r.terms)), Through: use}
	for _, q := range r.different {
		a, err := r.ask(ctx, who, q)
		if err == nil && a.Way == stream.Unchecked {
			err = api.ErrStreamPart // what it was quoted at could not be paid after all
		}
		if err != nil {
			if use.Paid > 0 && (errors.As(err, new(*ledger.BudgetError)) || errors.As(err, new(*api.Refusal))) {
				err = api.ErrStreamPart
			}
			return nil, err
		}
		values[q.Key()] = a.Value
		if a.Way == stream.Cached || a.Way == stream.Predicted && a.Cost == (dp.Cost{}) {
			use.Free++
		} else {
			use.Paid++
		}
		if a.Cost != (dp.Cost{}) && !a.Receipt.Again {
			use.Cost = use.Cost.Add(a.Cost)
		}
		if a.Receipt.Sequence != 0 {
			out.Receipt = api.Receipt{Sequence: a.Receipt.Sequence, Hash: a.Receipt.Hash}
		}
	}
	if use.Cost != (dp.Cost{}) {
		use.Cost = r.tag(use.Cost)
	}
	for _, groups := range r.terms {
		sums, halves := make([]int64, len(groups)), make([]int64, len(groups))
		for g, terms := range groups {
			for _, t := range terms {
				sums[g] += t.Weight * values[t.Query.Key()] // at most 2^18 times 2^43, twice; see tree.Query.Linear
			}
			halves[g] = r.half(terms)
		}
		out.Measures, out.Halves = append(out.Measures, sums), append(out.Halves, halves)
	}
	return out, nil
}

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
