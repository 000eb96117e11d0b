package streamsession

import (
	"context"
	"errors"
	"iter"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/histogram"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
)

// Rehearse runs a workload through a stream without charging for it, in memory, and tells nobody
// but the caller: the owner. Nothing of it is kept, and the real stream knows nothing of it.
// Conditions and SELECTs of one count are questions of a workload; each text is read once.
func (c *Sessions) Rehearse(ctx context.Context, name string, workload []string, progress func(done int)) (*api.Rehearsal, error) {
	p, err := c.namedStream(name)
	if err != nil {
		return nil, err
	}
	read := map[string]*linear.Query{}
	queries := make([]*linear.Query, len(workload))
	for i, text := range workload {
		q, known := read[text]
		if !known {
			if q, err = c.linear(ctx, p, api.StreamQuestion{SQL: text}); err != nil {
				return nil, &api.WorkloadError{Index: i, Err: err}
			}
			read[text] = q
		}
		queries[i] = q
	}
	r, err := c.Run(ctx, p.grid.Histogram())
	if err != nil {
		return nil, errors.New("the engine could not count the people in the cells; run 'discreet check'")
	}
	cells, counts := r.Cells(p.grid.Place)
	table, err := histogram.Sparse(p.grid.Domain, cells, counts)
	if err != nil {
		return nil, err
	}
	out := &api.Rehearsal{Dataset: c.Dataset.Name, Stream: p.policy.Name, Predictor: string(p.tariff.Predictor), Bound: p.tariff.Error}
	naive := api.RehearsalSeries{Name: "no reuse"}
	each := p.amount(p.tariff.Cache).Float()
	for i := range points(len(queries)) {
		naive.Points = append(naive.Points, api.RehearsalPoint{Queries: i, Cost: float64(i) * each})
	}
	out.Series = append(out.Series, naive)
	done := 0
	told := func() {
		if done++; progress != nil {
			progress(done)
		}
	}
	// What the ways cost is compared without the stream's limit, at which all of them would end
	// alike.
	plenty, err := dp.CeilFloat(2*each*float64(len(queries)) + 10*p.amount(p.dearest()).Float())
	if err != nil {
		return nil, err
	}
	var kinds []stream.Kind
	for _, way := range []struct {
		name string
		kind stream.Kind
	}{{"exact cache", stream.None}, {"median", stream.Ensemble}, {"weights", stream.Weights}} {
		config := p.config
		config.Predictor, config.Budget = way.kind, plenty
		if way.name == "median" && p.tariff.Predictor == stream.Halving {
			config.Predictor = stream.Halving
		}
		if _, err := stream.Price(config); way.name == "median" && errors.Is(err, stream.ErrConfig) {
			// The ensemble is for fewer cells than the policy's own way. The others are worth
			// comparing all the same.
			out.TooLarge = append(out.TooLarge, way.name)
			continue
		}
		s, err := c.rehearse(ctx, p.filter(plenty), config, table, queries, func(*linear.Query, *stream.Answer) { told() })
		if err != nil {
			return nil, err
		}
		s.Name = way.name
		out.Series, kinds = append(out.Series, s), append(kinds, config.Predictor)
	}
	quota, _ := c.Dataset.StreamQuota(p.policy.Name)
	own, err := c.rehearse(ctx, quota, p.config, table, queries, func(q *linear.Query, a *stream.Answer) {
		if a != nil && a.Way != stream.Unchecked {
			off := table.Distance(q, a.Value)
			if out.MaxError = max(out.MaxError, off); off > out.Bound {
				out.Beyond++
			}
		}
		told()
	})
	if err != nil {
		return nil, err
	}
	out.Report = own.Report
	if own.Report.Refused+own.Report.Unchecked > 0 {
		return out, nil
	}
	// Where the limit was enough, this is what the policy's way costs: with more to spend a stream
	// may buy more.
	for i, kind := range kinds {
		if kind == p.tariff.Predictor {
			at := i + 1 // the first series is no reuse, which predicts nothing
			own.Name = out.Series[at].Name
			out.Series[at] = own
		}
	}
	return out, nil
}

// filter admits so much of what the stream counts.
func (p *streamPlan) filter(amount dp.Amount) account.Filter {
	if p.pure() {
		return account.PureFilter(amount)
	}
	return account.ZCDPFilter(amount, 0)
}

// points yields the numbers of questions at which a series has a point: all of a short workload,
// and about a thousand of a long one.
func points(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		step := max(1, n/1000)
		for i := 0; i < n; i += step {
			if !yield(i) {
				return
			}
		}
		yield(n)
	}
}

// rehearse runs a workload through one predictor.
func (c *Sessions) rehearse(
	ctx context.Context, quota account.Filter, config stream.Config, table *histogram.Table, queries []*linear.Query,
	each func(*linear.Query, *stream.Answer),
) (api.RehearsalSeries, error) {
	var out api.RehearsalSeries
	tariff, err := stream.Price(config)
	if err != nil {
		return out, err
	}
	p := &streamPlan{config: config, tariff: tariff}
	s, err := stream.Open(ctx, config, func(context.Context) (*histogram.Table, error) {
		return table, nil
	}, c.Releaser, session.NewMemory(quota))
	if err != nil {
		return out, err
	}
	var spent dp.Cost
	next, stop := iter.Pull(points(len(queries)))
	defer stop()
	at, more := next()
	for i, q := range queries {
		if more && at == i {
			out.Points = append(out.Points, api.RehearsalPoint{Queries: i, Cost: p.amount(spent).Float()})
			at, more = next()
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
		a, err := s.Ask(ctx, q)
		switch {
		case errors.Is(err, stream.ErrSpent) || errors.Is(err, session.ErrBudget):
			a = nil // which the report counts
		case err != nil:
			return out, err
		}
		if a != nil {
			spent = spent.Add(a.Cost)
		}
		each(q, a)
	}
	out.Points = append(out.Points, api.RehearsalPoint{Queries: len(queries), Cost: p.amount(spent).Float()})
	out.Report = s.Report()
	return out, nil
}
