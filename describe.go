package discreet

import (
	"context"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
)

// Describe says what the answer to a question would look like. It is free, and the data is not looked at. A question with parameters need
// not have their values.
func (db *DB) Describe(ctx context.Context, q api.Question) (*api.Description, error) {
	ds, err := db.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	kinds := []string{}
	if strings.Contains(q.SQL, "$") {
		if kinds, err = plan.Parameters(ds.data.policy, q.SQL); err != nil {
			return nil, err
		}
	}
	if len(kinds) > 0 && len(q.Parameters) == 0 {
		return db.describeUnbound(ctx, ds, q, kinds)
	}
	asked, binding, err := bind(q)
	if err != nil {
		return nil, err
	}
	columns, err := ds.Describe(ctx, asked)
	if err != nil {
		return nil, binding.Original(err)
	}
	return &api.Description{Parameters: kinds, Columns: columns}, nil
}

// describeUnbound describes a question whose values are not there yet, with samples; and with NULL, which fits everywhere but in lists, where
// a sample does not fit.
func (db *DB) describeUnbound(ctx context.Context, ds *dataset, q api.Question, kinds []string) (*api.Description, error) {
	samples, err := plan.Samples(ds.data.policy, q.SQL)
	if err != nil {
		return nil, err
	}
	nulls := make([]api.Parameter, len(kinds))
	for i := range nulls {
		nulls[i].Null = true
	}
	var first error
	for _, values := range [][]api.Parameter{samples, nulls} {
		q.Parameters = values
		asked, binding, err := bind(q)
		if err == nil {
			var columns []api.Column
			if columns, err = ds.Describe(ctx, asked); err == nil {
				return &api.Description{Parameters: kinds, Columns: columns}, nil
			}
			err = binding.Original(err)
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// bind writes the values of a question's parameters into its text.
func bind(q api.Question) (api.Question, *syntax.Binding, error) {
	b := &syntax.Binding{Text: q.SQL}
	if len(q.Parameters) > 0 || strings.Contains(q.SQL, "$") {
		var err error
		if b, err = syntax.NewBinding(q.SQL, q.Parameters); err != nil {
			return api.Question{}, nil, err
		}
	}
	q.SQL, q.Parameters = b.Text, nil
	return q, b, nil
}
