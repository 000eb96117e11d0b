package plan

import (
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Windows beside aggregates, as in
//
//	SELECT ward, COUNT(*), SUM(COUNT(*)) OVER (), RANK() OVER (ORDER BY COUNT(*) DESC) FROM visits GROUP BY ward
//
// see the rows of the answer. Such a SELECT is taken apart: a question that has no windows and
// releases all that they need, and a SELECT over its answer with the windows, ORDER BY, LIMIT and
// DISTINCT, which is free. HAVING comes before windows, and stays in the question.

// hasWindows reports whether a SELECT has windows of its own.
func hasWindows(s *pg.SelectStmt) bool {
	if len(s.WindowClause) > 0 {
		return true
	}
	for _, list := range [][]*pg.Node{s.TargetList, s.SortClause} {
		for _, n := range list {
			if isWindowed(n) {
				return true
			}
		}
	}
	return false
}

// isWindowed reports whether there is a window in an expression, and not only in its subqueries.
func isWindowed(n *pg.Node) bool {
	found := false
	syntax.EachNode(n, func(n *pg.Node) bool {
		found = found || n.GetFuncCall().GetOver() != nil
		return !found && n.GetSubLink() == nil
	})
	return found
}

// windowPlace is where the first window stands.
func windowPlace(s *pg.SelectStmt) int32 {
	at := int32(-1)
	for _, list := range [][]*pg.Node{s.TargetList, s.SortClause} {
		for _, n := range list {
			syntax.EachNode(n, func(n *pg.Node) bool {
				if f := n.GetFuncCall(); f.GetOver() != nil && at < 0 {
					at = f.Location
				}
				return n.GetSubLink() == nil
			})
		}
	}
	return at
}

// split is a SELECT that is being taken apart.
type split struct {
	inner, outer *pg.SelectStmt
	refused      error
}

// windowed plans a SELECT over rows that has windows, and returns the SELECT over its answer, which
// is that of a number.
func (pn planner) planWindows(s *pg.SelectStmt, number int) ([]*tree.Plan, *pg.SelectStmt, error) {
	if !isAggregated(s) {
		return nil, nil, syntax.Refuse(windowPlace(s), "group them: windows see the rows of an answer, as in "+
			"SELECT sex, COUNT(*), SUM(COUNT(*)) OVER () ... GROUP BY sex", "a window over rows would show what is in single rows")
	}
	w := &split{inner: proto.Clone(s).(*pg.SelectStmt), outer: selectAnswer(number)}
	w.inner.TargetList, w.inner.SortClause, w.inner.DistinctClause, w.inner.WindowClause = nil, nil, nil, nil
	w.inner.LimitCount, w.inner.LimitOffset, w.inner.LimitOption = nil, nil, pg.LimitOption_LIMIT_OPTION_DEFAULT
	w.positions(w.inner.GroupClause, s.TargetList)
	w.outer.DistinctClause, w.outer.WindowClause = cloned(s.DistinctClause), cloned(s.WindowClause)
	w.outer.LimitCount, w.outer.LimitOffset, w.outer.LimitOption = s.LimitCount, s.LimitOffset, s.LimitOption
	w.outer.TargetList = cloned(s.TargetList)
	passed := map[int]int{} // columns of the question that are columns of the answer as they are
	for i, n := range w.outer.TargetList {
		t := n.GetResTarget()
		if !isWindowed(t.GetVal()) {
			passed[len(w.inner.TargetList)] = i
			w.inner.TargetList = append(w.inner.TargetList, proto.Clone(n).(*pg.Node))
			t.Val = columnNode(len(w.inner.TargetList) - 1)
			continue
		}
		if t.Name == "" {
			t.Name = targetName(t.Val)
		}
		w.takeOut(t.Val)
	}
	for _, n := range w.outer.WindowClause {
		w.takeOut(n)
	}
	w.order(s)
	if w.refused != nil {
		return nil, nil, w.refused
	}
	if len(w.inner.TargetList) == 0 && !hasSets(s) && len(w.inner.GroupClause) > 0 { // the windows need nothing but rows
		w.inner.TargetList = []*pg.Node{{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{
			Val: proto.Clone(w.inner.GroupClause[0]).(*pg.Node), Location: -1}}}}
	}
	plans, err := pn.planSets(w.inner)
	if err != nil {
		return nil, nil, err
	}
	for i, column := range plans[0].Columns {
		if at, ok := passed[i]; ok {
			if t := w.outer.TargetList[at].GetResTarget(); t.Name == "" {
				t.Name = column.Name
			}
		}
		plans[0].Columns[i].Name = partName(i) // by which the parts that continue it are read too
	}
	plans[0].Running = running(plans, w.outer)
	return plans, w.outer, nil
}

