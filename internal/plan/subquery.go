package plan

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// readSubquery reads a SELECT of rows: as they are, with windows over those of one person, or
// grouped by the unit.
func (rr rowReader) readSubquery(s *pg.SelectStmt, pos int32) (tree.Relation, error) {
	if s == nil {
		return nil, syntax.Refuse(pos, "write (SELECT ... FROM ...)", "this is not a SELECT")
	}
	s = withoutRows(s)
	if err := refuseRows(s, pos); err != nil {
		return nil, err
	}
	e, err := rr.env.descend(pos)
	if err != nil {
		return nil, err
	}
	if e, err = e.addNames(s.WithClause); err != nil {
		return nil, err
	}
	rr = rowReader{e}
	if isSet(s) {
		return rr.readUnion(s, pos)
	}
	if isDistinct(s) {
		return rr.readDistinct(s, pos)
	}
	from, err := rr.readFrom(s)
	if err != nil {
		return nil, err
	}
	in := &rowScope{env: e, rows: from, extend: true}
	if err := in.readWhere(s); err != nil {
		return nil, err
	}
	if isAggregated(s) {
		return in.readPersons(s, pos)
	}
	w, chosen, err := (&windowReader{in}).read(s)
	if err != nil {
		return nil, err
	}
	names, columns, err := in.readColumns(in, s.TargetList)
	if err != nil {
		return nil, err
	}
	if chosen != nil {
		in.filter = chosen
	}
	out := newSelect(in.rows.Relation, in.filter, names, columns)
	if w != nil {
		setTies(w, out)
		out.One = chosen != nil && isNumber(chosen)
	}
	return out, nil
}

// isDistinct reports whether a SELECT is one of DISTINCT rows, and not of DISTINCT ON.
func isDistinct(s *pg.SelectStmt) bool {
	return len(s.DistinctClause) > 0 && s.DistinctClause[0].GetNode() == nil
}

// refuseRows refuses what would let one person's row decide about another's: which rows there are
// is decided row by row below the noise.
func refuseRows(s *pg.SelectStmt, pos int32) error {
	if err := refuseClauses(s); err != nil {
		return err
	}
	for _, c := range []struct {
		present       bool
		at            int32
		what, instead string
	}{
		{len(s.DistinctClause) > 0 && !isDistinct(s) && isAggregated(s), first(s.DistinctClause), "DISTINCT ON beside aggregates",
			"group in a subquery, and put it around that"},
		{s.LimitCount != nil && !isEverything(s.LimitCount), syntax.Location(s.LimitCount), "LIMIT",
			"put it outside, where it is applied to the answer"},
		{s.LimitOffset != nil && !isFromFirst(s.LimitOffset), syntax.Location(s.LimitOffset), "OFFSET",
			"put it outside, where it is applied to the answer"},
	} {
		if c.present {
			return syntax.Refuse(c.at, c.instead, "%s cannot be used in a subquery of rows", c.what)
		}
	}
	return nil
}

// isEverything reports whether a LIMIT leaves all rows: LIMIT ALL.
func isEverything(n *pg.Node) bool { return n.GetAConst().GetIsnull() }

// isFromFirst reports whether an OFFSET leaves all rows: OFFSET 0, which tools write to keep a
// planner from looking into a subquery.
func isFromFirst(n *pg.Node) bool {
	v, ok := n.GetAConst().GetVal().(*pg.A_Const_Ival)
	return n.GetAConst().GetIsnull() || ok && v.Ival.GetIval() == 0
}

