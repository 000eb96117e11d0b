package planner

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Options are what a question is checked with beside the policy. The zero value is the policy's
// defaults.
type Options struct {
	// MaxRows, where it is above 0, is how many rows of one person count in one group at most,
	// instead of what the policy says. It cannot be more than that.
	MaxRows int64
	// MaxGroups, where it is above 0, is in how many groups one person counts at most, instead of
	// what the policy says. It cannot be more than the policy says.
	MaxGroups int64
	// MaxSum, where it is not nil, is what one person adds to a SUM in one group at most, in units
	// of the answer.
	MaxSum *big.Rat
	// Public reads public tables; nil where there is nobody to ask.
	Public tree.Public
	// People tells how many people there are, where that is public; nil where it is not, and where
	// the question wants a count and not what it comes to.
	People func() (int64, error)
	// Meter counts the work; one of its own where it is nil.
	Meter *meter.Meter
}

func (o Options) metered() Options {
	if o.Meter == nil {
		o.Meter = meter.New(context.Background())
	}
	return o
}

// env is what names mean around a SELECT.
type env struct {
	calculator
	dataset    *policy.Dataset
	options    Options
	ctes       map[string]cte
	views      []string                  // the views that are being read, so that none reads itself
	depth      int                       // how many subqueries this is inside of
	visitsLeft *int                      // how many more times a table or a subquery may be looked at
	publicRows map[string][][]tree.Value // rows of public tables that were read for that
	existence  []string                  // what is to be said where existence was counted
}

// cte is a query of a WITH clause, and what names meant there.
type cte struct {
	query *pg.CommonTableExpr
	env   *env
}

// maxTables bounds how many tables a question can have once names of WITH and views are replaced
// by what they stand for: nested, they would double each time. maxVisits bounds the work of finding
// out.
const (
	maxTables = 64
	maxVisits = 4000
	maxInside = 16 // subqueries in subqueries
)

func newEnv(ds *policy.Dataset, o Options) *env {
	o = o.metered()
	left := maxVisits
	return &env{calculator: calculator{o.Meter, &beyondBounds{}}, dataset: ds, options: o, ctes: map[string]cte{}, visitsLeft: &left,
		publicRows: map[string][][]tree.Value{}}
}

func (e *env) visit(pos int32) error {
	e.meter().Work(1, 10*meter.Written)
	if *e.visitsLeft--; *e.visitsLeft < 0 {
		return tooManyTables(pos)
	}
	return nil
}

func (e *env) descend(pos int32) (*env, error) {
	inner := *e
	if inner.depth++; inner.depth > maxInside {
		return nil, syntax.Refuse(syntax.TooComplex, pos, "use fewer levels", "subqueries are nested more than %d levels deep", maxInside)
	}
	return &inner, inner.visit(pos)
}

func tooManyTables(pos int32) error {
	return syntax.Refuse(syntax.TooComplex, pos, "ask a simpler question",
		"the question has more than %d tables, once WITH and views are expanded", maxTables)
}

// addNames adds the queries of a WITH clause. Each sees those before it.
func (e *env) addNames(w *pg.WithClause) (*env, error) {
	if w == nil {
		return e, nil
	}
	if w.Recursive {
		return nil, syntax.Refuse(syntax.Unsupported, w.Location, "write WITH without RECURSIVE", "WITH RECURSIVE cannot be used")
	}
	inner := *e
	inner.ctes = maps.Clone(e.ctes)
	seen := map[string]bool{}
	for _, n := range w.Ctes {
		q := n.GetCommonTableExpr()
		if q == nil || q.Ctequery.GetSelectStmt() == nil || q.SearchClause != nil || q.CycleClause != nil {
			return nil, syntax.Refuse(syntax.Unsupported, syntax.Location(n), "write WITH name AS (SELECT ...)", "WITH takes a SELECT only")
		}
		if seen[strings.ToLower(q.Ctename)] {
			return nil, syntax.Refuse(syntax.DuplicateAlias, q.Location, "give each its own name", "two queries of WITH are called %q",
				q.Ctename)
		}
		seen[strings.ToLower(q.Ctename)] = true
		e.meter().Work(1+len(inner.ctes), meter.Node)
		e.meter().Build(64 * (1 + len(inner.ctes)))
		now := inner
		now.ctes = maps.Clone(inner.ctes)
		inner.ctes[strings.ToLower(q.Ctename)] = cte{query: q, env: &now}
	}
	return &inner, nil
}

