package curator

import (
	"context"
	"strconv"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/policy"
)

// check checks who asks, the settings and the text, and the tree that is made of it once more.
// A plan that follows from the text and the policy alone, and not from the values of a public
// table, which can change, is made once for all who ask it in a while, and then it is shared.
func (c *Curator) check(ctx context.Context, q api.Question) (statement *plan.Statement, s api.Settings, shared bool, err error) {
	if err := c.Admit(q.Analyst); err != nil {
		return nil, api.Settings{}, false, err
	}
	if s, err = pricing.Settings(q); err != nil {
		return nil, s, false, err
	}
	text := syntax.Open(q.SQL, q.Parsed)
	if _, err := text.Select(); err != nil {
		return nil, s, false, err // also where it looks like another text with its values
	}
	key := keyOf(text.Key(), s)
	if statement, ok := c.planned.statements.Get(key); ok {
		return statement, s, true, nil
	}
	if r, ok := c.planned.refused.Get(key); ok {
		return nil, s, false, &r
	}
	o, tables := c.Options(ctx, s), noted{}
	if o.Public != nil {
		tables.Public = o.Public
		o.Public = &tables
		if c.dataset.Everybody() != nil {
			o.People = func() (int64, error) {
				tables.read = true // what follows from it is not kept either
				return c.countPeople(ctx)
			}
		}
	}
	before, _ := o.Meter.Counted()
	if statement, err = plan.PrepareText(c.dataset, text, o); err != nil {
		// Where something else had a part of the work, another who asks may have all of it.
		if counted, _ := o.Meter.Counted(); !tables.read && before == 0 {
			c.planned.refuse(key, err, counted)
		}
		return nil, s, false, err
	}
	if err := c.CheckTwice(statement); err != nil {
		return nil, s, false, err
	}
	if !tables.read {
		c.planned.keep(key, statement)
	}
	return statement, s, false, nil
}

// Admit refuses who may not ask.
func (c *Curator) Admit(analyst string) error {
	if _, ok := c.dataset.Analysts[analyst]; !ok {
		return api.Refuse("ask as an analyst that the policy lists", "there is no analyst %s in the dataset %s",
			strconv.Quote(analyst), c.dataset.Name)
	}
	return c.expired(analyst)
}

func (c *Curator) Options(ctx context.Context, s api.Settings) plan.Options {
	o := plan.Options{MaxGroups: s.MaxGroups, MaxSum: s.MaxSum, Meter: meter.Of(ctx)}
	if c.engine != nil {
		o.Public = public{ctx, c.engine}
	}
	return o
}

// public reads public tables, which are about nobody.
type public struct {
	ctx    context.Context
	engine engine.Engine
}

func (p public) Values(table, column string, limit int) ([]policy.Value, error) {
	return p.engine.Values(p.ctx, table, column, limit)
}

func (p public) Most(table string, columns []string) (int64, error) {
	return p.engine.Most(p.ctx, table, columns)
}

func (p public) Rows(table string, limit int) ([][]tree.Value, error) {
	return p.engine.Rows(p.ctx, table, limit)
}
