package streamsession

import (
	"context"
	"errors"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
)

// streamQuestion checks a question to a stream. It tells nothing about the data and costs nothing.
func (c *Sessions) streamQuestion(ctx context.Context, q api.StreamQuestion) (*streamPlan, *linear.Query, error) {
	if err := c.Admit(q.Analyst); err != nil {
		return nil, nil, err
	}
	p, err := c.namedStream(q.Stream)
	if err != nil {
		return nil, nil, err
	}
	query, err := c.linear(ctx, p, q)
	return p, query, err
}

func (c *Sessions) linear(ctx context.Context, p *streamPlan, q api.StreamQuestion) (*linear.Query, error) {
	text := strings.TrimSpace(q.SQL)
	switch {
	case text != "" && len(q.Where) > 0:
		return nil, api.Refuse("write one of them", "the question has both a condition in SQL and values of columns")
	case len(q.Where) > 0:
		query, err := p.grid.Domain.Where(q.Where)
		if err != nil {
			return nil, api.Refuse(p.labels(q.Where), "%v", err)
		}
		return query, nil
	}
	options := c.Options(ctx, api.Settings{})
	if first := strings.ToLower(strings.Fields(text + " x")[0]); first == "select" || first == "with" {
		return p.grid.LinearCount(text, options)
	}
	return p.grid.LinearWhere(text, options)
}

// labels says which values the columns of a question have.
func (p *streamPlan) labels(where map[string][]string) string {
	var names []string
	for _, a := range p.config.Domain.Attributes() {
		names = append(names, a.Name)
		if _, ok := where[a.Name]; ok && len(a.Values) <= 30 {
			names[len(names)-1] += " (" + strings.Join(a.Values, ", ") + ")"
		}
	}
	return "the columns of the stream are " + strings.Join(names, ", ")
}

// Ask asks a stream for a count. A [*api.Refusal] and a [*ledger.BudgetError] have spent nothing.
//
// The order is that of [Curator.Ask], round by round: what a question costs is charged and on
// stable storage before data is looked at, the noise of a round's threshold and every answer are in
// the journal before anybody sees what depends on them, and who asks the same again gets the same
// for nothing. So there is no request to name: a question that is sent twice is paid for once.
func (c *Sessions) Ask(ctx context.Context, q api.StreamQuestion) (*api.StreamAnswer, error) {
	p, query, err := c.streamQuestion(ctx, q)
	if err != nil {
		return nil, err
	}
	o, data, err := c.streamNow(ctx, p)
	if err != nil {
		return nil, err
	}
	defer o.close()
	leave, err := c.WaitTurn(ctx, o.Key)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := o.learn(ctx, q.AsOf); err != nil {
		return nil, err
	}
	who := &sessionhost.Payer{Analyst: q.Analyst}
	a, err := o.ask(ctx, who, query)
	if err != nil {
		return nil, err
	}
	out := &api.StreamAnswer{
		Dataset: c.Dataset.Name, Stream: p.policy.Name, Value: a.Value, Confidence: 1 - p.policy.Beta, Way: a.Way,
		Receipt: api.Receipt{Sequence: a.Receipt.Sequence, Hash: a.Receipt.Hash}, Alerts: who.Alerts,
	}
	if a.Way != stream.Unchecked {
		out.Error = &a.Error
	}
	if a.Cost != (dp.Cost{}) {
		out.Cost = p.tag(a.Cost)
	}
	out.Free = out.Cost == (dp.Cost{})
	out.Receipt.Free = out.Free
	if out.Remaining, err = c.Remaining(ctx, q.Analyst); err != nil {
		return nil, err
	}
	out.Version, _, err = c.NameData(ctx, data, 0)
	return out, err
}

// streamNow opens a stream on the data as it is now.
func (c *Sessions) streamNow(ctx context.Context, p *streamPlan) (*openStream, sessionhost.Data, error) {
	now, err := c.Data(ctx)
	if err != nil {
		return nil, now, err
	}
	o, err := c.openStream(ctx, p, now)
	return o, now, err
}

// Quote says how a question would be answered and the most that it could cost, from what was
// released. It is free, and looks at no data. As of a moment it says less: see openStream.quote.
func (c *Sessions) Quote(ctx context.Context, q api.StreamQuestion) (*api.StreamQuote, error) {
	p, query, err := c.streamQuestion(ctx, q)
	if err != nil {
		return nil, err
	}
	o, _, err := c.streamNow(ctx, p)
	if err != nil {
		return nil, err
	}
	defer o.close()
	way, cost, err := o.quote(query, q.AsOf)
	if errors.Is(err, stream.ErrSpent) {
		return nil, p.spentRefusal()
	}
	if err != nil {
		return nil, err
	}
	out := &api.StreamQuote{Dataset: c.Dataset.Name, Stream: p.policy.Name, Way: way}
	if way != stream.Unchecked {
		out.Error = &p.tariff.Error
	}
	if cost != (dp.Cost{}) {
		out.Cost = p.tag(cost)
	}
	return out, nil
}

// Report returns the accounts of a stream on the current data. They say what was asked, also what
// has not left on its tick: they are for the owner.
func (c *Sessions) Report(ctx context.Context, name string) (*stream.Report, error) {
	o, err := c.currentStream(ctx, name)
	if err != nil {
		return nil, err
	}
	defer o.close()
	r := o.session.Report()
	return &r, nil
}

func (c *Sessions) currentStream(ctx context.Context, name string) (*openStream, error) {
	p, err := c.namedStream(name)
	if err != nil {
		return nil, err
	}
	o, _, err := c.streamNow(ctx, p)
	return o, err
}
