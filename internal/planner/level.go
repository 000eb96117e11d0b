package planner

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// level says what a SELECT is over.
type level int

const (
	overNothing level = iota // no table
	overPublic               // rows of public tables alone
	overRows                 // rows of the policy's tables, private ones among them
	overAnswers              // answers of questions, perhaps beside public tables
	overBoth                 // rows that are joined with answers
)

type classifier struct{ env *env }

// ofFrom says what a SELECT's own FROM is over. A private table, a view of one, and a subquery
// of its rows make it one of rows; a subquery with aggregates makes it one over answers. It is over
// both only where the answers choose among its groups (see question.go).
func (cl classifier) ofFrom(s *pg.SelectStmt) (level, error) {
	e, err := cl.env.addNames(s.WithClause)
	if err != nil {
		return overNothing, err
	}
	if isSet(s) {
		return overAnswers, nil // of two or more
	}
	cl = classifier{e}
	found := overNothing
	for _, n := range s.FromClause {
		l, err := cl.ofItem(n)
		if err != nil {
			return overNothing, err
		}
		if found, err = mixLevels(found, l, true, syntax.Location(n)); err != nil {
			return overNothing, err
		}
	}
	if found != overBoth {
		return found, nil
	}
	if !isAggregated(s) {
		return overNothing, refuseMixed(firstLocation(s.FromClause))
	}
	return overRows, nil
}

// mixLevels is what two items are over together. Inner says that they are joined by an inner join.
func mixLevels(a, b level, inner bool, pos int32) (level, error) {
	switch {
	case a == b || b == overNothing:
		return a, nil
	case a == overNothing || a == overPublic:
		return b, nil
	case b == overPublic:
		return a, nil
	case inner:
		return overBoth, nil
	}
	return overNothing, refuseMixed(pos)
}

func refuseMixed(pos int32) error {
	return syntax.Refuse(syntax.Unsupported, pos, "ask two questions, or use subqueries with aggregates on both sides",
		"rows of a table and the answer to a question cannot be joined")
}

func (cl classifier) ofItem(n *pg.Node) (level, error) {
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		if err := cl.env.visit(x.RangeVar.Location); err != nil {
			return overNothing, err
		}
		src, err := cl.env.find(x.RangeVar)
		if err != nil {
			return overNothing, err
		}
		switch {
		case src.answer:
			return overAnswers, nil
		case src.table != nil && src.table.Public:
			return overPublic, nil
		case src.table != nil:
			return overRows, nil
		}
		l, err := classifier{src.env}.ofResult(src.query)
		if err != nil && src.isView {
			err = syntax.Refuse(syntax.KindOf(err), x.RangeVar.Location, "ask the owner to correct it",
				"the view %q cannot be used here: %s",
				x.RangeVar.Relname, refusalReason(err))
		}
		return l, err
	case *pg.Node_RangeSubselect:
		if err := cl.env.visit(syntax.Location(n)); err != nil {
			return overNothing, err
		}
		return cl.ofResult(x.RangeSubselect.Subquery.GetSelectStmt())
	case *pg.Node_JoinExpr:
		l, err := cl.ofItem(x.JoinExpr.Larg)
		if err != nil {
			return overNothing, err
		}
		r, err := cl.ofItem(x.JoinExpr.Rarg)
		if err != nil {
			return overNothing, err
		}
		inner, at := x.JoinExpr.Jointype == pg.JoinType_JOIN_INNER, syntax.Location(x.JoinExpr.Rarg)
		if both, err := mixLevels(l, r, true, at); err != nil || both != overBoth || inner {
			return both, err
		}
		return overNothing, syntax.Refuse(syntax.Unsupported, at,
			"leave out LEFT, RIGHT or FULL, to show the groups of the answer; or group by the "+
				"column itself, without the join, and add up the rest in a query around the question",
			"rows and an answer can only be joined by an inner join")
	case *pg.Node_RangeFunction:
		return overNothing, nil // of the outer engine, or refused
	}
	return overRows, nil // to be refused with the rest
}

