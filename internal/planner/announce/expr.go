package announce

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
)

// expr is the type of an expression.
func (r *reader) expr(s *scope, n *pg.Node) Type {
	if !r.step(1) || n == nil {
		return Type{}
	}
	switch x := n.GetNode().(type) {
	case *pg.Node_AConst:
		return constant(x.AConst)
	case *pg.Node_ParamRef:
		return r.parameter(x.ParamRef)
	case *pg.Node_ColumnRef:
		return s.column(r, x.ColumnRef)
	case *pg.Node_FuncCall:
		return r.call(s, x.FuncCall)
	case *pg.Node_AExpr:
		return r.operator(s, x.AExpr)
	case *pg.Node_TypeCast:
		return cast(x.TypeCast)
	case *pg.Node_CollateClause:
		return r.expr(s, x.CollateClause.Arg)
	case *pg.Node_CaseExpr:
		return r.choice(s, x.CaseExpr)
	case *pg.Node_CoalesceExpr:
		return common(r.exprs(s, x.CoalesceExpr.Args))
	case *pg.Node_MinMaxExpr:
		return common(r.exprs(s, x.MinMaxExpr.Args))
	case *pg.Node_BoolExpr, *pg.Node_NullTest, *pg.Node_BooleanTest:
		return Type{Name: "bool"}
	case *pg.Node_GroupingFunc:
		return Type{Name: "int4"}
	case *pg.Node_SqlvalueFunction:
		return Type{Name: sessionValues[x.SqlvalueFunction.Op]}
	case *pg.Node_SubLink:
		if x.SubLink.SubLinkType != pg.SubLinkType_EXPR_SUBLINK {
			return Type{Name: "bool"}
		}
		if columns := r.query(s, x.SubLink.Subselect.GetSelectStmt()); len(columns) == 1 {
			return settled(columns[0].Type)
		}
	}
	return Type{}
}

func (r *reader) exprs(s *scope, nodes []*pg.Node) []Type {
	out := make([]Type, len(nodes))
	for i, n := range nodes {
		out[i] = r.expr(s, n)
	}
	return out
}

var sessionValues = map[pg.SQLValueFunctionOp]string{
	pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE:        "date",
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP:   "timestamptz",
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N: "timestamptz",
	pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP:      "timestamp",
	pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:    "timestamp",
}

func constant(c *pg.A_Const) Type {
	switch v := c.Val.(type) {
	case *pg.A_Const_Ival:
		return Type{Name: "int4"}
	case *pg.A_Const_Fval: // also a whole number beyond 32 bits
		if _, err := strconv.ParseInt(v.Fval.GetFval(), 0, 64); err == nil {
			return Type{Name: "int8"}
		}
		return Type{Name: "numeric"}
	case *pg.A_Const_Boolval:
		return Type{Name: "bool"}
	}
	return Type{Name: unknown}
}

// parameterTypes are the types of parameters by their kinds. None depends on the value that comes
// later.
var parameterTypes = map[string]string{"integer": "int8", "decimal": "numeric", "boolean": "bool", "date": "date",
	"timestamp": "timestamp", "text": unknown}

func (r *reader) parameter(p *pg.ParamRef) Type {
	if i := int(p.Number) - 1; i >= 0 && i < len(r.parameters) {
		return Type{Name: parameterTypes[r.parameters[i]]}
	}
	return Type{Name: unknown}
}

func (r *reader) choice(s *scope, c *pg.CaseExpr) Type {
	results := []Type{{Name: unknown}} // NULL, where there is no ELSE
	if c.Defresult != nil {
		results[0] = r.expr(s, c.Defresult)
	}
	for _, w := range c.Args {
		results = append(results, r.expr(s, w.GetCaseWhen().GetResult()))
	}
	return common(results)
}

// aliases are names of types that the grammar leaves as they are written.
var aliases = map[string]string{"char": "bpchar", "decimal": "numeric", "int": "int4"}

func cast(c *pg.TypeCast) Type {
	name := syntax.TypeName(c)
	if other, ok := aliases[name]; ok {
		name = other
	}
	if _, ok := categories[name]; !ok {
		return Type{}
	}
	var mods []int
	for _, n := range c.TypeName.GetTypmods() {
		mods = append(mods, int(n.GetAConst().GetIval().GetIval()))
	}
	switch {
	case len(mods) == 0:
	case name == "numeric" && len(mods) == 1:
		return Numeric(mods[0], 0)
	case name == "numeric":
		return Numeric(mods[0], mods[1])
	case name == "varchar" || name == "bpchar":
		return Type{name, int32(mods[0]) + 4}
	}
	return Type{Name: name}
}

func (r *reader) operator(s *scope, a *pg.A_Expr) Type {
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
	case pg.A_Expr_Kind_AEXPR_NULLIF: // what = compares it as
		left := r.expr(s, a.Lexpr)
		if name := resolveOperator(equals, []string{left.Name, r.expr(s, a.Rexpr).Name}); name != "" && name != left.Name {
			return Type{Name: name}
		}
		return settled(left)
	default:
		return Type{Name: "bool"}
	}
	name := a.Name[len(a.Name)-1].GetString_().GetSval()
	if a.Lexpr == nil {
		return Type{Name: resolveOperator(prefixes[name], []string{r.expr(s, a.Rexpr).Name})}
	}
	all, ok := operators[name]
	switch {
	case !ok:
		return Type{Name: "bool"} // comparisons and patterns
	case name == "||":
		return Type{Name: "text"} // whatever is beside a text
	}
	return Type{Name: resolveOperator(all, []string{r.expr(s, a.Lexpr).Name, r.expr(s, a.Rexpr).Name})}
}

// resolveOperator is resolve, but a quoted constant is first taken for what the other side is.
func resolveOperator(all []overload, args []string) string {
	if len(args) == 2 {
		same := append([]string{}, args...)
		for i := range same {
			if same[i] == unknown {
				same[i] = args[1-i]
			}
		}
		for _, o := range all {
			if len(o.takes) == 2 && o.takes[0] == same[0] && o.takes[1] == same[1] {
				return o.gives
			}
		}
	}
	return resolve(all, args)
}

func (r *reader) call(s *scope, f *pg.FuncCall) Type {
	name := strings.ToLower(f.Funcname[len(f.Funcname)-1].GetString_().GetSval())
	if gives, ok := fixed[name]; ok {
		return Type{Name: gives}
	}
	nodes := f.Args
	if f.AggWithinGroup && len(f.AggOrder) == 1 {
		nodes = []*pg.Node{f.AggOrder[0].GetSortBy().GetNode()}
	}
	args := r.exprs(s, nodes)
	switch {
	case len(args) == 0:
		return Type{}
	case alike[name]:
		return settled(Type{Name: args[0].Name})
	case united[name] && len(args) == 3:
		return settled(Type{Name: common([]Type{args[0], args[2]}).Name})
	case united[name]:
		return settled(Type{Name: args[0].Name})
	case ofAggregate[name]:
		if category := categories[args[0].Name]; name == "dp_error" && category != "N" {
			return Type{} // days, or microseconds
		}
		return args[0]
	}
	names := make([]string, 0, len(args))
	for _, a := range args {
		names = append(names, a.Name)
	}
	return Type{Name: resolve(functions[name], names)}
}
