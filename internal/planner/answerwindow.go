package planner

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
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

func windowLocation(s *pg.SelectStmt) int32 {
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

// windowSplit is a SELECT that is being taken apart.
type windowSplit struct {
	inner, outer *pg.SelectStmt
	refused      error
}

// planWindows plans a SELECT over rows that has windows, and returns the SELECT over its answer,
// which is that of a number.
func (pn planner) planWindows(s *pg.SelectStmt, number int) ([]*tree.Plan, *pg.SelectStmt, error) {
	if !isAggregated(s) {
		return nil, nil, syntax.Refuse(syntax.Private, windowLocation(s), "group them first: windows work on the rows of an answer, as in "+
			"SELECT "+exampleKey+", COUNT(*), SUM(COUNT(*)) OVER () ... GROUP BY "+exampleKey,
			"a window over rows would show the contents of single rows")
	}
	w := &windowSplit{inner: proto.Clone(s).(*pg.SelectStmt), outer: selectAnswer(number)}
	w.inner.TargetList, w.inner.SortClause, w.inner.DistinctClause, w.inner.WindowClause = nil, nil, nil, nil
	w.inner.LimitCount, w.inner.LimitOffset, w.inner.LimitOption = nil, nil, pg.LimitOption_LIMIT_OPTION_DEFAULT
	w.positions(w.inner.GroupClause, s.TargetList)
	w.outer.DistinctClause, w.outer.WindowClause = clone(s.DistinctClause), clone(s.WindowClause)
	w.outer.LimitCount, w.outer.LimitOffset, w.outer.LimitOption = s.LimitCount, s.LimitOffset, s.LimitOption
	w.outer.TargetList = clone(s.TargetList)
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
	plans[0].Running = runningSums(plans, w.outer)
	return plans, w.outer, nil
}

// positions puts what a position of the SELECT list stands for into GROUP BY.
func (w *windowSplit) positions(keys, targets []*pg.Node) {
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
func (w *windowSplit) order(s *pg.SelectStmt) {
	w.outer.SortClause = clone(s.SortClause)
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

func (w *windowSplit) isNamed(s *pg.SelectStmt, name string) bool {
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
func (w *windowSplit) takeOut(n *pg.Node) {
	syntax.EachNode(n, func(n *pg.Node) bool {
		switch n.GetNode().(type) {
		case *pg.Node_SortBy, *pg.Node_WindowDef, *pg.Node_List, *pg.Node_CaseWhen, *pg.Node_NamedArgExpr:
			return true
		case *pg.Node_SubLink:
			w.refused = syntax.Refuse(syntax.Unsupported, n.GetSubLink().Location,
				"ask it in FROM, as in SELECT ... FROM (SELECT ...) AS a, (SELECT ...) AS b",
				"a subquery cannot be used in SELECT, HAVING or ORDER BY of a question about private rows")
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

func clone(nodes []*pg.Node) []*pg.Node {
	out := make([]*pg.Node, len(nodes))
	for i, n := range nodes {
		out[i] = proto.Clone(n).(*pg.Node)
	}
	return out
}

// runningSums are the measures of a question of which running totals are made around it, as in
//
//	SELECT day, SUM(COUNT(*)) OVER (ORDER BY day) FROM visits GROUP BY day
//
// where the groups are those of one public key, in its order. Which noise they get may follow from
// that, and nothing else does: windows add up what was released, as they always do.
func runningSums(plans []*tree.Plan, around *pg.SelectStmt) []int {
	p := plans[0]
	q := &p.Query
	if len(plans) != 1 || p.Having != nil || len(p.Within) > 0 || q.Choice != nil || len(q.Keys) != 1 || q.Keys[0].Private ||
		!isRising(q.Keys[0].Values) {
		return nil
	}
	var out []int
	for _, n := range around.TargetList {
		syntax.EachNode(n, func(n *pg.Node) bool {
			f := n.GetFuncCall()
			if f.GetOver() == nil {
				return true
			}
			by, of, ok := runningSum(f)
			if !ok || !isKey(p, by) {
				return true
			}
			if m, ok := measureAt(p, of); ok && !slices.Contains(out, m) {
				out = append(out, m)
			}
			return true
		})
	}
	return out
}

// isRising reports whether values stand in the order in which windows sort them.
func isRising(values []policy.Value) bool {
	return slices.IsSortedFunc(values, func(a, b policy.Value) int {
		switch {
		case expr.SameKey(a, b):
			return 0
		case b.Null || !a.Null && (a.Text < b.Text || a.Text == b.Text && a.Int < b.Int):
			return -1
		}
		return 1
	})
}

// Bits of a frame, as PostgreSQL's parser has them.
const (
	fromTheFirst  = 0x20
	toTheCurrent  = 0x400
	frameExcludes = 0x38000
)

// runningSum reads SUM(column) OVER (ORDER BY column), with the columns' names.
func runningSum(f *pg.FuncCall) (by, of string, ok bool) {
	w := f.Over
	plain := functionName(f) == "sum" && len(f.Args) == 1 && f.AggFilter == nil && !f.AggDistinct && len(f.AggOrder) == 0
	if !plain || w.Refname != "" || w.Name != "" || len(w.PartitionClause) > 0 || len(w.OrderClause) != 1 || w.StartOffset != nil ||
		w.EndOffset != nil || w.FrameOptions&fromTheFirst == 0 || w.FrameOptions&toTheCurrent == 0 || w.FrameOptions&frameExcludes != 0 {
		return "", "", false
	}
	s := w.OrderClause[0].GetSortBy()
	if s.GetSortbyDir() != pg.SortByDir_SORTBY_DEFAULT && s.GetSortbyDir() != pg.SortByDir_SORTBY_ASC ||
		s.GetSortbyNulls() == pg.SortByNulls_SORTBY_NULLS_FIRST {
		return "", "", false
	}
	name := func(n *pg.Node) string {
		fields := n.GetColumnRef().GetFields()
		if len(fields) != 1 {
			return ""
		}
		return fields[0].GetString_().GetSval()
	}
	by, of = name(s.GetNode()), name(f.Args[0])
	return by, of, by != "" && of != ""
}

// isKey reports whether a column of a question is its key.
func isKey(p *tree.Plan, column string) bool {
	r, ok := columnNamed(p, column)
	return ok && p.Stats[r.Stat].Kind == tree.KeyStat
}

// measureAt finds the measure that a column of a question is.
func measureAt(p *tree.Plan, column string) (int, bool) {
	r, ok := columnNamed(p, column)
	if !ok || r.Part != tree.PartValue || p.Stats[r.Stat].Kind != tree.MeasureStat {
		return 0, false
	}
	m := p.Stats[r.Stat].Measure
	return m, p.Query.Measures[m].Adds()
}

func columnNamed(p *tree.Plan, name string) (*tree.Released, bool) {
	for i, c := range p.Columns {
		if partName(i) == name {
			r, ok := c.Expr.(*tree.Released)
			return r, ok
		}
	}
	return nil, false
}

func selectAnswer(i int) *pg.SelectStmt {
	star :=
		&pg.Node{Node: &pg.Node_ColumnRef{ColumnRef: &pg.ColumnRef{Fields: []*pg.Node{{Node: &pg.Node_AStar{AStar: &pg.A_Star{}}}},
			Location: -1}}}
	return &pg.SelectStmt{
		TargetList: []*pg.Node{{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Val: star, Location: -1}}}},
		FromClause: []*pg.Node{{Node: &pg.Node_RangeVar{RangeVar: &pg.RangeVar{Relname: AnswerName(i), Inh: true,
			Relpersistence: "p", Location: -1}}}},
		Op:          pg.SetOperation_SETOP_NONE,
		LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT,
	}
}
