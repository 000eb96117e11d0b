package planner

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Averaged is the private column with bounds that a question is an average of, or, where people
// have one row, a sum: of it alone, or nil. Measure is the place of its sum.
func (st *Statement) Averaged() (column *policy.Column, measure int) {
	if len(st.Plans) != 1 || st.Outer != nil {
		return nil, 0
	}
	for i, m := range st.Plans[0].Query.Measures {
		if m.Kind != tree.Sum {
			continue
		}
		if st.Plans[0].Query.Bounded() && m.Scaled == tree.Unscaled {
			return nil, 0 // a sum of people with many rows, who are cut otherwise
		}
		arg := m.Arg
		if x, ok := arg.(*tree.Arith); ok && x.Op == tree.Sub { // the distance from the middle
			arg = x.L
		}
		c := boundedColumn(arg)
		if c == nil || c.Field.Type.Kind != tree.Number || column != nil && c.Field.Source != column {
			return nil, 0
		}
		column, measure = c.Field.Source, i
	}
	return column, measure
}

// Narrowed is the text of a question of which [Statement.Averaged] is a column, with an upper limit
// for its values; empty where nothing takes one.
func (st *Statement) Narrowed(ds *policy.Dataset, text *syntax.Text, column *policy.Column, limit string) (string, error) {
	s, err := text.SelectOf(ds.Name)
	if err != nil {
		return "", err
	}
	s = proto.Clone(s).(*pg.SelectStmt)
	parsed, err := pg.Parse("SELECT least(0, " + limit + ")")
	if err != nil {
		return "", err
	}
	least := parsed.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val
	sums := !st.Plans[0].Query.Bounded()
	within := append(append(append([]*pg.Node{}, s.TargetList...), s.SortClause...), s.HavingClause)
	some := false
	for _, n := range within {
		syntax.EachNode(n, func(x *pg.Node) bool {
			f := x.GetFuncCall()
			if f == nil || len(f.Args) != 1 || len(f.Funcname) != 1 {
				return x.GetSubLink() == nil
			}
			name := f.Funcname[0].GetString_().GetSval()
			fields := f.Args[0].GetColumnRef().GetFields()
			if name != "avg" && !(sums && name == "sum") || len(fields) == 0 ||
				!strings.EqualFold(fields[len(fields)-1].GetString_().GetSval(), column.Name) {
				return true
			}
			narrower := proto.Clone(least).(*pg.Node)
			narrower.GetMinMaxExpr().Args[0] = f.Args[0]
			f.Args[0], some = narrower, true
			return false
		})
	}
	if !some {
		return "", nil
	}
	parsed.Stmts[0].Stmt = syntax.SelectNode(s)
	return pg.Deparse(parsed)
}
