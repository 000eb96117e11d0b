package plan

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// checkCall checks the call of a function that is not an aggregate.
func checkCall(s scope, f *pg.FuncCall) (tree.Expr, error) {
	name := functionName(f)
	if e, done, err := checkTimeCall(s, name, f); done {
		return e, err
	}
	if expr.Lookup(name) == nil {
		return nil, syntax.Refuse(f.Location, instead(name), "the function %s cannot be used", name).WithCode(syntax.NoFunction)
	}
	if f.AggDistinct || f.AggFilter != nil || f.Over != nil || len(f.AggOrder) > 0 || f.AggWithinGroup || f.FuncVariadic || f.AggStar {
		return nil, syntax.Refuse(f.Location, "write "+expr.Lookup(name).Usage, "%s is not an aggregate", name)
	}
	return checkNamed(s, name, f.Args, f.Location)
}

// instead says what to write in place of a function that there is not.
func instead(name string) string {
	switch name {
	case "now", "current_timestamp", "clock_timestamp", "random":
		return "write the value itself, as in '2024-01-31'; an answer must not depend on when it is asked"
	case "repeat", "regexp_replace", "translate", "format", "reverse", "initcap":
		return "use ||, replace, left, right, substring, lpad, trim, lower or upper, whose results have a bounded length"
	case "regexp_matches", "regexp_match", "regexp_substr", "regexp_count", "regexp_instr":
		return "use ~ or regexp_like, which say whether a pattern is in a text"
	case "median", "percentile_cont", "min", "max", "stddev", "variance":
		return "use COUNT, SUM or AVG"
	case "age":
		return "take a field of it, as in extract(year from age(seen, born)), or subtract dates, as in seen - born, which is a number " +
			"of days"
	case "datediff", "date_diff":
		return "subtract dates, as in discharged - admitted, which is a number of days"
	case "year", "quarter", "month", "week", "day", "dayofweek", "dayofyear", "weekday", "hour", "minute", "second":
		return "use extract, as in extract(year from day)"
	case "dateadd", "date_add", "date_sub":
		return "add an interval, as in day + INTERVAL '1 month', or a number of days, as in day + 7"
	case "ifnull", "isnull", "nvl":
		return "use coalesce(x, y), or x IS NULL"
	case "if", "iff", "iif", "decode":
		return "use CASE WHEN ... THEN ... ELSE ... END"
	case "len", "char_len":
		return "use length(s)"
	case "instr", "charindex", "locate":
		return "use strpos(s, 'x')"
	case "strftime":
		return "use to_char(day, 'YYYY-MM'), extract(year from day) or date_trunc('month', day)"
	case "to_number":
		return "use CAST(x AS numeric(10,2))"
	}
	close := ""
	for _, f := range expr.Functions() {
		if name != "" && (strings.HasPrefix(f, name) || strings.HasPrefix(name, f)) {
			close = "; did you mean " + f + "?"
		}
	}
	return "use the operators and functions of docs/sql-functions.md" + close
}

// thresholds are those of width_bucket(x, ARRAY[...]); nil where there are none.
func thresholds(name string, args []*pg.Node) []*pg.Node {
	if name != "width_bucket" || len(args) != 2 {
		return nil
	}
	array := args[1]
	if c := array.GetTypeCast(); c != nil && len(c.GetTypeName().GetArrayBounds()) == 1 {
		array = c.Arg
	}
	return array.GetAArrayExpr().GetElements()
}

// checkNamed checks the arguments of a function and makes it.
func checkNamed(s scope, name string, nodes []*pg.Node, pos int32) (tree.Expr, error) {
	array := thresholds(name, nodes)
	if array != nil {
		nodes = append([]*pg.Node{nodes[0]}, array...)
	}
	args := make([]tree.Expr, len(nodes))
	for i, n := range nodes {
		var err error
		if n.GetNamedArgExpr() != nil {
			return nil, syntax.Refuse(pos, "write "+expr.Lookup(name).Usage, "arguments have no names here")
		}
		if args[i], err = checkExpr(s, n); err != nil {
			return nil, err
		}
	}
	if array != nil {
		return expr.NewThresholds(args[0], args[1:], pos)
	}
	return expr.Named(name, args, pos)
}
