package streamsession

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/pricing"
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

// named returns the stream of a name; the only one, where there is no name.
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
