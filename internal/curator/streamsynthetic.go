package curator

import (
	"context"
)

// SyntheticTable is people that nobody is, who are as many in each cell as the stream believes. It was made of released answers alone, so it is free, and is as private as they are.
type SyntheticTable struct {
	Dataset string         `json:"dataset"`
	Stream  string         `json:"stream"`
	Columns []string       `json:"columns"`
	Rows    []SyntheticRow `json:"rows"` // cells without people are left out
	Total   int64          `json:"total"`
}

// SyntheticRow is a cell: a label for each column, and how many people.
type SyntheticRow struct {
	Values []string `json:"values"`
	Count  int64    `json:"count"`
}

// Synthetic returns the table that a stream has come to believe in. Questions that the stream has tested are about as exact on it as their answers; of others nothing is promised. It is
// asked in the order of questions, and leaves as they do.
func (c *Curator) Synthetic(ctx context.Context, name, analyst string) (*SyntheticTable, error) {
	if err := c.admit(analyst); err != nil {
		return nil, err
	}
	o, err := c.currentStream(ctx, name)
	if err != nil {
		return nil, err
	}
	defer o.close()
	leave, err := c.flights.enter(ctx, o.key)
	if err != nil {
		return nil, err
	}
	defer leave()
	counts := o.session.Synthetic()
	if counts == nil {
		return nil, refusal("the owner can choose another predictor", "the stream %s predicts nothing, so it has no table", o.policy.Name)
	}
	out := &SyntheticTable{Dataset: c.dataset.Name, Stream: o.policy.Name}
	attributes := o.config.Domain.Attributes()
	for _, a := range attributes {
		out.Columns = append(out.Columns, a.Name)
	}
	for cell, n := range counts {
		if n <= 0 {
			continue
		}
		row := SyntheticRow{Count: n}
		for i, code := range o.config.Domain.Codes(cell) {
			row.Values = append(row.Values, attributes[i].Values[code])
		}
		out.Rows, out.Total = append(out.Rows, row), out.Total+n
	}
	return out, nil
}
