package curator

import (
	"context"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/lru"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// questionPlanner makes statements of questions, and prices of statements.
type questionPlanner struct {
	*roster
	runner   *runner
	verifier *verifier
	people   *peopleCounter
	cache    planCache
}

// prepare checks who asks, the settings and the text, and the tree that is made of it once more.
// A plan that follows from the text and the policy alone, and not from the values of a public
// table, which can change, is made once for all who ask it in a while, and then it is shared.
func (p *questionPlanner) prepare(ctx context.Context, q api.Question) (statement *planner.Statement, s api.Settings, shared bool,
	err error) {
	if err := p.Admit(q.Analyst); err != nil {
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
	if statement, ok := p.cache.statements.Get(key); ok {
		return statement, s, true, nil
	}
	if r, ok := p.cache.refused.Get(key); ok {
		return nil, s, false, &r
	}
	o, tables := p.Options(ctx, s), readNoter{}
	if o.Public != nil {
		tables.Public = o.Public
		o.Public = &tables
		if p.dataset.CountsEverybody() != nil {
			o.People = func() (int64, error) {
				tables.read = true // what follows from it is not kept either
				return p.people.count(ctx)
			}
		}
	}
	before, _ := o.Meter.Counted()
	if statement, err = planner.PrepareText(p.dataset, text, o); err != nil {
		// Where something else had a part of the work, another who asks may have all of it.
		if counted, _ := o.Meter.Counted(); !tables.read && before == 0 {
			p.cache.refuse(key, err, counted)
		}
		return nil, s, false, err
	}
	if err := p.verifier.CheckTwice(statement); err != nil {
		return nil, s, false, err
	}
	if !tables.read {
		p.cache.keep(key, statement)
	}
	return statement, s, false, nil
}

// Options are those of the planner: it reads public tables.
func (p *questionPlanner) Options(ctx context.Context, s api.Settings) planner.Options {
	return planner.Options{MaxRows: s.MaxRows, MaxGroups: s.MaxGroups, MaxSum: s.MaxSum, Meter: meter.Of(ctx),
		Public: p.runner.publicTables(ctx)}
}

// planCache has statements that were checked lately, and their prices: clients describe what they
// are about to ask, and dashboards ask the same all day. They follow from the text with its values,
// the settings and the policy alone, and nobody changes one. What was made with the values of a
// public table, which can change, is not kept, nor what has a query around it.
type planCache struct {
	statements *lru.Map[statementKey, *planner.Statement]
	prices     *lru.Map[priceKey, *pricing.Priced]
	refused    *lru.Map[statementKey, api.Refusal] // of texts that took much work to plan
	around     answers.Descriptions                // also of what is not kept
}

type statementKey struct {
	sql       string // with the values of its parameters and of now()
	maxRows   int64
	maxGroups int64
	maxSum    string
}

// keyOf names a statement: its text, and the settings that plans depend on.
func keyOf(text string, s api.Settings) statementKey {
	key := statementKey{sql: text, maxRows: s.MaxRows, maxGroups: s.MaxGroups}
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
	maxCachedStatements = 256     // statements
	maxCachedTextBytes  = 4 << 10 // bytes; planning is not what makes longer ones slow
	maxCachedGroups     = 1 << 12 // groups
	maxRefusedTextBytes = 1 << 20 // bytes of texts that are refused after much work
	longPlanning        = 20 * time.Millisecond
)

func newPlanCache() planCache {
	return planCache{lru.New[statementKey, *planner.Statement](maxCachedStatements),
		lru.New[priceKey, *pricing.Priced](maxCachedStatements), lru.New[statementKey, api.Refusal](maxRefusedTextBytes),
		answers.NewDescriptions()}
}

// keep keeps a statement for whoever asks it next.
func (p planCache) keep(key statementKey, st *planner.Statement) {
	if len(key.sql) > maxCachedTextBytes || st.Outer != nil || len(st.Tables) > 0 {
		return
	}
	for _, one := range st.Plans {
		if one.Query.Groups() > maxCachedGroups {
			return
		}
	}
	p.statements.Put(key, st, 1)
}

// refuse remembers a refusal after much work, which is the same whoever asks.
func (p planCache) refuse(key statementKey, err error, work time.Duration) {
	if r, ok := err.(*api.Refusal); ok && work > longPlanning {
		p.refused.Put(key, *r, len(key.sql))
	}
}

// price prices a statement, unless it was priced before: the same one, and not another of the same
// text.
func (l *questionPlanner) price(text string, st *planner.Statement, s api.Settings, in pricing.Currency) (*pricing.Priced, error) {
	key := priceKey{sql: text, settings: s, currency: in}
	if s.Error != nil {
		key.settings.Error, key.error = nil, s.Error.RatString()
	}
	key.settings.MaxSum, key.maxSum = nil, keyOf(text, s).maxSum
	if p, ok := l.cache.prices.Get(key); ok && p.Statement == st {
		return p, nil
	}
	p, err := pricing.Price(l.dataset, st, s, in)
	if err != nil {
		return nil, err
	}
	if kept, ok := l.cache.statements.Get(keyOf(text, s)); ok && kept == st {
		l.cache.prices.Put(key, p, 1)
	}
	return p, nil
}

// prices prices a statement in every currency that the budget has: where there are two, the first
// is in epsilon and the other one in rho. One in which it cannot be asked is left out.
func (l *questionPlanner) prices(text string, st *planner.Statement, s api.Settings) (p, other *pricing.Priced, err error) {
	for _, in := range pricing.Currencies(l.dataset.Budget, s) {
		next, failed := l.price(text, st, s, in)
		switch {
		case failed != nil:
			err = failed
		case p == nil:
			p = next
		default:
			other = next
		}
	}
	if p == nil {
		return nil, nil, err
	}
	if len(p.Purchases) == 0 || pricing.Cost(p.Purchases) == (dp.Cost{}) { // nothing is paid for
		other = nil
	}
	return p, other, nil
}

// readNoter is a public table that knows whether it was read.
type readNoter struct {
	tree.Public
	read bool
}

func (n *readNoter) Values(table, column string, limit int) ([]policy.Value, error) {
	n.read = true
	return n.Public.Values(table, column, limit)
}

func (n *readNoter) Most(table string, columns []string) (int64, error) {
	n.read = true
	return n.Public.Most(table, columns)
}

func (n *readNoter) Rows(table string, limit int) ([][]tree.Value, error) {
	n.read = true
	return n.Public.Rows(table, limit)
}

// publicTables reads public tables while a context lasts; nil where there is no engine.
func (r *runner) publicTables(ctx context.Context) tree.Public {
	if r.engine == nil {
		return nil
	}
	return public{ctx, r.engine}
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

// roster is who may ask.
type roster struct {
	dataset *policy.Dataset
	// now decides one thing only: whether an analyst's access has expired. See
	// [roster.refuseExpired]. A board shows it.
	now func() time.Time
}

func (r *roster) Admit(analyst string) error {
	if _, ok := r.dataset.Analysts[analyst]; !ok {
		return syntax.Refuse(syntax.Private, -1, "ask as an analyst that the policy lists", "there is no analyst %s in the dataset %s",
			strconv.Quote(analyst), r.dataset.Name)
	}
	return r.refuseExpired(analyst)
}

// refuseExpired refuses an analyst whose access has ended, for everything: new questions, prices,
// and answers that are free.
//
// This is the only place that looks at a clock, and it decides who may ask, never what may be
// spent: what it lets through is charged like everything else. A clock that is wrong, or is set
// back, lets somebody ask who should not any more, or the other way round; it adds nothing to any
// budget and takes nothing away.
func (r *roster) refuseExpired(analyst string) error {
	a := r.dataset.Analysts[analyst]
	if a.Expires.IsZero() || r.now().Before(a.Expires) {
		return nil
	}
	return syntax.Refuse(syntax.Private, -1, "ask the owner of the data for more time", "the access of %s to the dataset %s ended on %s",
		strconv.Quote(analyst),
		r.dataset.Name, budgets.LastDay(a))
}
