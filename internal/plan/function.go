package plan

import (
	"maps"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// function is what can be called: a row of the one table that names, checks,
// types and computes it. Every function is total, and takes time in proportion to the
// length of its arguments at most.
type function struct {
	least, most int    // how many arguments; most is 0 for any number
	usage       string // how it is written
	// build checks the arguments and makes the expression, with the interval of its
	// value: nil where it has no name in SQL.
	build func(args []Expr, pos int32) (Expr, error)
}

// node is a function as it stands in the tree, which an engine prints.
type node struct {
	eval     func(e *Call, args []Value) Value
	nulls    bool // eval wants NULLs; otherwise a NULL argument makes NULL
	vanishes bool // it can be NULL where no argument is
	copies   int  // how often an engine may write its arguments, where more than once
}

// functions are those of SQL by name, and nodes those of the tree. They are filled by the
// files of their kinds: fn_any.go, fn_number.go, fn_real.go, fn_text.go, fn_time.go, cast.go.
var (
	functions = map[string]function{}
	nodes     = map[string]node{}
)

// Functions returns the names that can be called in SQL, sorted.
func Functions() []string { return slices.Sorted(maps.Keys(functions)) }

// Nodes returns the values that [Call.Fn] can have, sorted: an engine prints each of them.
func Nodes() []string { return slices.Sorted(maps.Keys(nodes)) }

func isFunction(name string) bool { _, ok := functions[name]; return ok }

// checkCall checks the call of a function that is not an aggregate.
func checkCall(s scope, f *pg.FuncCall) (Expr, error) {
	name := functionName(f)
	if !isFunction(name) {
		return nil, refuse(f.Location, instead(name), "the function %s cannot be used", name).WithCode(noFunction)
	}
	if f.AggDistinct || f.AggFilter != nil || f.Over != nil || len(f.AggOrder) > 0 || f.AggWithinGroup || f.FuncVariadic || f.AggStar {
		return nil, refuse(f.Location, "write "+functions[name].usage, "%s is not an aggregate", name)
	}
	return checkNamed(s, name, f.Args, f.Location)
}

// instead says what to write in place of a function that there is not.
func instead(name string) string {
	switch name {
	case "now", "current_timestamp", "clock_timestamp", "random":
		return "write the value itself, as in '2024-01-31'; an answer must not depend on when it is asked"
	case "repeat", "lpad", "rpad", "replace", "regexp_replace", "translate", "format":
		return "use ||, left, right, substring, trim, lower or upper, whose results have a bounded length"
	case "regexp_matches", "regexp_like", "similar_to_escape":
		return "use LIKE, where % stands for anything and _ for one character"
	case "median", "percentile_cont", "min", "max", "stddev", "variance":
		return "use COUNT, SUM or AVG"
	case "age", "datediff", "date_diff":
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
	case "strftime", "to_char":
		return "use extract(year from day), date_trunc('month', day) or CAST(day AS text)"
	case "to_date", "to_timestamp", "to_number":
		return "use CAST(x AS date), CAST(x AS timestamp) or CAST(x AS numeric(10,2))"
	}
	close := ""
	for _, f := range Functions() {
		if name != "" && (strings.HasPrefix(f, name) || strings.HasPrefix(name, f)) {
			close = "; did you mean " + f + "?"
		}
	}
	return "use the operators and functions of docs/sql-functions.md" + close
}

// checkNamed checks the arguments of a function and makes it.
func checkNamed(s scope, name string, nodes []*pg.Node, pos int32) (Expr, error) {
	args := make([]Expr, len(nodes))
	for i, n := range nodes {
		var err error
		if n.GetNamedArgExpr() != nil {
			return nil, refuse(pos, "write "+functions[name].usage, "arguments have no names here")
		}
		if args[i], err = checkExpr(s, n); err != nil {
			return nil, err
		}
	}
	return named(name, args, pos)
}

// named makes a function of checked arguments.
func named(name string, args []Expr, pos int32) (Expr, error) {
	f := functions[name]
	if len(args) < f.least || f.most > 0 && len(args) > f.most {
		return nil, refuse(pos, "write "+f.usage, "%s has another number of arguments", name)
	}
	return f.build(args, pos)
}

// constant returns the value of an expression without columns.
func constant(e Expr) (*Literal, bool) {
	l, ok := normal(e).(*Literal)
	return l, ok
}

// wholeConstant reads an argument that must be a whole number between two ends.
func wholeConstant(e Expr, lo, hi int64, what string, pos int32) (int64, error) {
	l, ok := constant(adoptNumber(e))
	if ok && l.Number != nil && l.typ.Integer() && l.Number.IsInt64() {
		if n := l.Number.Int64(); lo <= n && n <= hi {
			return n, nil
		}
	}
	return 0, refuse(pos, "write a number there, as in "+what, "this argument must be a constant whole number from %d to %d", lo, hi)
}

// textConstant reads an argument that must be a constant text.
func textConstant(e Expr, most int, what string, pos int32) (string, error) {
	l, ok := constant(e)
	switch {
	case !ok || l.Text == nil:
		return "", refuse(pos, "write a text in quotes there, as in "+what, "this argument must be a constant text")
	case len(*l.Text) > most:
		return "", refuse(pos, "write a shorter text", "this text is longer than %d bytes", most)
	}
	return *l.Text, nil
}

// need refuses an argument of another kind than the function takes.
func need(name string, e Expr, pos int32, kinds ...Kind) (Expr, error) {
	if l, ok := e.(*Literal); ok && (l.IsNullLiteral() || l.Text != nil) && kinds[0] != Text {
		sample := map[Kind]Expr{Number: newNumber(one), Real: newNumber(one), Date: newDate(0), Timestamp: newTimestamp(0), Boolean: newBool(true)}
		for _, k := range kinds {
			if e = adopt(e, sample[k]); e.Type().Kind == k {
				break
			}
		}
	} else if ok && l.IsNullLiteral() && l.typ.Kind == 0 {
		e = newNull(textType(0))
	}
	if !slices.Contains(kinds, e.Type().Kind) {
		return nil, refuse(pos, "write "+functions[name].usage, "%s cannot take %s", name, article(e.Type().Kind))
	}
	return checked(e, pos)
}
