package discreet

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/curator"
	"github.com/discreet-dp/discreet/plan"
)

// Column describes a column of an answer.
type Column = curator.Column

// Parameter is a value for $1, $2, ... of a question.
type Parameter = plan.Parameter

// Description is what is known of an answer before it is asked for. It is made from the text and the policy alone.
type Description struct {
	// Parameters are the kinds of $1, $2, ...: integer, decimal, text, boolean, date or timestamp, as their places in the text have them.
	Parameters []string
	Columns    []Column
}

// Describe says what the answer to a question would look like. It is free. A question with parameters need not have their values.
func (db *DB) Describe(ctx context.Context, q Question) (*Description, error) {
	return nil, errors.ErrUnsupported
}
