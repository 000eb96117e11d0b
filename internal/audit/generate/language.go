package generate

// kind is what an expression is, as far as the maker cares.
type kind byte

const (
	whole1  kind = 'w' // a whole number with bounds
	number  kind = 'n' // a number with bounds
	wide    kind = 'N' // a number without
	float   kind = 'r'
	words   kind = 't'
	truth   kind = 'b'
	date    kind = 'd'
	moment  kind = 'm' // a timestamp
	nothing kind = '-'
)

// fits reports whether an expression of one kind can stand where another is asked for.
func (k kind) fits(want kind) bool {
	switch want {
	case number:
		return k == number || k == whole1
	case wide:
		return k == number || k == whole1 || k == wide
	}
	return k == want
}

// function is a line of the language: what it makes, of what, and how it is written.
type function struct {
	makes kind
	of    string // the kinds of its arguments
	text  string // with %s for each
}

// functions are all expressions that questions are made of. What the planner does not take is left
// out.
var functions = []function{
	{truth, "NN", "%s = %s"}, {truth, "NN", "%s <> %s"}, {truth, "NN", "%s < %s"}, {truth, "NN", "%s >= %s"},
	{truth, "tt", "%s = %s"}, {truth, "tt", "%s < %s"}, {truth, "dd", "%s <= %s"}, {truth, "rN", "%s > %s"},
	{truth, "NNN", "%s BETWEEN %s AND %s"}, {truth, "NNN", "%s NOT BETWEEN %s AND %s"},
	{truth, "N", "%s = ANY (ARRAY[0, 1, 3])"}, {truth, "t", "%s <> ALL (ARRAY['a', 'F'])"}, {truth, "N", "%s >= ALL (ARRAY[0, 2])"},
	{truth, "N", "%s IN (0, NULL, 2)"}, {truth, "t", "%s NOT IN ('a', NULL)"},
	{truth, "N", "%s IN (0, 1, 3)"}, {truth, "t", "%s NOT IN ('a', 'F')"}, {truth, "d", "%s IN ('2022-01-08', '2022-01-10')"},
	{truth, "N", "%s IS NULL"}, {truth, "t", "%s IS NOT NULL"}, {truth, "b", "%s IS NULL"}, {truth, "d", "%s IS NULL"},
	{truth, "r", "%s IS NULL"},
	{truth, "bb", "(%s AND %s)"}, {truth, "bb", "(%s OR %s)"}, {truth, "b", "NOT (%s)"},
	{truth, "b", "(%s) IS TRUE"}, {truth, "b", "(%s) IS NOT FALSE"}, {truth, "b", "(%s) IS UNKNOWN"},
	{truth, "NN", "%s IS DISTINCT FROM %s"}, {truth, "tt", "%s IS NOT DISTINCT FROM %s"},
	{truth, "t", "%s LIKE 'a%%'"}, {truth, "t", "%s ILIKE '_F'"}, {truth, "t", "starts_with(%s, 'p')"},
	{truth, "t", "%s ~ '^[a-f]|F$'"}, {truth, "t", "%s !~* 'P'"}, {truth, "t", "%s SIMILAR TO '(a|F)%%'"},
	{truth, "t", "regexp_like(%s, '\\w{2,}', 'i')"},
	{truth, "bbb", "CASE WHEN %s THEN %s ELSE %s END"}, {truth, "bb", "coalesce(%s, %s)"},
	{whole1, "ww", "(%s + %s)"}, {whole1, "ww", "(%s - %s)"}, {whole1, "w", "(%s * 3)"}, {whole1, "w", "(- %s)"},
	{whole1, "ww", "(%s * %s)"},
	{whole1, "w", "(%s / 2)"}, {whole1, "ww", "(%s / %s)"}, {whole1, "w", "(%s %% 3)"}, {whole1, "ww", "(%s %% %s)"},
	{number, "nn", "(%s + %s)"}, {number, "n", "(%s - 0.25)"}, {number, "nn", "(%s * %s)"},
	{number, "bnn", "CASE WHEN %s THEN %s ELSE %s END"}, {number, "bn", "CASE WHEN %s THEN %s END"},
	{whole1, "w", "CASE %s WHEN 1 THEN 5 WHEN 2 THEN 7 ELSE 0 END"},
	{number, "nn", "coalesce(%s, %s)"}, {number, "nn", "nullif(%s, %s)"}, {number, "nn", "greatest(%s, %s)"},
	{number, "nn", "least(%s, %s)"},
	{number, "n", "abs(%s)"}, {whole1, "n", "sign(%s)"}, {whole1, "n", "round(%s)"}, {whole1, "n", "floor(%s)"}, {whole1, "n", "ceil(%s)"},
	{number, "n", "round(%s, 1)"},
	{whole1, "n", "width_bucket(%s, 0, 10, 5)"}, {whole1, "N", "width_bucket(%s, ARRAY[0, 2.5, 7])"},
	{whole1, "w", "mod(%s, 3)"}, {whole1, "w", "div(%s, 2)"}, {number, "n", "trunc(%s)"},
	{whole1, "n", "CAST(%s AS INTEGER)"}, {whole1, "b", "CAST(%s AS INTEGER)"}, {number, "n", "CAST(%s AS NUMERIC(10, 1))"},
	{float, "nn", "(%s / %s)"}, {float, "n", "(%s / 2.5)"}, {float, "n", "sqrt(%s)"}, {float, "n", "ln(%s)"}, {float, "n", "exp(%s)"},
	{float, "nn", "power(%s, %s)"},
	{words, "btt", "CASE WHEN %s THEN %s ELSE %s END"}, {words, "tt", "coalesce(%s, %s)"}, {words, "tt", "nullif(%s, %s)"},
	{words, "t", "lower(%s)"}, {words, "t", "upper(%s)"}, {words, "t", "trim(%s)"}, {words, "t", "substring(%s, 1, 1)"},
	{words, "t", "left(%s, 1)"}, {words, "t", "right(%s, 1)"},
	{words, "tt", "(%s || %s)"}, {words, "tt", "concat(%s, %s)"}, {words, "t", "replace(%s, 'a', 'b')"}, {words, "t", "reverse(%s)"},
	{words, "t", "split_part(%s, 'a', 1)"}, {words, "t", "lpad(%s, 3, 'xy')"}, {words, "tt", "concat_ws('-', left(%s, 5), left(%s, 5))"},
	{words, "w", "CAST(%s AS TEXT)"},
	{whole1, "t", "length(%s)"}, {whole1, "t", "position('a' IN %s)"},
	{date, "d", "(%s + 1)"}, {date, "d", "date_trunc('month', %s)"}, {date, "bdd", "CASE WHEN %s THEN %s ELSE %s END"},
	{date, "dd", "coalesce(%s, %s)"}, {date, "dd", "greatest(%s, %s)"},
	{whole1, "d", "extract(year FROM %s)"}, {whole1, "d", "extract(dow FROM %s)"}, {whole1, "d", "date_part('month', %s)"},
	{whole1, "dd", "(%s - %s)"},
	{whole1, "d", "extract(century FROM %s)"}, {words, "d", "to_char(%s, 'YYYY-MM')"}, {whole1, "dd", "extract(year FROM age(%s, %s))"},
	{truth, "mm", "%s < %s"}, {truth, "m", "%s >= '2022-01-09 10:00:00'"}, {truth, "m", "%s IS NULL"}, {truth, "md", "%s > %s"},
	{date, "m", "CAST(%s AS date)"}, {moment, "d", "CAST(%s AS timestamp)"}, {moment, "m", "date_trunc('hour', %s)"},
	{moment, "m", "date_bin('6 hours', %s, '2022-01-01 01:00:00')"}, {moment, "m", "(%s + INTERVAL '90 minutes')"},
	{moment, "mm", "coalesce(%s, %s)"}, {whole1, "m", "extract(hour FROM %s)"}, {number, "m", "extract(second FROM %s)"},
	{number, "mm", "extract(epoch FROM %s - %s)"}, {words, "m", "to_char(%s, 'YYYY-MM-DD HH24:MI:SS.US')"},
	{truth, "m", "%s > now() - INTERVAL '36 hours'"}, {truth, "d", "%s < CURRENT_DATE"}, {whole1, "d", "(CURRENT_DATE - %s)"},
	{whole1, "d", "extract(year FROM age(%s))"}, {number, "m", "extract(epoch FROM now() - %s)"},
}

