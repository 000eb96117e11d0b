package interpret

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/ident"
)

// targets binds the output columns.
func (s *scope) targets(list []*pg.Node, q *query) error {
	for _, n := range list {
		t := n.GetResTarget()
		if t == nil {
			return unsupported("this output column")
		}
		if fields, ok, err := s.star(t.Val); err != nil {
			return err
		} else if ok {
			for _, f := range fields {
				q.names = append(q.names, f.name)
				q.outs = append(q.outs, f.expr())
			}
			continue
		}
		x, err := s.expr(t.Val)
		if err != nil {
			return err
		}
		name := t.Name
		if name == "" {
			name, _ = outputName(t.Val)
		}
		q.names = append(q.names, ident.Truncate(name, 63))
		q.outs = append(q.outs, x)
	}
	if len(q.outs) > 1664 {
		return Fail("54011", "target lists can have at most 1664 entries")
	}
	return nil
}

// star returns what * or t.* stands for.
func (s *scope) star(n *pg.Node) ([]field, bool, error) {
	ref := n.GetColumnRef()
	if ref == nil || len(ref.Fields) == 0 || ref.Fields[len(ref.Fields)-1].GetAStar() == nil {
		return nil, false, nil
	}
	if len(ref.Fields) == 1 {
		if s.rtes == 0 {
			return nil, false, locate(Fail("42601", "SELECT * with no tables specified is not valid"), ref.Location)
		}
		return s.stars, true, nil
	}
	parts := nameParts(ref.Fields[:len(ref.Fields)-1])
	for f, hidden := s, false; f != nil; f = f.outer {
		if !hidden {
			if sp := f.space(parts); sp != nil {
				depth := f.depth(s)
				var out []field
				for _, fd := range sp.fields {
					out = append(out, field{fd.name, func() *expr { return fd.expr().raise(depth) }})
				}
				return out, true, nil
			}
		}
		hidden = f.hidden
	}
	return nil, false, locate(Fail("42P01", "missing FROM-clause entry for table %q", clip(parts[len(parts)-1])), ref.Location)
}

// outputName is the name of an output column that was given none, and whether it is more than a
// guess.
func outputName(n *pg.Node) (string, bool) {
	last := func(list []*pg.Node) (string, bool) {
		for i := len(list) - 1; i >= 0; i-- {
			if s := list[i].GetString_(); s != nil {
				return s.Sval, true
			}
		}
		return "", false
	}
	switch v := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		if s, ok := last(v.ColumnRef.Fields); ok {
			return s, true
		}
	case *pg.Node_AIndirection:
		if s, ok := last(v.AIndirection.Indirection); ok {
			return s, true
		}
		return outputName(v.AIndirection.Arg)
	case *pg.Node_FuncCall:
		if s, ok := last(v.FuncCall.Funcname); ok {
			return s, true
		}
	case *pg.Node_AExpr:
		if v.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", true
		}
	case *pg.Node_TypeCast:
		if s, strong := outputName(v.TypeCast.Arg); strong {
			return s, true
		}
		if s, ok := last(v.TypeCast.GetTypeName().GetNames()); ok {
			return s, false
		}
	case *pg.Node_CollateClause:
		return outputName(v.CollateClause.Arg)
	case *pg.Node_CaseExpr:
		if s, strong := outputName(v.CaseExpr.Defresult); strong {
			return s, true
		}
		return "case", false
	case *pg.Node_AArrayExpr:
		return "array", true
	case *pg.Node_RowExpr:
		return "row", true
	case *pg.Node_CoalesceExpr:
		return "coalesce", true
	case *pg.Node_MinMaxExpr:
		if v.MinMaxExpr.Op == pg.MinMaxOp_IS_GREATEST {
			return "greatest", true
		}
		return "least", true
	case *pg.Node_SqlvalueFunction:
		name := strings.ToLower(strings.TrimPrefix(v.SqlvalueFunction.Op.String(), "SVFOP_"))
		return strings.TrimSuffix(name, "_n"), true
	case *pg.Node_SubLink:
		switch v.SubLink.SubLinkType {
		case pg.SubLinkType_EXISTS_SUBLINK:
			return "exists", true
		case pg.SubLinkType_ARRAY_SUBLINK:
			return "array", true
		case pg.SubLinkType_EXPR_SUBLINK:
			st := v.SubLink.Subselect.GetSelectStmt()
			for st != nil && st.Larg != nil {
				st = st.Larg
			}
			if st != nil && len(st.TargetList) > 0 {
				if t := st.TargetList[0].GetResTarget(); t != nil {
					if t.Name != "" {
						return t.Name, true
					}
					return outputName(t.Val)
				}
			}
		}
	}
	return "?column?", false
}
