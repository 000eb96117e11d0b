package curator

import (
	"context"

	"github.com/discreet-dp/discreet/api"
)

// Describe says which columns the answer to a question would have. It is made from the text and the policy alone, by the functions that
// make the columns of an answer, before anything was released. So it is free and tells nothing: the ledger is not read, and the data only where Ask
// would read it before it knows whether the question can be asked, which is public tables for their keys. It says nothing about the
// price: a question that is described may yet be refused for it.
func (c *Curator) Describe(ctx context.Context, q api.Question) ([]api.Column, error) {
	if c.asksHoldout(q) {
		return c.describeHoldoutSQL(q)
	}
	statement, s, fixed, err := c.check(ctx, q)
	if err != nil {
		return nil, err
	}
	p := &priced{statement: statement, settings: s}
	if err := p.around(ctx); err != nil {
		return nil, err
	}
	if p.outer != nil {
		return outerColumns(p.outer.columns), nil
	}
	columns := (&finisher{plan: statement.Plans[0]}).columns()
	if fixed {
		c.drafts.keep(draftKey{q.SQL, s.MaxGroups}, statement)
	}
	return columns, nil
}