// positions puts what a position of the SELECT list stands for into GROUP BY.
func (w *split) positions(keys, targets []*pg.Node) {
	for i, key := range keys {
		if at, ok := ordinal(key, len(targets)); ok {
			keys[i] = proto.Clone(targets[at].GetResTarget().GetVal()).(*pg.Node)
		}
		w.positions(key.GetGroupingSet().GetContent(), targets)
		w.positions(key.GetRowExpr().GetArgs(), targets)
	}
}

// order moves ORDER BY to the SELECT over the answer. A position or a name of the SELECT list stays
// what it is there.
func (w *split) order(s *pg.SelectStmt) {
	w.outer.SortClause = cloned(s.SortClause)
	for _, n := range w.outer.SortClause {
		by := n.GetSortBy().GetNode()
		if by.GetAConst() != nil {
			continue
		}
		if ref := by.GetColumnRef(); ref != nil && len(ref.Fields) == 1 && w.isNamed(s, ref.Fields[0].GetString_().GetSval()) {
			continue
		}
		w.takeOut(n)
	}
}

func (w *split) isNamed(s *pg.SelectStmt, name string) bool {
	for _, n := range s.TargetList {
		t := n.GetResTarget()
		if own := t.GetName(); own != "" && strings.EqualFold(own, name) || own == "" && strings.EqualFold(targetName(t.GetVal()), name) {
			return true
		}
	}
	return false
}

// takeOut puts the largest parts of an expression that have no window into the question, and names
// of its columns in their places. Constants stay where they are.
func (w *split) takeOut(n *pg.Node) {
	syntax.EachNode(n, func(n *pg.Node) bool {
		switch n.GetNode().(type) {
		case *pg.Node_SortBy, *pg.Node_WindowDef, *pg.Node_List, *pg.Node_CaseWhen, *pg.Node_NamedArgExpr:
			return true
		case *pg.Node_SubLink:
			w.refused = syntax.Refuse(n.GetSubLink().Location, "ask it in FROM, as in SELECT ... FROM (SELECT ...) AS a, (SELECT ...) AS b",
				"a subquery cannot be used beside aggregates")
			return false
		}
		if isWindowed(n) {
			return true
		}
		if !isReleasable(n) {
			return false
		}
		own := &pg.Node{Node: n.Node}
		w.inner.TargetList = append(w.inner.TargetList, &pg.Node{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Val: own,
			Location: syntax.Location(n)}}})
		n.Node = columnNode(len(w.inner.TargetList) - 1).Node
		return false
	})
}

// isReleasable reports whether an expression is made of columns or aggregates.
func isReleasable(n *pg.Node) bool {
	found := false
	syntax.EachNode(n, func(n *pg.Node) bool {
		f := n.GetFuncCall()
		found = found || n.GetColumnRef() != nil || n.GetGroupingFunc() != nil ||
			f != nil && (f.AggStar || f.AggWithinGroup || isAggregate(functionName(f)))
		return !found
	})
	return found
}

// partName is what a column of the question is called in the SELECT over its answer.
func partName(i int) string { return fmt.Sprintf("%s column %d", AnswerPrefix, i) }

func columnNode(i int) *pg.Node {
	name := &pg.Node{Node: &pg.Node_String_{String_: &pg.String{Sval: partName(i)}}}
	return &pg.Node{Node: &pg.Node_ColumnRef{ColumnRef: &pg.ColumnRef{Fields: []*pg.Node{name}, Location: -1}}}
}

func cloned(nodes []*pg.Node) []*pg.Node {
	out := make([]*pg.Node, len(nodes))
	for i, n := range nodes {
		out[i] = proto.Clone(n).(*pg.Node)
	}
	return out
}
