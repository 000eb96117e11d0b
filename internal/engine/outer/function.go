package outer

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// role says where a function may stand.
type role int

const (
	scalar    role = iota
	aggregate      // with FILTER, DISTINCT, ORDER BY and OVER
	window         // with OVER alone
	ordered        // with WITHIN GROUP
)

// form says how a call is printed.
type form int

const (
	plain     form = iota
	growing        // and cut to MaxText
	replacing      // growing by a short constant
	repeating
	padding
	splitting
	matching
	gathering // of all values in memory
	tallying  // of how often each value is there, in memory
)

// function is what is known of a function that may be called.
type function struct {
	role     role
	min, max int    // arguments
	as       string // its name in DuckDB, where it is another
	// numeric says that PostgreSQL returns numeric or double precision where DuckDB returns a whole
	// number, which would then divide as whole numbers do.
	numeric bool
	form    form
}

// functions is all that may be called. None of them reads anything but its arguments; see
// TestFunctions, which holds the list against that of the DuckDB in use.
var functions = map[string]function{
	// numbers
	"abs": {min: 1, max: 1}, "ceil": {min: 1, max: 1, numeric: true}, "ceiling": {min: 1, max: 1, numeric: true},
	"floor": {min: 1, max: 1, numeric: true}, "round": {min: 1, max: 2, numeric: true}, "trunc": {min: 1, max: 2, numeric: true},
	"sign": {min: 1, max: 1, numeric: true}, "sqrt": {min: 1, max: 1}, "cbrt": {min: 1, max: 1}, "exp": {min: 1, max: 1},
	"ln": {min: 1, max: 1}, "log": {min: 1, max: 2}, "log10": {min: 1, max: 1}, "power": {min: 2, max: 2}, "pow": {min: 2, max: 2},
	"mod": {min: 2, max: 2}, "gcd": {min: 2, max: 2}, "lcm": {min: 2, max: 2}, "degrees": {min: 1, max: 1},
	"radians": {min: 1, max: 1}, "pi": {}, "sin": {min: 1, max: 1}, "cos": {min: 1, max: 1}, "tan": {min: 1, max: 1},
	"cot": {min: 1, max: 1}, "asin": {min: 1, max: 1}, "acos": {min: 1, max: 1}, "atan": {min: 1, max: 1}, "atan2": {min: 2, max: 2},
	"sinh": {min: 1, max: 1}, "cosh": {min: 1, max: 1}, "tanh": {min: 1, max: 1}, "asinh": {min: 1, max: 1},
	"acosh": {min: 1, max: 1}, "atanh": {min: 1, max: 1}, "factorial": {min: 1, max: 1},
	// texts
	"length": {min: 1, max: 1}, "char_length": {min: 1, max: 1, as: "length"}, "character_length": {min: 1, max: 1, as: "length"},
	"octet_length": {min: 1, max: 1, as: "strlen"}, "bit_length": {min: 1, max: 1}, "lower": {min: 1, max: 1}, "upper": {min: 1, max: 1},
	"left": {min: 2, max: 2}, "right": {min: 2, max: 2}, "substring": {min: 2, max: 3}, "substr": {min: 2, max: 3},
	"strpos": {min: 2, max: 2}, "position": {min: 2, max: 2, as: "strpos"}, "btrim": {min: 1, max: 2, as: "trim"},
	"ltrim": {min: 1, max: 2}, "rtrim": {min: 1, max: 2}, "reverse": {min: 1, max: 1}, "translate": {min: 3, max: 3},
	"starts_with": {min: 2, max: 2}, "ascii": {min: 1, max: 1}, "chr": {min: 1, max: 1}, "md5": {min: 1, max: 1},
	"regexp_like": {min: 2, max: 2, as: "regexp_matches", form: matching},
	"split_part":  {min: 3, max: 3, form: splitting},
	"concat":      {min: 1, max: maxArgs, form: growing}, "concat_ws": {min: 2, max: maxArgs, form: growing},
	"replace": {min: 3, max: 3, form: replacing}, "regexp_replace": {min: 3, max: 4, form: replacing},
	"repeat": {min: 2, max: 2, form: repeating}, "lpad": {min: 2, max: 3, form: padding}, "rpad": {min: 2, max: 3, form: padding},
	// dates
	"extract": {min: 2, max: 2, as: "date_part", numeric: true}, "date_part": {min: 2, max: 2, numeric: true},
	"date_trunc": {min: 2, max: 2},
	"make_date":  {min: 3, max: 3}, "make_timestamp": {min: 6, max: 6},
	"age":      {min: 2, max: 2}, // of one argument it asks the clock
	"strftime": {min: 2, max: 2, form: growing}, "dayname": {min: 1, max: 1}, "monthname": {min: 1, max: 1}, "last_day": {min: 1, max: 1},
	// aggregates
	"count": {role: aggregate, min: 1, max: 1}, "sum": {role: aggregate, min: 1, max: 1, numeric: true},
	"avg": {role: aggregate, min: 1, max: 1},
	"min": {role: aggregate, min: 1, max: 1}, "max": {role: aggregate, min: 1, max: 1},
	"stddev": {role: aggregate, min: 1, max: 1}, "stddev_pop": {role: aggregate, min: 1, max: 1},
	"stddev_samp": {role: aggregate, min: 1, max: 1},
	"variance":    {role: aggregate, min: 1, max: 1}, "var_pop": {role: aggregate, min: 1, max: 1},
	"var_samp": {role: aggregate, min: 1, max: 1},
	"corr":     {role: aggregate, min: 2, max: 2}, "covar_pop": {role: aggregate, min: 2, max: 2},
	"covar_samp": {role: aggregate, min: 2, max: 2},
	"regr_avgx":  {role: aggregate, min: 2, max: 2}, "regr_avgy": {role: aggregate, min: 2, max: 2},
	"regr_count":     {role: aggregate, min: 2, max: 2},
	"regr_intercept": {role: aggregate, min: 2, max: 2}, "regr_r2": {role: aggregate, min: 2, max: 2},
	"regr_slope": {role: aggregate, min: 2, max: 2},
	"regr_sxx":   {role: aggregate, min: 2, max: 2}, "regr_sxy": {role: aggregate, min: 2, max: 2},
	"regr_syy": {role: aggregate, min: 2, max: 2},
	"bool_and": {role: aggregate, min: 1, max: 1}, "bool_or": {role: aggregate, min: 1, max: 1},
	"every":   {role: aggregate, min: 1, max: 1, as: "bool_and"},
	"bit_and": {role: aggregate, min: 1, max: 1}, "bit_or": {role: aggregate, min: 1, max: 1}, "bit_xor": {role: aggregate, min: 1, max: 1},
	"any_value": {role: aggregate, min: 1, max: 1}, "max_by": {role: aggregate, min: 2, max: 2},
	"min_by": {role: aggregate, min: 2, max: 2},
	"median": {role: aggregate, min: 1, max: 1, form: gathering}, "product": {role: aggregate, min: 1, max: 1},
	"skewness": {role: aggregate, min: 1, max: 1},
	"kurtosis": {role: aggregate, min: 1, max: 1}, "entropy": {role: aggregate, min: 1, max: 1, form: tallying},
	"mad":             {role: aggregate, min: 1, max: 1, form: gathering},
	"string_agg":      {role: aggregate, min: 2, max: 2, form: growing},
	"percentile_cont": {role: ordered, min: 1, max: 1, form: gathering},
	"percentile_disc": {role: ordered, min: 1, max: 1, form: gathering}, "mode": {role: ordered},
	// windows
	"row_number": {role: window}, "rank": {role: window}, "dense_rank": {role: window}, "percent_rank": {role: window},
	"cume_dist": {role: window},
	"ntile":     {role: window, min: 1, max: 1}, "lag": {role: window, min: 1, max: 3}, "lead": {role: window, min: 1, max: 3},
	"first_value": {role: window, min: 1, max: 1}, "last_value": {role: window, min: 1, max: 1},
	"nth_value": {role: window, min: 2, max: 2},
}