// aggregates are all statistics; the kind of what they are of is nothing for COUNT(*), and 'i'
// stands for the unit.
var aggregates = []struct {
	of   kind
	text string
}{
	{nothing, "COUNT(*)"}, {nothing, "COUNT(1)"}, {wide, "COUNT(%s)"}, {words, "COUNT(%s)"}, {truth, "COUNT(%s)"}, {date, "COUNT(%s)"},
	{number, "SUM(%s)"}, {number, "SUM(%s)"}, {number, "AVG(%s)"}, {number, "SUM(CAST(%s AS double precision))"},
	{number, "AVG((%s)::float * 2 / 5)"}, {number, "VARIANCE(%s)"}, {number, "STDDEV_POP(%s)"},
	{whole1, "COUNT(DISTINCT %s)"}, {words, "COUNT(DISTINCT %s)"}, {date, "COUNT(DISTINCT %s)"}, {moment, "COUNT(DISTINCT %s)"},
	{moment, "COUNT(%s)"}, {moment, "MIN(%s)"}, {moment, "MEDIAN(%s)"}, {'i', "COUNT(DISTINCT %s)"},
	{'i', "COUNT(%s)"},
	{number, "MEDIAN(%s)"}, {number, "MIN(%s)"}, {number, "MAX(%s)"}, {date, "MAX(%s)"},
	{number, "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY %s)"}, {whole1, "PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY %s DESC)"},
}
