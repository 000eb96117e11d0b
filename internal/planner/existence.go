package planner

import (
	"fmt"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
)

// Programs ask whether there are rows, with SELECT 1 FROM t WHERE ... LIMIT 1 or SELECT EXISTS
// (SELECT ... FROM t WHERE ...). Nobody may know that of single rows. Where the owner allows it,
// HAVING COUNT(*) > threshold is written into them, and from then on they are what anybody could
// write. So the count is checked, bought and kept as every COUNT(*) is, and what is made of it is
// made of a released number.

// countExistence rewrites a SELECT that asks whether there are rows of a private table; any other
// it returns as it is.
func (e *env) countExistence(s *pg.SelectStmt) (*pg.SelectStmt, error) {
	if e.dataset.Existence == 0 || isSet(s) {
		return s, nil
	}
	if len(s.FromClause) > 0 {
		if !isConstant(s.TargetList) || !isOne(s.LimitCount) || !asksForAny(s) || e.rowsOf(s) == nil {
			return s, nil
		}
		s = proto.Clone(s).(*pg.SelectStmt)
		e.writeHaving(s)
		return s, nil
	}
	inner, err := e.addNames(s.WithClause)
	if err != nil {
		return nil, err
	}
	changed := proto.Clone(s).(*pg.SelectStmt)
	found := false
	for _, n := range tablesAndSubqueries(changed) {
		l := n.GetSubLink()
		if l == nil || l.SubLinkType != pg.SubLinkType_EXISTS_SUBLINK {
			continue
		}
		sub := l.Subselect.GetSelectStmt()
		if sub == nil || isSet(sub) || sub.LimitCount != nil && !isOne(sub.LimitCount) || !asksForAny(sub) {
			continue
		}
		in := inner.rowsOf(sub)
		if in == nil {
			continue
		}
		if _, err := shapeOf(in, sub); err != nil {
			return nil, err // EXISTS does not look at what is selected, but it has to be there
		}
		one := &pg.A_Const{Val: &pg.A_Const_Ival{Ival: &pg.Integer{Ival: 1}}, Location: syntax.Location(n)}
		sub.TargetList = []*pg.Node{{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Val: &pg.Node{Node: &pg.Node_AConst{AConst: one}}}}}}
		e.writeHaving(sub)
		found = true
	}
	if !found {
		return s, nil
	}
	return changed, nil
}

// asksForAny reports whether a SELECT has nothing but FROM, WHERE, WITH and LIMIT around its
// columns: what else there is decides which rows there are.
func asksForAny(s *pg.SelectStmt) bool {
	return !isAggregated(s) && len(s.DistinctClause) == 0 && len(s.SortClause) == 0 && len(s.WindowClause) == 0 &&
		(s.LimitOffset == nil || isWhole(s.LimitOffset, 0)) && refuseClauses(s) == nil && !withTies(s)
}

// rowsOf is the scope of a SELECT that is over rows of private tables, and may have some; nil for
// any other. What is wrong with it is said by whoever plans it.
func (e *env) rowsOf(s *pg.SelectStmt) *rowScope {
	if over, err := (classifier{e}).ofFrom(s); err != nil || over != overRows {
		return nil
	}
	in, err := e.scopeOf(s)
	if err != nil || (prober{e}).noRows(s, in) {
		return nil
	}
	return in
}

func isOne(n *pg.Node) bool { return isWhole(n, 1) }

func isWhole(n *pg.Node, value int32) bool {
	c, ok := n.GetAConst().GetVal().(*pg.A_Const_Ival)
	return ok && c.Ival.GetIval() == value
}

// writeHaving makes a question whether there are rows one whether there are more than the owner's
// threshold.
func (e *env) writeHaving(s *pg.SelectStmt) {
	at := firstLocation(s.TargetList)
	text := func(s string) *pg.Node { return &pg.Node{Node: &pg.Node_String_{String_: &pg.String{Sval: s}}} }
	count := &pg.FuncCall{Funcname: []*pg.Node{text("count")}, AggStar: true, Location: at}
	least := &pg.A_Const{Val: &pg.A_Const_Fval{Fval: &pg.Float{Fval: strconv.FormatInt(e.dataset.Existence, 10)}}, Location: at}
	s.HavingClause = &pg.Node{Node: &pg.Node_AExpr{AExpr: &pg.A_Expr{Kind: pg.A_Expr_Kind_AEXPR_OP, Name: []*pg.Node{text(">")},
		Lexpr: &pg.Node{Node: &pg.Node_FuncCall{FuncCall: count}}, Rexpr: &pg.Node{Node: &pg.Node_AConst{AConst: least}}, Location: at}}}
	e.existence = addNote(e.existence, fmt.Sprintf("whether there are rows is answered by whether their COUNT(*), with the noise that "+
		"it has, is above %d, and costs what that count costs", e.dataset.Existence))
}