// bare says that a call has nothing but arguments.
func bare(f *pg.FuncCall) bool {
	return f != nil && f.Over == nil && f.AggFilter == nil && len(f.AggOrder) == 0 && !f.AggWithinGroup && !f.AggStar &&
		!f.AggDistinct && !f.FuncVariadic
}

// called returns the name of a function. The parser itself puts pg_catalog before what has a
// grammar of its own, such as EXTRACT; an analyst may not.
func (p *printer) called(f *pg.FuncCall) string {
	switch {
	case len(f.Funcname) == 1:
		return text(f.Funcname[0])
	case len(f.Funcname) == 2 && f.Funcformat == pg.CoercionForm_COERCE_SQL_SYNTAX && text(f.Funcname[0]) == "pg_catalog":
		return text(f.Funcname[1])
	}
	p.refuse(f.Location, "write the function's name alone", "a function has a schema")
	return ""
}

// instead helps with functions that are missed often.
var instead = map[string]string{
	"now": "write the date that you mean", "random": "answers stay the same, so there is no randomness; order by a column",
	"to_char":   "use strftime(date, '%Y-%m') or round()",
	"array_agg": "use string_agg(x, ',')", "generate_series": "put it into FROM", "unnest": "put it into FROM",
	"format":         "use concat() or ||",
	"regexp_matches": "use ~ or regexp_like()", "greatest": "write GREATEST(a, b)", "date_diff": "subtract the dates",
	"trim": "write TRIM(x)",
}