// referent is what a name in FROM stands for.
type referent struct {
	table  *policy.Table
	query  *pg.SelectStmt
	env    *env     // of query
	names  []string // the columns' names where the query was given some
	isView bool
	answer bool // it is an answer that was put in a question's place
}

// find says what a table's name stands for: a query of WITH, then a table, then a view of the
// owner's.
func (e *env) find(v *pg.RangeVar) (referent, error) {
	if v.Catalogname != "" || v.Schemaname != "" || !v.Inh {
		return referent{}, syntax.Refuse(syntax.Unsupported, v.Location, "write only the table's name; "+listNames("tables",
			e.dataset.Tables),
			"tables are named without schema and ONLY")
	}
	if strings.HasPrefix(v.Relname, AnswerPrefix) {
		return referent{answer: true}, nil // see refuseOwnNames
	}
	if c, ok := e.ctes[strings.ToLower(v.Relname)]; ok {
		var names []string
		for _, n := range c.query.Aliascolnames {
			names = append(names, n.GetString_().GetSval())
		}
		inner := *c.env
		inner.depth = max(inner.depth, e.depth)
		return referent{query: c.query.Ctequery.GetSelectStmt(), env: &inner, names: names}, nil
	}
	if t, ok := findName(e.dataset.Tables, v.Relname); ok {
		return referent{table: t}, nil
	}
	if s, ok, err := e.findView(v); ok || err != nil {
		return s, err
	}
	return referent{}, syntax.Refuse(syntax.NoTable, v.Location, e.knownTables(), "there is no table %q", v.Relname)
}

// knownTables lists what a question can be about: the tables, and the owner's views where there are
// some.
func (e *env) knownTables() string {
	out := listNames("tables", e.dataset.Tables)
	if len(e.dataset.Views) > 0 {
		out += ", and " + listNames("views", e.dataset.Views)
	}
	return out
}

// findView finds a view of the owner's. It is checked as a subquery is, and means the policy's
// tables only: names of the question's WITH are not in it.
func (e *env) findView(v *pg.RangeVar) (referent, bool, error) {
	text, ok := findName(e.dataset.Views, v.Relname)
	if !ok {
		return referent{}, false, nil
	}
	name := strings.ToLower(v.Relname)
	if slices.Contains(e.views, name) {
		return referent{}, false, syntax.Refuse(syntax.BadObject, v.Location, "ask the owner to correct it", "the view %q reads itself",
			v.Relname)
	}
	s, err := syntax.Open(text, nil).SelectOf(e.dataset.Name)
	if err != nil {
		return referent{}, false, syntax.Refuse(syntax.BadObject, v.Location, "ask the owner to correct it", "the view %q cannot be read",
			v.Relname)
	}
	inner := *e
	inner.ctes, inner.views = map[string]cte{}, append(slices.Clone(e.views), name)
	return referent{query: s, env: &inner, isView: true}, true, nil
}

// findName finds a name as SQL does: exactly, or else without regard to case. A
// policy has no two names that differ in case only.
func findName[T any](m map[string]T, name string) (T, bool) {
	if v, ok := m[name]; ok {
		return v, true
	}
	for k, v := range m {
		if strings.EqualFold(k, name) {
			return v, true
		}
	}
	var none T
	return none, false
}

// listNames lists names for an error text. They are the policy's, not the data's.
func listNames[T any](what string, m map[string]T) string {
	names := slices.Sorted(maps.Keys(m))
	if len(names) == 0 {
		return "the policy lists no " + what
	}
	more := ""
	if len(names) > 20 {
		names, more = names[:20], ", ..."
	}
	return "the " + what + " are " + strings.Join(names, ", ") + more
}

func refusalReason(err error) string {
	if r, ok := err.(*api.Refusal); ok {
		return r.Reason
	}
	return err.Error()
}

const maxKeys = 16

const maxQuestions = 32

// AnswerPrefix begins all names that a plan makes up, of tables and of columns.
const AnswerPrefix = "released_"

// AnswerName names the table of the answer of a statement's i-th plan, as Outer calls it. No
// analyst can: see refuseOwnNames.
func AnswerName(i int) string { return fmt.Sprintf("%s%d", AnswerPrefix, i) }

// PublicName names the i-th public table of a statement, as Outer calls it.
func PublicName(i int) string { return fmt.Sprintf("%spublic_%d", AnswerPrefix, i) }
