package generate

import (
	"strings"

	"pgregory.net/rapid"
)

// grammar draws expressions of every kind. Some are refused, which is the planner's right.
type grammar struct{ *rapid.T }

func (g grammar) pick(from ...string) string { return rapid.SampledFrom(from).Draw(g.T, "pick") }

func (g grammar) number(depth int) string {
	if depth <= 0 {
		return g.pick("i", "n", "j", "g", "d", "e", "i", "d", "0", "1", "-7", "2.25", "0.005", "NULL", "9223372036854775807")
	}
	n := func() string { return g.number(depth - 1) }
	switch rapid.IntRange(0, 24).Draw(g.T, "number") {
	case 0, 1:
		return "(" + n() + g.pick(" + ", " - ", " * ", " / ", " % ") + n() + ")"
	case 2:
		return g.pick("abs", "sign", "-") + "(" + n() + ")"
	case 3, 4:
		return g.pick("round", "trunc") + "(" + g.pick(n(), g.real(depth-1)) + ", " + g.pick("-2", "-1", "0", "1", "2", "5") + ")"
	case 5:
		return g.pick("round", "floor", "ceil", "trunc", "ceiling") + "(" + g.pick(n(), g.real(depth-1)) + ")"
	case 6:
		return "mod(" + g.pick("i", "j", "n", "g") + ", " + g.pick("i", "3", "-2", "j", "0") + ")"
	case 7:
		return g.any(depth, g.number)
	case 8:
		return "length(" + g.text(depth-1) + ")"
	case 9:
		return g.pick("strpos("+g.text(depth-1)+", "+g.pick("'a'", "'é'", "'.'")+")", "position('b' in "+g.text(depth-1)+")")
	case 10, 11:
		return "extract(" + g.pick("year", "quarter", "month", "week", "day", "dow", "isodow", "doy", "isoyear", "epoch") + " from " +
			g.pick(g.date(depth-1), g.stamp(depth-1)) + ")"
	case 12:
		return "date_part(" + g.pick("'hour'", "'minute'", "'second'", "'epoch'") + ", " + g.stamp(depth-1) + ")"
	case 13:
		return "(" + g.date(depth-1) + " - " + g.date(depth-1) + ")"
	case 14, 15:
		return "CAST(" + g.pick(n(), g.real(depth-1), g.text(depth-1)) + " AS " +
			g.pick("smallint", "integer", "bigint", "numeric(4,1)", "numeric(12,4)", "numeric(20,3)") + ")"
	case 16:
		return "CAST(" + g.condition(depth-1) + " AS integer)"
	case 17:
		return "width_bucket(" + n() + ", " + g.pick("0, 10, 5", "-2, 20, 7", "-0.5, 0.5, 3", "ARRAY[-1, 0, 2.5]", "ARRAY[1]") + ")"
	case 18:
		return "extract(" + g.pick("decade", "century", "millennium", "julian") + " from " + g.date(depth-1) + ")"
	case 19:
		return "extract(" + g.pick("decade", "century", "milliseconds", "microseconds", "epoch") + " from " + g.stamp(depth-1) + ")"
	case 20:
		return "date_diff(" + g.pick("'day'", "'month'", "'year'", "'hour'") + ", " + g.stamp(depth-1) + ", " + g.stamp(depth-1) + ")"
	case 21:
		return g.pick("extract(year from age("+g.stamp(depth-1)+", "+g.stamp(depth-1)+"))", "extract(epoch from ("+g.stamp(depth-1)+" - "+
			g.stamp(depth-1)+"))")
	}
	return n()
}

func (g grammar) real(depth int) string {
	if depth <= 0 {
		return g.pick("r", "i / 2.0", "d / 3", "e / j", "CAST(d AS float8)")
	}
	x := g.pick(g.number(depth-1), g.real(depth-1))
	switch rapid.IntRange(0, 5).Draw(g.T, "real") {
	case 0:
		return "sqrt(" + x + ")"
	case 1:
		return "abs(" + g.real(depth-1) + ")"
	case 2:
		return g.any(depth, g.real)
	case 3:
		return "(" + g.real(depth-1) + g.pick(" + ", " - ", " * ", " / ") + x + ")"
	case 4:
		return "(" + g.number(depth-1) + " / (0.5 + " + g.number(depth-1) + "))"
	}
	return g.real(depth - 1)
}

