package discreet

import (
	"context"
	"strings"

	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
)

// Column describes a column of an answer.
type Column = curator.Column

// Parameter is a value for $1, $2, ... of a question.
type Parameter = syntax.Parameter

// Description is what is known of an answer before it is asked for. It is made from the text and the policy alone.
type Description struct {
	// Parameters are the kinds of $1, $2, ...: integer, decimal, text, boolean, date or timestamp, as their places in the text have them.
	Parameters []string
	// Columns are those of the answer. Where the values of parameters are not there yet, values of their kinds stand in for them, so
	// that the digits of a number that is computed with one may differ from the answer's.
	Columns []Column
}

// Describe says what the answer to a question would look like. It is free, and the data is not looked at. A question with parameters need
// not have their values.
func (db *DB) Describe(ctx context.Context, q Question) (*Description, error) {
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
	asked, binding, err := q.bound()
	if err != nil {
		return nil, err
	}
	columns, err := ds.Describe(ctx, asked)
	if err != nil {
		return nil, binding.Original(err)
	}
	return &Description{kinds, columns}, nil
}

// describeUnbound describes a question whose values are not there yet, with samples; and with NULL, which fits everywhere but in lists, where
// a sample does not fit.
func (db *DB) describeUnbound(ctx context.Context, ds *dataset, q Question, kinds []string) (*Description, error) {
	samples, err := plan.Samples(ds.data.policy, q.SQL)
	if err != nil {
		return nil, err
	}
	nulls := make([]Parameter, len(kinds))
	for i := range nulls {
		nulls[i].Null = true
	}
	var first error
	for _, values := range [][]Parameter{samples, nulls} {
		q.Parameters = values
		asked, binding, err := q.bound()
		if err == nil {
			var columns []Column
			if columns, err = ds.Describe(ctx, asked); err == nil {
				return &Description{kinds, columns}, nil
			}
			err = binding.Original(err)
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// bound is the question for the curator, with the values of its parameters in its text.
func (q Question) bound() (curator.Question, *syntax.Binding, error) {
	b := &syntax.Binding{Text: q.SQL}
	if len(q.Parameters) > 0 || strings.Contains(q.SQL, "$") {
		var err error
		if b, err = syntax.NewBinding(q.SQL, q.Parameters); err != nil {
			return curator.Question{}, nil, err
		}
	}
	return curator.Question{Analyst: q.Analyst, SQL: b.Text, Epsilon: q.Epsilon, Settings: q.Settings, Request: q.Request, AsOf: q.AsOf}, b, nil
}