// ofResult says what a subquery's result is: rows, or an answer.
func (cl classifier) ofResult(s *pg.SelectStmt) (level, error) {
	if s == nil {
		return overRows, nil
	}
	e, err := cl.env.descend(-1)
	if err != nil {
		return overNothing, err
	}
	named, err := e.addNames(s.WithClause)
	if err != nil {
		return overNothing, err
	}
	inner := classifier{named}
	if isSet(s) {
		l, err := inner.ofResult(s.Larg)
		if err != nil {
			return overNothing, err
		}
		r, err := inner.ofResult(s.Rarg)
		if err != nil {
			return overNothing, err
		}
		return mixLevels(l, r, false, -1)
	}
	l, err := classifier{e}.ofFrom(s)
	switch {
	case err != nil || l != overRows && l != overPublic:
		return l, err
	case isAggregated(s) && (l == overPublic || !inner.byPerson(s)) || l == overRows && inner.listsKeys(s):
		return overAnswers, nil
	}
	return l, nil
}

// listsKeys reports whether a SELECT DISTINCT shows keys, and not whose rows there are. DISTINCT ON
// shows rows, whether or not the person is among their columns.
func (cl classifier) listsKeys(s *pg.SelectStmt) bool {
	if !isDistinct(s) || isAggregated(s) {
		return false
	}
	from, err := rowReader(cl).readFrom(s)
	if err != nil || !tree.Private(from) {
		return false
	}
	in := &rowScope{env: cl.env, rows: from}
	for _, n := range s.TargetList {
		c, err := checkExpr(in, n.GetResTarget().GetVal())
		if err != nil || tree.Derived(c) != nil {
			return false
		}
	}
	return true
}

// byPerson reports whether a SELECT of rows is grouped by the unit, and perhaps by more.
func (cl classifier) byPerson(s *pg.SelectStmt) bool {
	if len(s.GroupClause) == 0 {
		return false
	}
	from, err := rowReader(cl).readFrom(s)
	if err != nil || !tree.Private(from) {
		return false
	}
	in := &rowScope{env: cl.env, rows: from}
	return slices.ContainsFunc(s.GroupClause, func(n *pg.Node) bool {
		n, e, err := in.readGroupItem(n, s.TargetList)
		c, ok := e.(*tree.Column)
		return err == nil && ok && from.isUnit(c) && from.isName(n)
	})
}

// A probe is a SELECT that has no rows, whatever the data is: tools send SELECT * FROM t WHERE 0 =
// 1, or LIMIT 0 around something, to learn its columns. That it has none follows from its text:
// LIMIT 0, or a WHERE that is false of constants alone, here or in what it is made from.

// prober finds out which SELECTs have no rows.
type prober struct{ env *env }

// readRows reads a SELECT of rows that has none, and returns its columns; nil where it may have
// some.
func (pb prober) readRows(s *pg.SelectStmt) ([]tree.Output, error) {
	if isAggregated(s) || len(s.DistinctClause) > 0 || refuseClauses(s) != nil || withTies(s) && !zeroLimit(s) {
		return nil, nil
	}
	in, err := pb.env.scopeOf(s)
	if err != nil || !pb.noRows(s, in) {
		return nil, err
	}
	return shapeOf(in, s)
}

// noRows reports whether a SELECT of rows has none.
func (pb prober) noRows(s *pg.SelectStmt, in *rowScope) bool {
	return zeroLimit(s) || pb.isFalse(s.WhereClause) || in.env.hasNone(in.rows.Relation)
}

// scopeOf is what names mean in a SELECT of rows.
func (e *env) scopeOf(s *pg.SelectStmt) (*rowScope, error) {
	e, err := e.addNames(s.WithClause)
	if err != nil {
		return nil, err
	}
	from, err := rowReader{e}.readFrom(s)
	return &rowScope{env: e, rows: from, extend: true}, err
}

// shapeOf are the columns of a SELECT of rows.
func shapeOf(in *rowScope, s *pg.SelectStmt) ([]tree.Output, error) {
	if err := in.readWhere(s); err != nil {
		return nil, err
	}
	return in.readShape(s.TargetList)
}

