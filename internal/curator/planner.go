package curator

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/plan/verify"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/internal/recent"
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

// planned are statements that were checked lately, and their prices: clients describe what they are
// about to ask, and dashboards ask the same all day. They follow from the text with its values, the
// settings and the policy alone, and nobody changes one. What was made with the values of a public
// table, which can change, is not kept, nor what has a query around it.
type planned struct {
	statements *recent.Map[statementKey, *plan.Statement]
	prices     *recent.Map[priceKey, *pricing.Priced]
	refused    *recent.Map[statementKey, api.Refusal] // of texts that took much work to plan
}

type statementKey struct {
	sql       string // with the values of its parameters and of now()
	maxGroups int64
	maxSum    string
}

// keyOf names a statement: its text, and the settings that plans depend on.
func keyOf(text string, s api.Settings) statementKey {
	key := statementKey{sql: text, maxGroups: s.MaxGroups}
	if s.MaxSum != nil {
		key.maxSum = s.MaxSum.RatString()
	}
	return key
}

type priceKey struct {
	sql      string
	settings api.Settings // but for the error and the largest sum, which are pointers
	currency pricing.Currency
	error    string
	maxSum   string
}

const (
	mostPlanned = 256     // statements
	plannedText = 4 << 10 // bytes; planning is not what makes longer ones slow
	plannedKeys = 1 << 12 // groups
	mostRefused = 1 << 20 // bytes of texts that are refused after much work
	muchWork    = 20 * time.Millisecond
)

func newPlanned() planned {
	return planned{recent.New[statementKey, *plan.Statement](mostPlanned), recent.New[priceKey, *pricing.Priced](mostPlanned),
		recent.New[statementKey, api.Refusal](mostRefused)}
}

// keep keeps a statement for whoever asks it next.
func (p planned) keep(key statementKey, st *plan.Statement) {
	if len(key.sql) > plannedText || st.Outer != nil || len(st.Tables) > 0 {
		return
	}
	for _, one := range st.Plans {
		if one.Query.Groups() > plannedKeys {
			return
		}
	}
	p.statements.Put(key, st, 1)
}

// refuse remembers a refusal after much work, which is the same whoever asks.
func (p planned) refuse(key statementKey, err error, work time.Duration) {
	if r, ok := err.(*api.Refusal); ok && work > muchWork {
		p.refused.Put(key, *r, len(key.sql))
	}
}

// price prices a statement, unless it was priced before: the same one, and not another of the same
// text.
func (c *Curator) price(text string, st *plan.Statement, s api.Settings, in pricing.Currency) (*pricing.Priced, error) {
	key := priceKey{sql: text, settings: s, currency: in}
	if s.Error != nil {
		key.settings.Error, key.error = nil, s.Error.RatString()
	}
	key.settings.MaxSum, key.maxSum = nil, keyOf(text, s).maxSum
	if p, ok := c.planned.prices.Get(key); ok && p.Statement == st {
		return p, nil
	}
	p, err := pricing.Price(c.dataset, st, s, in)
	if err != nil {
		return nil, err
	}
	if kept, ok := c.planned.statements.Get(keyOf(text, s)); ok && kept == st {
		c.planned.prices.Put(key, p, 1)
	}
	return p, nil
}

// noted is a public table that knows whether it was read.
type noted struct {
	tree.Public
	read bool
}

func (n *noted) Values(table, column string, limit int) ([]policy.Value, error) {
	n.read = true
	return n.Public.Values(table, column, limit)
}

func (n *noted) Most(table string, columns []string) (int64, error) {
	n.read = true
	return n.Public.Most(table, columns)
}

func (n *noted) Rows(table string, limit int) ([][]tree.Value, error) {
	n.read = true
	return n.Public.Rows(table, limit)
}

// opinion is the second check of everything that goes to an engine. Tests plant others.
type opinion struct {
	query   func(*policy.Dataset, *tree.Query) error
	cube    func(*policy.Dataset, *tree.Cube, []*tree.Plan) error
	cells   func(*policy.Dataset, *tree.Query) error
	holdout func(*policy.Dataset, *tree.Holdout) error
	table   func(*policy.Dataset, *tree.Table) error
	people  func(*policy.Dataset, *tree.Query) error
	// These two say how much one person can add to the work.
	work      func(*policy.Dataset, tree.Public, *tree.Query) error
	tableWork func(*policy.Dataset, tree.Public, *tree.Table) error
}

var secondOpinion = opinion{verify.Query, verify.Cube, verify.Cells, verify.Holdout, verify.Table, verify.People, verify.Work,
	verify.TableWork}

// agreed is what a second check says, as an error for the analyst.
func agreed(err error) error {
	if err == nil {
		return nil
	}
	detail := err.Error()
	if len(detail) > mostDetail { // names that an analyst made up are in it
		detail = strings.ToValidUTF8(detail[:mostDetail], "") + "..."
	}
	return &api.Disagreement{Detail: detail}
}

const mostDetail = 1000

// CheckTwice checks every private query of a statement once more.
func (c *Curator) CheckTwice(st *plan.Statement) error {
	for _, p := range st.Plans {
		if err := c.checkQuery(&p.Query, c.second.query(c.dataset, &p.Query)); err != nil {
			return err
		}
	}
	for _, t := range st.Cubes {
		if err := c.checkQuery(&t.Query, c.second.cube(c.dataset, t, st.Plans[t.First:t.First+len(t.Sets)])); err != nil {
			return err
		}
	}
	return nil
}

// checkQuery returns what a second check found in a query, or else what its work is found to be.
func (c *Curator) checkQuery(q *tree.Query, found error) error {
	if found == nil {
		found = c.second.work(c.dataset, c.sizes(), q)
	}
	return agreed(found)
}

// sizes are those of public tables. The planner has just asked for the same ones, and an engine
// remembers them: nobody waits here.
func (c *Curator) sizes() tree.Public {
	if c.engine == nil {
		return nil
	}
	return public{context.Background(), c.engine}
}

// CheckCells, CheckHoldout and CheckTable do the same for what sessions run.
func (c *Curator) CheckCells(q *tree.Query) error {
	return c.checkQuery(q, c.second.cells(c.dataset, q))
}

func (c *Curator) CheckHoldout(h *tree.Holdout) error {
	return c.checkQuery(&h.Query, c.second.holdout(c.dataset, h))
}

func (c *Curator) CheckTable(t *tree.Table) error {
	found := c.second.table(c.dataset, t)
	if found == nil {
		found = c.second.tableWork(c.dataset, c.sizes(), t)
	}
	return agreed(found)
}