func (g grammar) text(depth int) string {
	if depth <= 0 {
		return g.pick("s", "x", "x", "x", "'a'", "'12'", "''", "NULL")
	}
	s := func() string { return g.text(depth - 1) }
	switch rapid.IntRange(0, 17).Draw(g.T, "text") {
	case 0:
		return g.pick("lower", "upper") + "(" + s() + ")"
	case 1:
		return g.pick("trim", "ltrim", "rtrim", "btrim") + "(" + s() + ")"
	case 2:
		return "trim(" + g.pick("both", "leading", "trailing") + " 'ab é1' from " + s() + ")"
	case 3:
		return "substring(" + s() + ", " + g.pick("1", "2", "0", "-3", "100") + g.pick("", ", 0", ", 1", ", 4", ", 1000") + ")"
	case 4:
		return g.pick("left", "right") + "(" + s() + ", " + g.pick("0", "1", "3", "200") + ")"
	case 5:
		return "(left(" + s() + ", 5) || right(" + s() + ", 2))"
	case 6:
		return "concat(left(" + s() + ", 5), 'x', right(" + s() + ", 2))"
	case 7, 8:
		return "CAST(" + g.pick(g.number(depth-1), g.date(depth-1), g.stamp(depth-1), g.condition(depth-1)) + " AS text)"
	case 9:
		return g.any(depth, g.text)
	case 10:
		return "split_part(" + s() + ", " + g.pick("'a'", "'é'", "'aa'", "' '", "'.'") + ", " + g.pick("1", "2", "3", "1000") + ")"
	case 11:
		return "replace(" + s() + ", " + g.pick("'a', ''", "'aa', 'a'", "'é', 'e'", "' ', '.'") + ")"
	case 12:
		return "concat_ws(" + g.pick("'-'", "''", "'é'") + ", left(" + s() + ", 5), right(" + s() + ", 2))"
	case 13:
		return g.pick("lpad", "rpad") + "(" + s() + ", " + g.pick("1", "3", "20") + g.pick("", ", 'é1'", ", '0'") + ")"
	case 14:
		return "to_char(" + g.pick(g.date(depth-1), g.stamp(depth-1)) + ", " + g.pick("'YYYY-MM'", "'YYYY-MM-DD HH24:MI:SS'", "'Mon DD'",
			"'IYYY-IW'", "'HH24'", "'Day'", "'Q'", "'MS US'", "'YY'") + ")"
	}
	return s()
}

func (g grammar) date(depth int) string {
	if depth <= 0 {
		return g.pick("y", "z", "z", "DATE '2024-01-31'", "DATE '2023-12-31'")
	}
	switch rapid.IntRange(0, 6).Draw(g.T, "date") {
	case 0, 1:
		return "(" + g.date(depth-1) + g.pick(" + ", " - ") + g.pick("1", "400", "i", "j", "5000000", "n * 366") + ")"
	case 2:
		return "date_trunc(" + g.pick("'year'", "'quarter'", "'month'", "'week'", "'day'") + ", " + g.date(depth-1) + ")"
	case 3:
		return "CAST(" + g.pick(g.stamp(depth-1), g.text(depth-1)) + " AS date)"
	case 4:
		return g.any(depth, g.date)
	}
	return g.date(depth - 1)
}

func (g grammar) stamp(depth int) string {
	if depth <= 0 {
		return g.pick("m", "q", "q", "TIMESTAMP '2024-01-31 23:30:00'")
	}
	switch rapid.IntRange(0, 8).Draw(g.T, "stamp") {
	case 0, 1:
		return "(" + g.pick(g.stamp(depth-1), g.date(depth-1)) + g.pick(" + ", " - ") + "INTERVAL " +
			g.pick("'1 month'", "'13 months 2 days'", "'1 year'", "'-1 day'", "'90 minutes'", "'1' MONTH", "'9000 years'",
				"'1 day -0.5 seconds'", "'100 weeks'") + ")"
	case 2:
		return "date_trunc(" + g.pick("'year'", "'quarter'", "'month'", "'week'", "'day'", "'hour'", "'minute'", "'second'") + ", " +
			g.stamp(depth-1) + ")"
	case 3:
		return "CAST(" + g.pick(g.date(depth-1), g.text(depth-1)) + " AS timestamp)"
	case 4:
		return g.any(depth, g.stamp)
	case 5:
		return "date_bin(INTERVAL " + g.pick("'7 days'", "'36 hours'", "'1.5 seconds'", "'1 microsecond'") + ", " + g.stamp(depth-1) +
			", " + g.pick("'1999-12-25 10:00:00'", "'0001-01-01'", "'9999-12-31 23:59:59.999999'") + ")"
	case 6:
		return g.pick("to_timestamp("+g.number(depth-1)+")", "("+g.stamp(depth-1)+" + "+g.number(depth-1)+" * INTERVAL '1 day')",
			"("+g.stamp(depth-1)+" + make_interval(days => "+g.number(depth-1)+"))",
			"date_trunc("+g.pick("'decade'", "'century'", "'millennium'", "'milliseconds'")+", "+g.stamp(depth-1)+")")
	}
	return g.stamp(depth - 1)
}