func (p *printer) call(f *pg.FuncCall) {
	name := p.called(f)
	known, ok := functions[name]
	if !ok {
		hint := instead[name]
		if hint == "" {
			hint = "the functions that can be used are those of PostgreSQL on numbers, texts and dates, its aggregates and its window " +
				"functions"
		}
		p.refuse(f.Location, hint, "the function %.60q is not available over released results", name)
		return
	}
	count := f.AggStar && name == "count" && len(f.Args) == 0
	switch {
	case f.FuncVariadic:
		p.refuse(f.Location, "write the arguments one by one", "VARIADIC takes an array")
	case f.AggStar && !count:
		p.refuse(f.Location, "write a column", "* is for COUNT(*)")
	case !count && (len(f.Args) < known.min || len(f.Args) > known.max):
		p.refuse(f.Location, "look up how it is called", "%s has %d arguments", name, len(f.Args))
	case known.role == scalar && !bare(f):
		p.refuse(f.Location, "leave OVER, FILTER, DISTINCT and ORDER BY out", "%s is not an aggregate", name)
	case known.role == window && (f.Over == nil || f.AggFilter != nil || f.AggDistinct || len(f.AggOrder) > 0 || f.AggWithinGroup):
		p.refuse(f.Location, "write "+name+"(...) OVER (ORDER BY ...), without FILTER and DISTINCT", "%s is a window function", name)
	case known.role == aggregate && f.AggWithinGroup:
		p.refuse(f.Location, "leave WITHIN GROUP out", "%s takes no WITHIN GROUP", name)
	case known.role == ordered && (!f.AggWithinGroup || len(f.AggOrder) != 1 || f.Over != nil || f.AggDistinct):
		p.refuse(f.Location, "write "+name+"(...) WITHIN GROUP (ORDER BY x)", "%s works on an order", name)
	}
	if p.refused != nil {
		return
	}
	if known.numeric {
		p.say("(")
	}
	if known.as != "" {
		name = known.as
	}
	p.formed(known.form, name, f)
	if known.numeric {
		p.say(" + CAST(0 AS DECIMAL(1, 0)))")
	}
}

func (p *printer) formed(how form, name string, f *pg.FuncCall) {
	switch how {
	case growing:
		p.grown(f)
	case replacing:
		p.replaced(f)
	case repeating:
		p.repeat(f)
	case padding:
		p.pad(f)
	case splitting:
		p.splitPart(f)
	case matching:
		p.match(f.Args[0], f.Args[1], false, false, f.Location)
	case gathering, tallying:
		p.gather(how, name, f)
	default:
		p.plainCall(name, f)
	}
}

// plainCall prints a call under a name that is ours.
func (p *printer) plainCall(name string, f *pg.FuncCall) {
	p.say(`"`, name, `"(`)
	if f.AggDistinct {
		p.say("DISTINCT ")
	}
	if f.AggStar {
		p.say("*")
	}
	list(p, f.Args, p.expr)
	if f.AggWithinGroup {
		p.say(")")
		p.withinGroup(f.AggOrder)
	} else {
		p.orderBy(f.AggOrder, " ORDER BY ", false)
		p.say(")")
	}
	if f.AggFilter != nil {
		p.say(" FILTER (WHERE ")
		p.expr(f.AggFilter)
		p.say(")")
	}
	if f.Over != nil {
		p.overClause(f.Over)
	}
}

// withinGroup prints the order of a percentile. NULLs are left out of it, so they have no place.
func (p *printer) withinGroup(order []*pg.Node) {
	s := order[0].GetSortBy()
	if s == nil || len(s.UseOp) > 0 {
		p.refuse(s.GetLocation(), "write ORDER BY x", "WITHIN GROUP has no order")
		return
	}
	p.say(" WITHIN GROUP (ORDER BY ")
	p.expr(s.Node)
	if s.SortbyDir == pg.SortByDir_SORTBY_DESC {
		p.say(" DESC")
	}
	p.say(")")
}
