package plan

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// question collects a plan from a SELECT over rows. Stats and measures are added as they are named;
// finish puts measures into their canonical order.
type question struct {
	*env
	rows rows
	// extend says that subqueries that are values may be joined to rows, and extended where they
	// are.
	extend   bool
	extended map[string]int
	// over is what the windows of a subquery are computed as.
	over map[*pg.FuncCall]tree.Expr
	// chosen is the condition that a row is the one of DISTINCT ON.
	chosen tree.Expr

	filter tree.Expr // WHERE
	keys   []tree.Key
	// without are keys of other sets of the same GROUP BY, where it has several.
	without []tree.Expr
	several bool
	stats   []draft
	output  []tree.Output
	// measures by canonical spelling, and quantiles by what they are of
	measures  map[string]tree.Measure
	quantiles map[string]*quantiles
	twins     bool   // averages are made of twins
	people    *int64 // how many there are, where that is public, and counts are that number

	fields map[fieldKey]domain // what was found out about fields
	costly bool                // to find the values of the key takes too much

	within     []tree.Among
	restricted bool      // whether there is a HAVING
	restrict   tree.Expr // HAVING
	order      []tree.Order
	count      *int64
	skip       int64
	targets    []*pg.Node
}

// question makes the plan of one set of GROUP BY.
func (e *env) question(s *pg.SelectStmt, g grouping, chosen []*chosen) (*tree.Plan, error) {
	e, err := e.addNames(s.WithClause)
	if err != nil {
		return nil, err
	}
	if err := refuseClauses(s); err != nil {
		return nil, err
	}
	if err := refuseWindows(s); err != nil {
		return nil, err
	}
	from, err := e.readFrom(s)
	if err != nil {
		return nil, err
	}
	sources := 0
	if from.EachTable(func(*policy.Table) { sources++ }); sources > maxSources {
		return nil, tooManySources(first(s.FromClause))
	}
	if !tree.Private(from) {
		return nil, syntax.Refuse(first(s.FromClause), "join it with a private table",
			"a public table has nothing to protect, and is not answered here on its own")
	}
	q := &question{env: e, rows: from, extend: true, measures: map[string]tree.Measure{}, quantiles: map[string]*quantiles{},
		targets: s.TargetList, several: g.several}
	group := func(s *pg.SelectStmt) error { return q.groupBy(s, g) }
	choose := func(*pg.SelectStmt) error { return q.choose(chosen) }
	for _, step := range []func(*pg.SelectStmt) error{q.where, group, q.selectList, q.distinct, q.having, q.orderBy, q.limit, choose} {
		if err := step(s); err != nil {
			return nil, err
		}
	}
	p, err := q.finish(len(s.DistinctClause) > 0)
	if err != nil || p.Query.ListsKeys() {
		return p, err // of which no engine hears
	}
	return p, e.bounded(&p.Query, first(s.FromClause))
}

// refuseClauses refuses every clause that has no place in a question or a subquery.
func refuseClauses(s *pg.SelectStmt) error {
	for _, c := range []struct {
		present       bool
		at            int32
		what, instead string
	}{
		{len(s.ValuesLists) > 0, first(s.ValuesLists), "VALUES", "write SELECT ... FROM a table"},
		{s.IntoClause != nil, -1, "INTO", "leave it out"},
		{len(s.LockingClause) > 0, -1, "FOR UPDATE or FOR SHARE", "leave it out"},
		{s.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES, syntax.Location(s.LimitCount), "WITH TIES", "write LIMIT n"},
	} {
		if c.present {
			return syntax.Refuse(c.at, c.instead, "%s cannot be used", c.what)
		}
	}
	return nil
}

// refuseWindows refuses the WINDOW clause of a SELECT that is no subquery of rows.
func refuseWindows(s *pg.SelectStmt) error {
	if len(s.WindowClause) > 0 {
		return syntax.Refuse(first(s.WindowClause),
			"use GROUP BY, or a window over the answer, as in SELECT ..., sum(n) OVER () FROM (SELECT ..., COUNT(*) AS n ...) AS t",
			"WINDOW cannot be used")
	}
	return nil
}

// first returns the place of the first of some nodes.
func first(nodes []*pg.Node) int32 {
	if len(nodes) == 0 {
		return -1
	}
	return syntax.Location(nodes[0])
}

func (q *question) where(s *pg.SelectStmt) error {
	n := q.rows.unsaid(s.WhereClause)
	if n == nil {
		return nil
	}
	e, err := checkCondition(below{q}, n)
	if err != nil {
		return err
	}
	if err := expr.CheckLevels(e, syntax.Location(n)); err != nil {
		return err
	}
	e = q.truth(e)
	if l, ok := e.(*tree.Literal); ok && l.Bool != nil && *l.Bool {
		return nil // WHERE true
	}
	q.filter = e
	q.oneEach()
	return nil
}

func (q *question) selectList(s *pg.SelectStmt) error {
	for _, n := range s.TargetList {
		t := n.GetResTarget()
		e, err := checkExpr(above{question: q}, t.GetVal())
		if err != nil {
			return err
		}
		if err := expr.CheckLevels(e, syntax.Location(t.GetVal())); err != nil {
			return err
		}
		name := t.GetName()
		if name == "" {
			name = targetName(t.GetVal())
		}
		if r, ok := e.(*tree.Released); ok && t.GetName() == "" {
			if c, ok := q.keyOf(q.stats[r.Stat]).(*tree.Column); ok && c.Field.Name != "" {
				name = c.Field.Name
			}
		}
		e = adoptText(e)
		q.output = append(q.output, tree.Output{Name: name, Expr: expr.Plain(e), Cast: castTo(t.GetVal(), e)})
	}
	if len(s.TargetList) == 0 {
		return syntax.Refuse(-1, "add an aggregate, as in COUNT(*)", "the question selects nothing")
	}
	return nil
}

func (q *question) having(s *pg.SelectStmt) (err error) {
	if s.HavingClause != nil {
		if q.restrict, err = checkCondition(above{question: q, named: true}, s.HavingClause); err == nil {
			err = expr.CheckLevels(q.restrict, syntax.Location(s.HavingClause))
		}
	}
	return err
}

// distinct reads SELECT DISTINCT, which is about released rows; over rows it would show keys, so it
// groups.
func (q *question) distinct(s *pg.SelectStmt) error {
	if len(s.DistinctClause) > 0 && s.DistinctClause[0].GetNode() != nil {
		return syntax.Refuse(first(s.DistinctClause), "use GROUP BY", "DISTINCT ON cannot be used")
	}
	return nil
}
