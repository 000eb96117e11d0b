package streamsession

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/predict"
	"github.com/discreet-dp/discreet/internal/planner/cells"
)

// Check prices the streams of the policy, for the owner: what is wrong with each that nobody could
// ask.
func (c *Sessions) Check() error {
	for _, name := range c.Dataset.StreamNames() {
		if _, err := c.streamPlan(c.Dataset.Streams[name]); err != nil {
			return fmt.Errorf("stream %s: %w", name, err)
		}
	}
	return nil
}

// List lists the streams of the policy. It refuses where one of them cannot be opened.
func (c *Sessions) List() ([]api.StreamInfo, error) {
	out := []api.StreamInfo{}
	for _, name := range c.Dataset.StreamNames() {
		p, err := c.namedStream(name)
		if err != nil {
			return nil, err
		}
		s := p.policy
		info := api.StreamInfo{
			Dataset: c.Dataset.Name, Name: s.Name, Table: s.Table, Cells: int64(p.config.Domain.Cells()), Size: s.Size, Alpha: s.Alpha,
			Beta: s.Beta, Queries: s.Queries,
			Error: p.tariff.Error, Predictor: string(p.tariff.Predictor), Round: p.tag(p.tariff.Round), Plain: p.tag(p.tariff.Plain),
			MostPaid: p.tariff.MostPaid, MostPlain: p.tariff.MostPlain,
		}
		for _, a := range p.config.Domain.Attributes() {
			info.Attributes = append(info.Attributes, api.StreamAttribute{Name: a.Name, Values: a.Values})
		}
		out = append(out, info)
	}
	return out, nil
}

// tag is a cost as an analyst reads it; see [pricing.Priced.Tag].
func (p *streamPlan) tag(cost dp.Cost) dp.Cost {
	return pricing.Currency{Pure: p.pure()}.Plus(dp.Cost{}, cost)
}

// namedStream returns the stream of a name; the only one, where there is no name.
func (c *Sessions) namedStream(name string) (*streamPlan, error) {
	names := c.Dataset.StreamNames()
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	s := c.Dataset.Streams[name]
	switch {
	case s == nil && len(names) == 0:
		return nil,
			api.Refuse("ask with SELECT; the owner can write streams into the policy", "the dataset %s has no streams", c.Dataset.Name)
	case s == nil && name == "":
		return nil, api.Refuse("name one of "+strings.Join(names, ", "), "the dataset %s has several streams", c.Dataset.Name)
	case s == nil:
		return nil,
			api.Refuse("name one of "+strings.Join(names, ", "), "the dataset %s has no stream %s", c.Dataset.Name, strconv.Quote(name))
	}
	p, err := c.streamPlan(s)
	if dispute := (*api.Disagreement)(nil); errors.As(err, &dispute) {
		return nil, err
	}
	if err != nil {
		return nil, api.Refuse("the owner can change it in the policy", "the stream %s cannot be opened: %v", name, err)
	}
	return p, nil
}

// pure reports whether the stream counts epsilon.
func (p *streamPlan) pure() bool { return p.amount(dp.Cost{Epsilon: 1}) == 1 }

// Synthetic returns the table that a stream has come to believe in. Questions that the stream has
// tested are about as exact on it as their answers; of others nothing is promised. It is asked in
// the order of questions, and leaves as they do.
func (c *Sessions) Synthetic(ctx context.Context, name, analyst string) (*api.SyntheticTable, error) {
	if err := c.Admit(analyst); err != nil {
		return nil, err
	}
	o, err := c.currentStream(ctx, name)
	if err != nil {
		return nil, err
	}
	defer o.close()
	leave, err := c.WaitTurn(ctx, o.Key)
	if err != nil {
		return nil, err
	}
	defer leave()
	counts := o.session.Synthetic()
	if counts == nil {
		return nil,
			api.Refuse("the owner can choose another predictor", "the stream %s predicts nothing, so it has no table", o.policy.Name)
	}
	out := &api.SyntheticTable{Dataset: c.Dataset.Name, Stream: o.policy.Name}
	attributes := o.config.Domain.Attributes()
	for _, a := range attributes {
		out.Columns = append(out.Columns, a.Name)
	}
	for cell, n := range counts {
		if n <= 0 {
			continue
		}
		row := api.SyntheticRow{Count: n}
		for i, code := range o.config.Domain.Codes(cell) {
			row.Values = append(row.Values, attributes[i].Values[code])
		}
		out.Rows, out.Total = append(out.Rows, row), out.Total+n
	}
	return out, nil
}

// lesson is an answer that was bought by itself, and from which a stream can learn: it is public,
// so whatever is made of it is free.
type lesson struct {
	kept     time.Time
	released predict.Released
}

// maxLessons bounds what a stream has yet to learn. Those that come first are the ones that stay.
const maxLessons = 1 << 12

// Teach notes what was bought, for the streams that it is linear over. It is learned with the next
// question that a stream is asked, and, where answers leave on a tick, not before this one has
// left.
func (c *Sessions) Teach(routes []*Route, buys, bought []*pricing.Purchase, all []*answers.Released) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range routes {
		if r == nil || !slices.Contains(bought, buys[i]) || !buys[i].Reusable() {
			continue
		}
		for m, groups := range r.terms {
			scale := math.Sqrt(mech.Variance(buys[i].Noise[m].Mechanism))
			if scale > float64(r.tariff.Error) {
				continue // it says less than the stream promises
			}
			for g, terms := range groups {
				if len(c.lessons[r.Key]) < maxLessons {
					c.learnFrom(r.Key, lesson{now, predict.Released{Answer: all[i].Measures[m][g], Scale: scale}}, terms)
				}
			}
		}
	}
}

// learnFrom notes a lesson, where the number that was released is a count.
func (s *Sessions) learnFrom(key string, l lesson, terms []cells.Term) {
	if len(terms) != 1 || terms[0].Weight != 1 && terms[0].Weight != -1 {
		return
	}
	l.released.Query = terms[0].Query
	l.released.Answer *= terms[0].Weight
	if s.lessons == nil {
		s.lessons = map[string][]lesson{}
	}
	s.lessons[key] = append(s.lessons[key], l)
}

// learn tells the stream what was released by itself until a moment; until now, where that is zero.
func (o *openStream) learn(ctx context.Context, asOf time.Time) error {
	for _, l := range o.c.takeLessons(o.Key, asOf) {
		if err := o.session.Learn(ctx, l.released); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sessions) takeLessons(key string, asOf time.Time) []lesson {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.lessons[key]
	n := len(all)
	if !asOf.IsZero() {
		n = 0
		for n < len(all) && !all[n].kept.After(asOf) {
			n++
		}
	}
	switch {
	case n == len(all):
		delete(s.lessons, key)
	case n > 0:
		s.lessons[key] = all[n:]
	}
	return all[:n]
}