// readShape are the columns of rows. Two may have one name, which nobody outside can use.
func (in *rowScope) readShape(targets []*pg.Node) ([]tree.Output, error) {
	out := []tree.Output{}
	for _, n := range targets {
		t := n.GetResTarget()
		if ref := t.GetVal().GetColumnRef(); ref != nil && ref.Fields[len(ref.Fields)-1].GetAStar() != nil {
			err := in.star(ref, func(c *tree.Column) { out = append(out, tree.Output{Name: c.Field.Name, Expr: c}) })
			if err != nil {
				return nil, err
			}
			continue
		}
		e, err := checkExpr(in, t.GetVal())
		if err != nil {
			return nil, err
		}
		name := t.GetName()
		if name == "" {
			name = targetName(t.GetVal())
		}
		if c, ok := e.(*tree.Column); ok && t.GetName() == "" && c.Field.Name != "" {
			name = c.Field.Name
		}
		out = append(out, tree.Output{Name: name, Expr: adoptText(e)})
	}
	if len(out) > maxColumns {
		return nil, syntax.Refuse(syntax.TooComplex, firstLocation(targets), "select fewer columns",
			"the question has more than %d columns", maxColumns)
	}
	return out, nil
}

// noGroups reports whether a question shows none of its groups. Without GROUP BY there is always
// one, and so there may be with several sets.
func (pb prober) noGroups(s *pg.SelectStmt) bool {
	grouped := len(s.GroupClause) > 0 && !hasSets(s) || len(s.DistinctClause) > 0 && !isAggregated(s)
	return zeroLimit(s) || pb.isFalse(s.HavingClause) || grouped && pb.isFalse(s.WhereClause)
}

// isFalse reports whether a condition is false, or NULL, by its constants alone.
func (pb prober) isFalse(n *pg.Node) bool {
	if n == nil {
		return false
	}
	if b := n.GetBoolExpr(); b != nil && b.Boolop != pg.BoolExprType_NOT_EXPR {
		and := b.Boolop == pg.BoolExprType_AND_EXPR
		for _, a := range b.Args {
			if pb.isFalse(a) == and {
				return and
			}
		}
		return !and
	}
	constants := true
	syntax.EachNode(n, func(n *pg.Node) bool {
		switch n.GetNode().(type) {
		case *pg.Node_AConst, *pg.Node_AExpr, *pg.Node_BoolExpr, *pg.Node_TypeCast, *pg.Node_TypeName, *pg.Node_String_,
			*pg.Node_BooleanTest, *pg.Node_NullTest, *pg.Node_List:
		default:
			constants = false
		}
		return constants
	})
	if !constants {
		return false
	}
	x, err := checkCondition(&rowScope{env: pb.env}, n)
	if err != nil {
		return false
	}
	l, ok := pb.env.truth(x).(*tree.Literal)
	return ok && l.Bool != nil && !*l.Bool
}

// showsNothing reports whether a SELECT over answers has no rows whatever they are.
func (pb prober) showsNothing(s *pg.SelectStmt) bool {
	switch {
	case s == nil:
		return false
	case zeroLimit(s):
		return true
	case isSet(s):
		return s.Op == pg.SetOperation_SETOP_UNION && pb.showsNothing(s.Larg) && pb.showsNothing(s.Rarg)
	case (len(s.GroupClause) == 0 || hasSets(s)) && mayAggregate(s):
		return false // it has one row for no rows
	case pb.isFalse(s.WhereClause) || pb.isFalse(s.HavingClause):
		return true
	}
	for _, n := range s.FromClause {
		if sub := n.GetRangeSubselect(); sub != nil && !sub.Lateral && pb.showsNothing(sub.Subquery.GetSelectStmt()) {
			return true
		}
	}
	return false
}

// mayAggregate reports whether a SELECT over answers may have an aggregate, of which there are more
// above the noise than below.
func mayAggregate(s *pg.SelectStmt) bool {
	if isAggregated(s) {
		return true
	}
	found := false
	for _, list := range [][]*pg.Node{s.TargetList, s.SortClause} {
		for _, n := range list {
			syntax.EachNode(n, func(n *pg.Node) bool {
				f := n.GetFuncCall()
				found = found || f != nil && expr.Lookup(functionName(f)) == nil
				return !found
			})
		}
	}
	return found
}
