package plan

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// running are the measures of a question of which running totals are made around it, as in
//
//	SELECT day, SUM(COUNT(*)) OVER (ORDER BY day) FROM visits GROUP BY day
//
// where the groups are those of one public key, in its order. Which noise they get may follow from
// that, and nothing else does: windows add up what was released, as they always do.
func running(plans []*tree.Plan, around *pg.SelectStmt) []int {
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
