package curator

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
)

// Describe says which columns the answer to a question would have. It is made from the text and the
// policy alone, by the functions that make the columns of an answer, before anything was released.
// So it is free and tells nothing: the ledger is not read, and the data only where Ask would read
// it before it knows whether the question can be asked, which is public tables for their keys. It
// says nothing about the price: a question that is described may yet be refused for it.
func (c *Curator) Describe(ctx context.Context, q api.Question) ([]api.Column, error) {
	text := syntax.Open(q.SQL, q.Parsed)
	q.Parsed = text
	if plan.AsksHoldout(text) {
		return c.Holdouts.DescribeSQL(ctx, q)
	}
	statement, _, _, err := c.check(ctx, q)
	if err != nil {
		return nil, err
	}
	return answers.Describe(ctx, statement)
}
