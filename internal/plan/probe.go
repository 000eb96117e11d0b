package plan

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// A probe is a SELECT that has no rows, whatever the data is: tools send SELECT * FROM t WHERE 0 =
// 1, or LIMIT 0 around something, to learn its columns. That it has none follows from its text:
// LIMIT 0, or a WHERE that is false of constants alone, here or in what it is made from.

// prober finds out which SELECTs have no rows.
type prober struct{ env *env }

// readRows reads a SELECT of rows that has none, and returns its columns; nil where it may have
// some.
func (pb prober) readRows(s *pg.SelectStmt) ([]tree.Output, error) {
	if isAggregated(s) || len(s.DistinctClause) > 0 || refuseClauses(s) != nil {
		return nil, nil
	}
	e, err := pb.env.addNames(s.WithClause)
	if err != nil {
		return nil, err
	}
	from, err := rowReader{e}.readFrom(s)
	if err != nil || !zeroLimit(s) && !pb.isFalse(s.WhereClause) && !hasNone(from.Relation) {
		return nil, err
	}
	in := &rowScope{env: e, rows: from, extend: true}
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
		return nil, syntax.Refuse(first(targets), "select fewer columns", "the question has more than %d columns", maxColumns)
	}
	return out, nil
}

// zeroLimit reports whether a SELECT says LIMIT 0.
func zeroLimit(s *pg.SelectStmt) bool {
	v, ok := s.GetLimitCount().GetAConst().GetVal().(*pg.A_Const_Ival)
	return ok && v.Ival.GetIval() == 0 && s.LimitOption != pg.LimitOption_LIMIT_OPTION_WITH_TIES
}

// noGroups reports whether a question shows none of its groups. Without GROUP BY there is always
// one, and so there may be with several sets.
func (pb prober) noGroups(s *pg.SelectStmt) bool {
	grouped := len(s.GroupClause) > 0 && !hasSets(s) || len(s.DistinctClause) > 0 && !isAggregated(s)
	return zeroLimit(s) || pb.isFalse(s.HavingClause) || grouped && pb.isFalse(s.WhereClause)
}

// withoutRows is a SELECT of rows with LIMIT 0, written with WHERE false: the same, and nothing in
// it looks from one row at another.
func withoutRows(s *pg.SelectStmt) *pg.SelectStmt {
	if !zeroLimit(s) || isAggregated(s) || isSet(s) {
		return s
	}
	s = proto.Clone(s).(*pg.SelectStmt)
	s.LimitCount, s.LimitOffset, s.SortClause = nil, nil, nil
	no := &pg.Node{Node: &pg.Node_AConst{AConst: &pg.A_Const{Val: &pg.A_Const_Boolval{Boolval: &pg.Boolean{}}, Location: -1}}}
	if s.WhereClause != nil { // which is checked all the same
		no = &pg.Node{Node: &pg.Node_BoolExpr{BoolExpr: &pg.BoolExpr{Boolop: pg.BoolExprType_AND_EXPR,
			Args: []*pg.Node{no, s.WhereClause}, Location: -1}}}
	}
	s.WhereClause = no
	return s
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

// hasNone reports whether a relation has no rows, because a condition in it is false.
func hasNone(r tree.Relation) bool {
	switch r := r.(type) {
	case *tree.Select:
		l, ok := r.Where.(*tree.Literal)
		return ok && l.Bool != nil && !*l.Bool || hasNone(r.From)
	case *tree.Join:
		if r.Full { // rows of either side are there
			return hasNone(r.L) && hasNone(r.R)
		}
		return hasNone(r.L) || !r.Left && hasNone(r.R)
	case *tree.Union:
		for _, p := range r.Parts {
			if !hasNone(p) {
				return false
			}
		}
		return true
	case *tree.Cut:
		return hasNone(r.From)
	}
	return false
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