func (g grammar) any(depth int, of func(int) string) string {
	a, b, c := of(depth-1), of(depth-1), of(depth-1)
	return g.pick("coalesce("+a+", "+b+")", "nullif("+a+", "+b+")", "greatest("+a+", "+b+", "+c+")", "least("+a+", "+b+")",
		"CASE WHEN "+g.condition(depth-1)+" THEN "+a+" WHEN "+g.condition(depth-1)+" THEN "+b+" ELSE "+c+" END",
		"CASE "+a+" WHEN "+b+" THEN "+c+" END")
}

var patterns = []string{"", "%", "a", "a%", "%a", "%a%", "_", "__", "_%", "%_", "a_b%", "%b_c", "%a%b%", "a\\%b\\_c", "%\\\\%", "%é%",
	"İ", "A%", "%.%", "%a_%_b%", "_é%", "%X%X%", "1_", "%\u0301"}

// regexps are regular expressions that matchers could read differently.
var regexps = []string{"", "^$", "a", ".", "^.$", "[^a]", "[^a-z]$", "\\yb", "\\Ya", "\\ma\\M", "\\W", "\\s",
	"k", "[k-s]", "İ|ı", "ß", "(a|)*$", "a{0}", "a{2,}", "()", "\\0",
	"[[:punct:]]", "[\\u0080-\\U0010FFFF]", "\\n", "^a|b$", "[^\\d]", "\\D", "[\\w.]", "\\A\\Z", "$^", "[^\\u0001-\\uffff]", ".\\Y", "\\y"}

func (g grammar) condition(depth int) string {
	if depth <= 0 {
		return g.pick("b", "i > 2", "s = 'a'", "x IS NULL", "true", "NULL")
	}
	c := func() string { return g.condition(depth - 1) }
	pair := func() (string, string) {
		of := rapid.SampledFrom([]func(int) string{g.number, g.number, g.real, g.text, g.date, g.stamp, g.condition}).Draw(g.T, "kind")
		return "(" + of(depth-1) + ")", "(" + of(depth-1) + ")"
	}
	switch rapid.IntRange(0, 12).Draw(g.T, "condition") {
	case 0, 1:
		a, b := pair()
		return "(" + a + g.pick(" = ", " <> ", " < ", " <= ", " > ", " >= ", " IS DISTINCT FROM ", " IS NOT DISTINCT FROM ") + b + ")"
	case 2:
		a, b := pair()
		return "(" + a + g.pick(" IN (", " NOT IN (") + b + ", " + a + "))"
	case 3:
		return "(" + g.number(depth-1) + g.pick(" BETWEEN ", " NOT BETWEEN ") + g.number(depth-1) + " AND " + g.number(depth-1) + ")"
	case 4, 5:
		return "(" + g.text(depth-1) + g.pick(" LIKE ", " NOT LIKE ", " ILIKE ", " NOT ILIKE ") +
			quoteText(g.pick(patterns...)) + ")"
	case 6:
		return "(" + c() + g.pick(" IS TRUE", " IS NOT TRUE", " IS FALSE", " IS NOT FALSE", " IS UNKNOWN", " IS NOT UNKNOWN",
			" IS NULL") + ")"
	case 7:
		return g.pick("CAST("+g.text(depth-1)+" AS boolean)", "CAST(i AS boolean)", "starts_with("+g.text(depth-1)+", 'a')",
			g.any(depth, g.condition))
	case 8:
		return "(" + c() + g.pick(" AND ", " OR ") + c() + ")"
	case 10, 11:
		return "(" + g.text(depth-1) + g.pick(" ~ ", " ~* ", " !~ ", " !~* ") + quoteText(g.pick(regexps...)) + ")"
	case 12:
		return "(" + g.text(depth-1) + g.pick(" SIMILAR TO ", " NOT SIMILAR TO ") +
			quoteText(g.pick("", "%", "a|b", "_", "(a|1)+%", "%[^a]", "[a-z]*", "%\u00e9%")) + ")"
	}
	return "(NOT " + c() + ")"
}

func DrawAny(t *rapid.T, depth int) string {
	g := grammar{t}
	return rapid.SampledFrom([]func(int) string{g.number, g.number, g.text, g.date, g.stamp, g.condition, g.real}).Draw(t, "kind")(depth)
}

func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func DrawNumber(t *rapid.T, depth int) string { return grammar{t}.number(depth) }

func DrawCondition(t *rapid.T, depth int) string { return grammar{t}.condition(depth) }
