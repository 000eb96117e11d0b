package plan

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// planner plans the questions of a text: each SELECT over rows, and what is made of its answer.
type planner struct{ env *env }

// planSet takes one set of GROUP BY through the passes: names and rows, WHERE, keys, aggregates and
// what is made of them, the tree, and its work.
func (pn planner) planSet(s *pg.SelectStmt, g grouping, chosen []*chosen) (*tree.Plan, error) {
	e, err := pn.env.addNames(s.WithClause)
	if err != nil {
		return nil, err
	}
	if err := refuseClauses(s); err != nil {
		return nil, err
	}
	if err := refuseWindows(s); err != nil {
		return nil, err
	}
	from, err := rowReader{e}.readTables(s)
	if err != nil {
		return nil, err
	}
	if !tree.Private(from) {
		return nil, syntax.Refuse(first(s.FromClause), "join it with a private table",
			"a public table has nothing to protect, and is not answered here on its own")
	}
	in := &rowScope{env: e, rows: from, extend: true}
	if err := in.readWhere(s); err != nil {
		return nil, err
	}
	groups, err := newKeyFinder(in).readGroups(s, g)
	if err != nil {
		return nil, err
	}
	reader := newAnswerReader(in, groups, s.TargetList)
	if err := reader.read(s, chosen); err != nil {
		return nil, err
	}
	p, err := assemble(reader, len(s.DistinctClause) > 0)
	if err != nil || p.Query.ListsKeys() {
		return p, err // of which no engine hears
	}
	return p, boundQuery(e, &p.Query, first(s.FromClause))
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

func (in *rowScope) readWhere(s *pg.SelectStmt) error {
	n := in.rows.unsaid(s.WhereClause)
	if n == nil {
		return nil
	}
	e, err := checkCondition(in, n)
	if err != nil {
		return err
	}
	if err := expr.CheckLevels(e, syntax.Location(n)); err != nil {
		return err
	}
	e = in.env.truth(e)
	if l, ok := e.(*tree.Literal); ok && l.Bool != nil && *l.Bool {
		return nil // WHERE true
	}
	in.filter = e
	in.keepOneEach()
	return nil
}

func (ar *answerReader) readColumns(s *pg.SelectStmt) error {
	for _, n := range s.TargetList {
		t := n.GetResTarget()
		e, err := checkExpr(answerScope{answerReader: ar}, t.GetVal())
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
			if c, ok := ar.groups.keyOf(ar.out.stats[r.Stat]).(*tree.Column); ok && c.Field.Name != "" {
				name = c.Field.Name
			}
		}
		e = adoptText(e)
		ar.answer.columns = append(ar.answer.columns, tree.Output{Name: name, Expr: expr.Plain(e), Cast: castTo(t.GetVal(), e)})
	}
	if len(s.TargetList) == 0 {
		return syntax.Refuse(-1, "add an aggregate, as in COUNT(*)", "the question selects nothing")
	}
	return nil
}

func (ar *answerReader) readHaving(s *pg.SelectStmt) (err error) {
	if s.HavingClause != nil {
		if ar.answer.having, err = checkCondition(answerScope{answerReader: ar, named: true}, s.HavingClause); err == nil {
			err = expr.CheckLevels(ar.answer.having, syntax.Location(s.HavingClause))
		}
	}
	return err
}

// distinct reads SELECT DISTINCT, which is about released rows; over rows it would show keys, so it
// groups.
func refuseDistinctOn(s *pg.SelectStmt) error {
	if len(s.DistinctClause) > 0 && s.DistinctClause[0].GetNode() != nil {
		return syntax.Refuse(first(s.DistinctClause), "use GROUP BY", "DISTINCT ON cannot be used")
	}
	return nil
}
