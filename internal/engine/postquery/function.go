package postquery

import (
	"errors"
	"slices"
	"strconv"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/posix"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
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

// functionPrinter prints calls, and counts those that take memory outside of DuckDB's limit.
type functionPrinter struct {
	*output
	exprs    *exprPrinter
	growing  int
	gathered int // aggregates that keep all values
}

// hasArgumentsOnly says that a call has nothing but arguments.
func hasArgumentsOnly(f *pg.FuncCall) bool {
	return f != nil && f.Over == nil && f.AggFilter == nil && len(f.AggOrder) == 0 && !f.AggWithinGroup && !f.AggStar &&
		!f.AggDistinct && !f.FuncVariadic
}

// functionName returns the name of a function. The parser itself puts pg_catalog before what has a
// grammar of its own, such as EXTRACT, and so do tools before any.
func (p *functionPrinter) functionName(f *pg.FuncCall) string {
	switch {
	case len(f.Funcname) == 1:
		return stringOf(f.Funcname[0])
	case len(f.Funcname) == 2 && stringOf(f.Funcname[0]) == "pg_catalog":
		return stringOf(f.Funcname[1])
	}
	p.refuse(syntax.Unsupported, f.Location, "write only the function's name", "the function name has a schema")
	return ""
}

// functionHints helps with functions that are missed often.
var functionHints = map[string]string{
	"now": "write the date that you mean", "random": "answers must stay the same, so random() is not available; order by a column",
	"to_char":         "use strftime(date, '%Y-%m') or round()",
	"generate_series": "put it into FROM",
	"format":          "use concat() or ||",
	"regexp_matches":  "use ~ or regexp_like()", "greatest": "write GREATEST(a, b)", "date_diff": "subtract the dates",
	"trim": "write TRIM(x)",
}

func (p *functionPrinter) call(f *pg.FuncCall) class {
	name := p.functionName(f)
	known, ok := functions[name]
	if !ok {
		if known, ok := valueFunctions[name]; ok {
			return p.make(known, name, f)
		}
		hint := functionHints[name]
		if hint == "" {
			hint = "use PostgreSQL's functions on numbers, texts and dates, its aggregates and its window functions"
		}
		p.refuse(syntax.NoFunction, f.Location, hint, "the function %.60q is not available over released results", name)
		return ordinary
	}
	if handsOn[name] && len(f.Args) > 0 {
		return p.handOn(known, name, f)
	}
	p.checkCall(known, name, f)
	p.known(known, name, f)
	return ordinary
}

// checkCall refuses what a function cannot be called with.
func (p *functionPrinter) checkCall(known function, name string, f *pg.FuncCall) {
	count := f.AggStar && name == "count" && len(f.Args) == 0
	switch {
	case f.FuncVariadic:
		p.refuse(syntax.NoFunction, f.Location, "write the arguments one by one", "VARIADIC takes an array")
	case f.AggStar && !count:
		p.refuse(syntax.NoFunction, f.Location, "write a column", "* is for COUNT(*)")
	case !count && (len(f.Args) < known.min || len(f.Args) > known.max):
		p.refuse(syntax.NoFunction, f.Location, "check the function's arguments", "%s has %d arguments", name, len(f.Args))
	case known.role == scalar && !hasArgumentsOnly(f):
		p.refuse(syntax.NotAggregate, f.Location, "leave out OVER, FILTER, DISTINCT and ORDER BY", "%s is not an aggregate", name)
	case known.role == window && (f.Over == nil || f.AggFilter != nil || f.AggDistinct || len(f.AggOrder) > 0 || f.AggWithinGroup):
		p.refuse(syntax.NotAggregate, f.Location, "write "+name+"(...) OVER (ORDER BY ...), without FILTER and DISTINCT",
			"%s is a window function", name)
	case known.role == aggregate && f.AggWithinGroup:
		p.refuse(syntax.NotAggregate, f.Location, "leave out WITHIN GROUP", "%s takes no WITHIN GROUP", name)
	case known.role == ordered && (!f.AggWithinGroup || len(f.AggOrder) != 1 || f.Over != nil || f.AggDistinct):
		p.refuse(syntax.NotAggregate, f.Location, "write "+name+"(...) WITHIN GROUP (ORDER BY x)", "%s needs an order", name)
	}
}

// known prints a call that is right.
func (p *functionPrinter) known(known function, name string, f *pg.FuncCall) {
	if p.refused != nil {
		return
	}
	if known.numeric {
		p.write("(")
	}
	if known.as != "" {
		name = known.as
	}
	p.callInForm(known.form, name, f)
	if known.numeric {
		p.write(" + CAST(0 AS DECIMAL(1, 0)))")
	}
}

func (p *functionPrinter) callInForm(how form, name string, f *pg.FuncCall) {
	switch how {
	case growing:
		p.growingCall(f)
	case replacing:
		p.replaceCall(f)
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
func (p *functionPrinter) plainCall(name string, f *pg.FuncCall) {
	p.callOf(name, f, func() { printList(p.output, f.Args, p.exprs.expr) })
}

// callOf prints a call of arguments that are printed elsewhere.
func (p *functionPrinter) callOf(name string, f *pg.FuncCall, args func()) {
	p.write(`"`, name, `"(`)
	if f.AggDistinct {
		p.write("DISTINCT ")
	}
	if f.AggStar {
		p.write("*")
	}
	args()
	if f.AggWithinGroup {
		p.write(")")
		p.withinGroup(f.AggOrder)
	} else {
		p.exprs.orderBy(f.AggOrder, " ORDER BY ", false)
		p.write(")")
	}
	if f.AggFilter != nil {
		p.write(" FILTER (WHERE ")
		p.exprs.expr(f.AggFilter)
		p.write(")")
	}
	if f.Over != nil {
		p.exprs.overClause(f.Over)
	}
}

// withinGroup prints the order of a percentile. NULLs are left out of it, so they have no place.
func (p *functionPrinter) withinGroup(order []*pg.Node) {
	s := order[0].GetSortBy()
	if s == nil || len(s.UseOp) > 0 {
		p.refuse(syntax.Unsupported, s.GetLocation(), "write ORDER BY x", "WITHIN GROUP needs ORDER BY")
		return
	}
	p.write(" WITHIN GROUP (ORDER BY ")
	p.exprs.expr(s.Node)
	if s.SortbyDir == pg.SortByDir_SORTBY_DESC {
		p.write(" DESC")
	}
	p.write(")")
}

// gather prints an aggregate that keeps all values, or how often each is there, which DuckDB does
// outside of its limit of memory. Beside it a list is made of the same values, with as many bytes
// as these take at most, and that is counted: where it has no room, both end. In a window DuckDB
// keeps all rows itself first, and counts them.
func (p *functionPrinter) gather(how form, name string, f *pg.FuncCall) {
	if f.Over != nil {
		if how == tallying {
			p.refuse(syntax.Unsupported, f.Location, "use it with GROUP BY", "%s cannot be a window function", p.functionName(f))
			return
		}
		p.plainCall(name, f)
		return
	}
	p.gathered++ // no two lists are the same, of which DuckDB would make one
	p.write("CASE WHEN coalesce(len(list({'a': ")
	p.withCopies(2, func() {
		if f.AggWithinGroup {
			p.exprs.expr(f.AggOrder[0].GetSortBy().GetNode())
		} else {
			p.exprs.expr(f.Args[0])
		}
		if how == tallying {
			p.write(", 'c': 0::HUGEINT, 'd': 0::HUGEINT, 'e': 0::HUGEINT")
		}
		p.write(", 'b': ", strconv.Itoa(p.gathered), "::BIGINT})), 0) >= 0 THEN ")
		p.plainCall(name, f)
	})
	p.write(" END")
}

// DuckDB makes texts for 2048 rows at a time, outside of its memory limit. Each text here is at
// most a small multiple of MaxText before it is cut to MaxText, and there are at most maxGrowing of
// them in a statement.

// grow prints something that makes a text longer, and cuts it.
func (p *functionPrinter) grow(pos int32, print func()) {
	if p.growing++; p.growing > maxGrowing {
		p.refuse(syntax.TooComplex, pos, "build fewer texts in one statement", "more than %d expressions lengthen texts", maxGrowing)
		return
	}
	p.write(`"left"(`)
	print()
	p.write(", ", strconv.Itoa(MaxText), ")")
}

func (p *functionPrinter) growingCall(f *pg.FuncCall) {
	if f.Over != nil { // a text of all rows, for each row
		p.refuse(syntax.Unsupported, f.Location, "use it with GROUP BY", "%s cannot be a window function", p.functionName(f))
		return
	}
	p.grow(f.Location, func() { p.plainCall(p.functionName(f), f) })
}

// refuseLongText refuses an argument that is not a short text constant.
func (p *functionPrinter) refuseLongText(f *pg.FuncCall, n *pg.Node, most int) {
	c := n.GetAConst()
	if c.GetSval() == nil || utf8.RuneCountInString(c.GetSval().Sval) > most {
		p.refuse(syntax.Unsupported, f.Location, "write it as a constant in single quotes",
			"here %s takes a constant text of at most %d characters", p.functionName(f), most)
		return
	}
}

func (p *functionPrinter) replaceCall(f *pg.FuncCall) {
	p.refuseLongText(f, f.Args[2], maxPadding)
	if len(f.Args) == 4 {
		p.refuseLongText(f, f.Args[3], 2)
	}
	p.growingCall(f)
}

// repeat takes one character, so that what it makes is as long as its count.
func (p *functionPrinter) repeat(f *pg.FuncCall) {
	p.refuseLongText(f, f.Args[0], 1)
	p.grow(f.Location, func() {
		p.write("repeat(")
		p.exprs.expr(f.Args[0])
		p.write(", ")
		p.cappedLength(f.Args[1])
		p.write(")")
	})
}

// pad is lpad and rpad. PostgreSQL fills with spaces.
func (p *functionPrinter) pad(f *pg.FuncCall) {
	p.grow(f.Location, func() {
		p.write(p.functionName(f), "(")
		p.exprs.expr(f.Args[0])
		p.write(", ")
		p.cappedLength(f.Args[1])
		p.write(", ")
		if len(f.Args) == 3 {
			p.exprs.expr(f.Args[2])
		} else {
			p.write("' '")
		}
		p.write(")")
	})
}

// cappedLength prints a length that is not above MaxText.
func (p *functionPrinter) cappedLength(n *pg.Node) {
	p.write("CAST(least(")
	p.exprs.expr(n)
	p.write(", ", strconv.Itoa(MaxText), ") AS INTEGER)")
}

// splitPart is a macro in DuckDB, which writes its arguments several times.
func (p *functionPrinter) splitPart(f *pg.FuncCall) {
	p.withCopies(4, func() { p.plainCall("split_part", f) })
}

// match prints a match of a regular expression. A constant is read as below the noise, and means
// the same; anything else is RE2's.
func (p *functionPrinter) match(x, pattern *pg.Node, fold, not bool, pos int32) {
	before, after := "regexp_matches(", ")"
	if not {
		before, after = "(NOT regexp_matches(", "))"
	}
	p.write(before)
	p.exprs.expr(x)
	p.write(", ")
	switch c := pattern.GetAConst(); {
	case c != nil && !c.Isnull && c.GetSval() != nil:
		p.pattern(func() (string, error) { return posix.Translate(c.GetSval().GetSval(), fold) }, pos)
	case fold:
		p.exprs.expr(pattern)
		p.write(", 'i'")
	default:
		p.exprs.expr(pattern)
	}
	p.write(after)
}

// similar prints SIMILAR TO, whose pattern is a constant.
func (p *operatorPrinter) similar(e *pg.A_Expr) {
	pattern, escape := e.Rexpr, '\\'
	if f := pattern.GetFuncCall(); f != nil && len(f.Funcname) == 2 && stringOf(f.Funcname[1]) == "similar_to_escape" && len(f.Args) > 0 {
		pattern = f.Args[0]
		if len(f.Args) == 2 {
			runes := []rune(f.Args[1].GetAConst().GetSval().GetSval())
			if len(runes) != 1 {
				p.refuse(syntax.BadEscape, e.Location, "write ESCAPE '!' or another character",
					"the escape of SIMILAR TO is not one character")
				return
			}
			escape = runes[0]
		}
	}
	c := pattern.GetAConst().GetSval()
	if c == nil {
		p.refuse(syntax.Unsupported, e.Location, "write the pattern in single quotes, or use LIKE",
			"the pattern of SIMILAR TO is a constant")
		return
	}
	p.write("(")
	if p.operator(e.Name, e.Location) == "!~" {
		p.write("NOT ")
	}
	p.write("regexp_matches(")
	p.exprs.expr(e.Lexpr)
	p.write(", ")
	p.functions.pattern(func() (string, error) { return posix.Similar(c.Sval, escape) }, e.Location)
	p.write("))")
}

// pattern prints a pattern that was read, in signs that are ours.
func (p *functionPrinter) pattern(read func() (string, error), pos int32) {
	written, err := read()
	if e := (*posix.Error)(nil); errors.As(err, &e) {
		p.refuse(syntax.BadPattern, pos, e.Instead, "%s", e.Reason)
		return
	}
	p.write("'", written, "'")
}

// byteCollations are the collations in which texts compare by their bytes, as all texts do here.
var byteCollations = []string{"C", "POSIX", "ucs_basic", "C.UTF-8", "C.utf8", "pg_c_utf8", "default"}

func (p *exprPrinter) collate(c *pg.CollateClause) {
	if len(c.Collname) == 0 || !slices.Contains(byteCollations, stringOf(c.Collname[len(c.Collname)-1])) {
		p.refuse(syntax.Unsupported, c.Location, `leave it out, or write COLLATE "C"`,
			"texts are compared by their bytes here, and there are no other "+
				"collations")
		return
	}
	p.expr(c.Arg)
}
