package curator

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// What the tests of this package see beside what everybody does.

const (
	MaxReruns           = maxReruns
	MaxCachedStatements = maxCachedStatements
	MaxDetailBytes      = maxDetailBytes
)

type Turns = turns

// Len is how many keys somebody is in with, or waits for.
func (f *turns) Len() int { return len(f.now) }

func (c *Curator) TurnsTaken() int { return c.turns.Len() }

// AskAsFree asks what was found to be free.
func (c *Curator) AskAsFree(ctx context.Context, q api.Question) (*api.Answer, error) {
	return c.ask(ctx, q, terms{free: true})
}

func (c *Curator) Compute(ctx context.Context, buys []*pricing.Purchase) error {
	_, err := (&computation{states: c.states, releaser: c.releaser}).compute(ctx, buys, bases{}, pricing.MaxBytes)
	return err
}

// Release releases a purchase of exact values.
func (c *Curator) Release(b *pricing.Purchase, r *engine.Result, most int) (*answers.Released, error) {
	return c.releaser.release(b, r, nil, most)
}

// Cached is the plan that is kept of a text, KeepPlan keeps one, CachedPlans is how many there are
// and CachedRefusals of how many texts it is known that they are refused. Described is of how many
// queries around answers the columns are known. ForgetPlans forgets all.
func (c *Curator) Cached(sql string, maxGroups int64) *planner.Statement {
	st, _ := c.planner.cache.statements.Get(statementKey{sql: sql, maxGroups: maxGroups})
	return st
}
func (c *Curator) KeepPlan(sql string, st *planner.Statement) {
	c.planner.cache.keep(statementKey{sql: sql}, st)
}
func (c *Curator) CachedPlans() int    { return c.planner.cache.statements.Len() }
func (c *Curator) CachedRefusals() int { return c.planner.cache.refused.Len() }
func (c *Curator) Described() int      { return c.planner.cache.around.Len() }
func (c *Curator) ForgetPlans()        { c.planner.cache = newPlanCache() }

// Prepared checks and prices a question as Ask does, and says whether others may have its plan.
func (c *Curator) Prepared(ctx context.Context, q api.Question) (p *pricing.Priced, shared bool, err error) {
	a, err := c.newRequest(ctx, q, answercache.Horizon{})
	if err != nil {
		return nil, false, err
	}
	a.close()
	return a.Priced, a.shared, nil
}

// CountPeople counts them where that is public, and CheckPeople is the second check of a query that
// does.
func (c *Curator) CountPeople(ctx context.Context) (int64, error) { return c.planner.people.count(ctx) }
func (c *Curator) CheckPeople(ds *policy.Dataset, q *tree.Query) error {
	return c.verifier.checks.people(ds, q)
}

// ObjectTo makes second checks find something: in everything, or in too much work alone.
func (c *Curator) ObjectTo(everything bool, found error) {
	checks := independentChecks
	checks.work = func(*policy.Dataset, tree.Public, *tree.Query) error { return found }
	checks.tableWork = func(*policy.Dataset, tree.Public, *tree.Table) error { return found }
	if everything {
		query := func(*policy.Dataset, *tree.Query) error { return found }
		checks.query, checks.cells, checks.people = query, query, query
		checks.cube = func(*policy.Dataset, *tree.Cube, []*tree.Plan) error { return found }
		checks.holdout = func(*policy.Dataset, *tree.Holdout) error { return found }
		checks.table = func(*policy.Dataset, *tree.Table) error { return found }
	}
	c.verifier.checks = checks
}

func (c *Curator) ObjectToNothing() { c.verifier.checks = independentChecks }

// SetProgram says which program computes, until the function that it returns is called.
func SetProgram(name string) (restore func()) {
	before := program
	program = func() string { return name }
	return func() { program = before }
}

func Program() string { return program() }