// readColumns reads the SELECT list of rows, or of what each person has.
func (in *rowScope) readColumns(as scope, targets []*pg.Node) (names []string, columns []tree.Expr, err error) {
	for _, n := range targets {
		t := n.GetResTarget()
		_, rows := as.(*rowScope)
		if ref := t.GetVal().GetColumnRef(); rows && ref != nil && ref.Fields[len(ref.Fields)-1].GetAStar() != nil {
			if err := in.star(ref, func(c *tree.Column) {
				names, columns = append(names, c.Field.Name), append(columns, c)
			}); err != nil {
				return nil, nil, err
			}
			continue
		}
		e, err := checkExpr(as, t.GetVal())
		if err != nil {
			return nil, nil, err
		}
		if err := expr.CheckLevels(e, syntax.Location(t.GetVal())); err != nil {
			return nil, nil, err
		}
		e = in.env.normal(adoptText(e))
		name := t.GetName()
		if name == "" {
			name = targetName(t.GetVal())
		}
		names, columns = append(names, name), append(columns, e)
	}
	if name := repeated(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "?column?" })); name != "" {
		return nil, nil,
			syntax.Refuse(first(targets), "give every column a name of its own with AS", "two columns of the subquery are called %q", name)
	}
	if len(columns) > maxColumns {
		return nil, nil, syntax.Refuse(first(targets), "select fewer columns", "the subquery has more than %d columns", maxColumns)
	}
	return names, columns, nil
}

// maxColumns bounds the columns of a subquery, which * makes longer than its text.
const maxColumns = 500

// star calls f for the columns that * or table.* stands for.
func (in *rowScope) star(ref *pg.ColumnRef, f func(*tree.Column)) error {
	table := ""
	if len(ref.Fields) == 2 {
		table = ref.Fields[0].GetString_().GetSval()
	}
	found := false
	for _, b := range in.rows.names {
		if table != "" && !strings.EqualFold(b.name, table) {
			continue
		}
		found = true
		for i := b.from; i < b.upto; i++ {
			field := in.rows.Fields()[i]
			if field.Name != "" && !(field.Raw() && in.rows.listed(b, field.Name)) && (table != "" || !slices.Contains(b.hidden, i)) {
				f(tree.NewColumn(in.rows.Relation, i))
			}
		}
	}
	if !found || len(ref.Fields) > 2 {
		return syntax.Refuse(ref.Location, "the tables here are "+in.rows.bindings(), "there is no such table in this subquery")
	}
	return nil
}

// listed reports whether a name of a table is also a listed column, whose stored form then comes
// along by itself.
func (r rows) listed(b binding, name string) bool {
	return slices.ContainsFunc(r.Fields()[b.from:b.upto], func(f tree.Field) bool {
		return !f.Raw() && strings.EqualFold(f.Name, name)
	})
}

// targetName is what PostgreSQL calls a column that has no AS.
func targetName(n *pg.Node) string {
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return x.ColumnRef.Fields[len(x.ColumnRef.Fields)-1].GetString_().GetSval()
	case *pg.Node_FuncCall:
		name := functionName(x.FuncCall)
		return name[strings.LastIndexByte(name, '.')+1:]
	case *pg.Node_TypeCast:
		if name := targetName(x.TypeCast.Arg); name != "?column?" && name != "case" {
			return name
		}
		return syntax.TypeName(x.TypeCast)
	case *pg.Node_CollateClause:
		return targetName(x.CollateClause.Arg)
	case *pg.Node_GroupingFunc:
		return "grouping"
	case *pg.Node_CaseExpr:
		if x.CaseExpr.Defresult != nil {
			if name := targetName(x.CaseExpr.Defresult); name != "?column?" && x.CaseExpr.Defresult.GetTypeCast() == nil {
				return name
			}
		}
		return "case"
	case *pg.Node_CoalesceExpr:
		return "coalesce"
	case *pg.Node_MinMaxExpr:
		return map[bool]string{true: "least", false: "greatest"}[x.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST]
	case *pg.Node_AExpr:
		if x.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif"
		}
	}
	return "?column?"
}

// adoptText gives a constant without a type the one it has on its own.
func adoptText(e tree.Expr) tree.Expr {
	if e.Type().Kind == 0 {
		return expr.Adopt(e, expr.NewText(""))
	}
	return e
}

func isSet(s *pg.SelectStmt) bool {
	return s.Op != pg.SetOperation_SETOP_NONE && s.Op != pg.SetOperation_SET_OPERATION_UNDEFINED
}
