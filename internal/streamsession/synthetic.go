package streamsession

import (
	"context"

	"github.com/discreet-dp/discreet/api"
)

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
