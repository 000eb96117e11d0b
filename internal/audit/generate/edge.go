package generate

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
)

// Target is the text that one person of a [Pair] has and nobody else.
const Target = "Zz9"

// edges are further lines of the language, for a Maker that is sharp. What stands in braces is
// drawn anew each time: {c} a constant of any size, {i} a whole one, {n} a small one from 0 on, {k}
// digits, {s} a text, {d} a day, {p} a pattern of LIKE, {r} a regular expression, {q} one of
// SIMILAR TO.
var edges = []function{
	{truth, "N", "%s = {c}"}, {truth, "N", "%s > {c}"}, {truth, "N", "{c} <= %s"}, {truth, "N", "%s IN ({c}, {c}, {i})"},
	{truth, "N", "%s BETWEEN {c} AND {c}"},
	{truth, "N", "%s = ANY (ARRAY[{c}, {i}])"}, {truth, "N", "%s <> ALL (ARRAY[{c}, {c}])"}, {truth, "N", "%s > ANY (ARRAY[{c}, {i}])"},
	{truth, "t", "%s = ANY (ARRAY[{s}, {s}]::text[])"}, {truth, "t", "%s LIKE ANY (ARRAY[{p}, {p}])"},
	{truth, "t", "%s = {s}"}, {truth, "t", "%s < {s}"}, {truth, "t", "%s IN ({s}, {s})"}, {truth, "t", "%s LIKE {p}"},
	{truth, "t", "%s ILIKE {p}"}, {truth, "t", "starts_with(%s, {s})"},
	{truth, "t", "%s ~ {r}"}, {truth, "t", "%s !~* {r}"}, {truth, "t", "regexp_like(%s, {r}, 'i')"}, {truth, "t", "%s SIMILAR TO {q}"},
	{truth, "d", "%s = {d}"}, {truth, "d", "%s < {d}"}, {truth, "m", "%s > {d}"}, {truth, "mm", "%s <= %s"}, {truth, "r", "%s < {c}"},
	{truth, "rr", "%s = %s"},
	{truth, "N", "CAST(%s AS boolean)"}, {truth, "t", "CAST(%s AS boolean)"}, {truth, "t", "%s IS NULL"}, {truth, "m", "%s IS NOT NULL"},
	{truth, "NN", "%s IN (%s)"}, {truth, "tt", "%s IN (%s, {s})"}, {truth, "NNN", "%s IN (%s, %s)"},
	{number, "n", "(%s * {c})"}, {number, "n", "({c} * %s)"}, {number, "n", "(%s * {c} * {c})"}, {number, "n", "(%s + {c})"},
	{number, "n", "({c} - %s)"},
	{number, "n", "greatest(%s, {c})"}, {number, "n", "least(%s, {c})"}, {number, "n", "least({c}, greatest({c}, %s))"},
	{number, "N", "greatest({i}, least({i}, %s))"},
	{number, "n", "coalesce(%s, {c})"}, {number, "n", "nullif(%s, {c})"}, {number, "b", "CASE WHEN %s THEN {c} ELSE {c} END"},
	{number, "bn", "CASE WHEN %s THEN {c} ELSE %s END"},
	{number, "n", "round(%s, {k})"}, {number, "n", "trunc(%s, {k})"}, {number, "r", "round(%s, {k})"}, {number, "r", "trunc(%s, {k})"},
	{whole1, "r", "floor(%s)"}, {whole1, "r", "ceil(%s)"},
	{number, "n", "CAST(%s AS numeric(18, {n}))"}, {number, "r", "CAST(%s AS numeric(30, 12))"},
	{number, "t", "CAST(%s AS numeric(20, 8))"}, {whole1, "n", "CAST(%s AS smallint)"},
	{wide, "n", "CAST(%s AS bigint)"}, {wide, "t", "CAST(%s AS bigint)"}, {wide, "r", "CAST(%s AS bigint)"},
	{whole1, "b", "CAST(%s AS bigint)"},
	{wide, "N", "(%s * {c})"}, {wide, "NN", "(%s * %s)"}, {wide, "NN", "(%s - %s)"}, {wide, "N", "(- %s)"}, {wide, "N", "abs(%s)"},
	{wide, "N", "(%s + {c})"}, {wide, "N", "round(%s, {k})"}, {wide, "N", "(%s / {i})"},
	{whole1, "w", "(%s %% {i})"}, {whole1, "w", "(%s / {i})"}, {whole1, "N", "(%s %% {i})"},
	{whole1, "N", "width_bucket(%s, {c}, {c}, {n})"}, {whole1, "n", "width_bucket(%s, 0, {c}, {i})"}, {whole1, "N", "sign(%s)"},
	{whole1, "w", "CASE %s WHEN {i} THEN {i} WHEN {n} THEN {i} ELSE {n} END"}, {whole1, "t", "strpos(%s, {s})"},
	{whole1, "t", "length(left(%s, {n}))"},
	{whole1, "d", "extract(epoch FROM %s)"}, {whole1, "m", "extract(epoch FROM %s)"}, {number, "m", "extract(second FROM %s)"},
	{whole1, "d", "extract(week FROM %s)"}, {whole1, "d", "extract(doy FROM %s)"}, {whole1, "m", "extract(hour FROM %s)"},
	{whole1, "d", "(%s - {d})"},
	{float, "n", "(%s / {c})"}, {float, "nn", "(%s / nullif(%s, {c}))"}, {float, "r", "(%s * {c})"}, {float, "rr", "(%s + %s)"},
	{float, "r", "abs(%s)"}, {float, "r", "sqrt(%s)"}, {float, "n", "power(%s, {n})"}, {float, "n", "power(%s, 0.5)"},
	{float, "r", "ln(%s)"}, {float, "n", "log10(%s)"},
	{float, "n", "CAST(%s AS double precision)"}, {float, "brr", "CASE WHEN %s THEN %s ELSE %s END"}, {float, "rr", "greatest(%s, %s)"},
	{float, "r", "exp(%s)"},
	{words, "n", "CAST(%s AS text)"}, {words, "N", "CAST(%s AS text)"}, {words, "b", "CAST(%s AS text)"}, {words, "d", "CAST(%s AS text)"},
	{words, "m", "CAST(%s AS text)"}, {words, "n", "CAST(%s AS varchar({n}))"},
	{words, "t", "left(%s, {n})"}, {words, "t", "right(%s, {n})"}, {words, "t", "substring(%s, {n}, {n})"}, {words, "t", "btrim(%s, {s})"},
	{words, "t", "({s} || left(%s, {n}))"}, {words, "tt", "concat(left(%s, {n}), left(%s, {n}))"},
	{words, "nn", "(CAST(%s AS text) || CAST(%s AS text))"},
	{words, "b", "CASE WHEN %s THEN {s} ELSE {s} END"}, {words, "bt", "CASE WHEN %s THEN {s} ELSE %s END"},
	{words, "t", "split_part(%s, {s}, {n})"}, {words, "t", "replace(%s, {s}, {s})"}, {words, "t", "rpad(%s, {n}, {s})"},
	{words, "t", "lpad(%s, {n})"}, {words, "tt", "concat_ws({s}, left(%s, {n}), left(%s, {n}))"},
	{words, "tt", "greatest(%s, %s)"}, {words, "t", "least(%s, {s})"},
	{date, "d", "(%s + {i})"}, {date, "d", "(%s - {n})"}, {date, "dw", "(%s + %s)"}, {date, "t", "CAST(%s AS date)"},
	{date, "m", "CAST(%s AS date)"}, {date, "d", "least(%s, {d})"}, {date, "b", "CASE WHEN %s THEN {d} ELSE {d} END"},
	{date, "d", "date_trunc('week', %s)"},
	{moment, "d", "(%s + INTERVAL '{n} months')"}, {moment, "d", "(%s - INTERVAL '{n} days 1.5 seconds')"},
	{moment, "m", "(%s + INTERVAL '{n} hours')"}, {moment, "d", "CAST(%s AS timestamp)"}, {moment, "t", "CAST(%s AS timestamp)"},
	{moment, "m", "date_trunc('minute', %s)"}, {moment, "m", "date_trunc('quarter', %s)"},
	{moment, "m", "date_trunc('milliseconds', %s)"}, {moment, "m", "date_trunc('millennium', %s)"}, {date, "d", "date_trunc('decade', %s)"},
	{date, "d", "date_trunc('century', %s)"}, {moment, "m", "date_bin('{n} days 1.5 seconds', %s, {d})"}, {moment, "N", "to_timestamp(%s)"},
	{moment, "r", "to_timestamp(%s)"}, {moment, "mN", "(%s + INTERVAL '{n} minutes' * %s)"}, {moment, "dn", "(%s - %s * INTERVAL '1 day')"},
	{whole1, "m", "extract(decade FROM %s)"}, {number, "m", "extract(milliseconds FROM %s)"}, {whole1, "d", "extract(julian FROM %s)"},
	{number, "mm", "extract(epoch FROM %s - %s)"}, {whole1, "mm", "extract(day FROM %s - %s)"},
	{whole1, "mm", "extract(hour FROM %s - %s)"},
	{whole1, "dm", "extract(month FROM age(%s, %s))"}, {truth, "mm", "%s - %s > INTERVAL '{n} days 1 second'"},
	{words, "m", "to_char(%s, 'FMDay DD Mon YY HH12:MI:SS.US AM')"}, {words, "d", "to_char(%s, 'IYYY IW ID WW W Q D DDD')"},
}

// powers are constants near where a machine's integers end.
var powers = []string{"2147483647", "2147483648", "4000000000", "4294967296", "4611686018427387903", "4611686018427387904",
	"9223372036854775807", "9223372036854775808", "18446744073709551616",
	"1329227995784915872903807060280344575", "1329227995784915872903807060280344576", "85070591730234615865843651857942052864",
	"170141183460469231731687303715884105727", "170141183460469231731687303715884105728"}

// constant draws a constant: small ones, those near powers of two, and every power of ten from
// 1e-35 to 1e35.
func constant(d Dice) string {
	sign := detrand.Pick(d, []string{"", "", "", "-"})
	switch d.Below(8) {
	case 0, 1:
		return detrand.Pick(d, []string{"0", "1", "2", "3", "7", "0.5", "-1", "-0.25", "10"})
	case 2:
		return sign + detrand.Pick(d, powers)
	case 3, 4:
		return fmt.Sprintf("%s%de%d", sign, 1+d.Below(9), d.Below(71)-35)
	case 5:
		return fmt.Sprintf("%s1e%d", sign, d.Below(36))
	}
	return sign + "1" + strings.Repeat("0", d.Below(14))
}

func wholeNumber(d Dice) string {
	switch d.Below(5) {
	case 0:
		return detrand.Pick(d, powers)
	case 1:
		return "1" + strings.Repeat("0", d.Below(19))
	case 2:
		return "-" + fmt.Sprint(1+d.Below(9))
	}
	return fmt.Sprint(d.Below(12))
}

// edgeTexts are texts as questions write them: the target's, nothing, marks that combine, the ends
// of planes and of what surrogates leave free, and long ones.
var edgeTexts = []string{"'" + Target + "'", "'" + Target + "'", "'" + Target + "'", "''", "' '", "'a'", "'F'", "'0'", "'-1'", "'1e3'",
	"'true'", "'2024-02-29'", "'0001-01-01'", "'9999-12-31 23:59:59.999999'", "'123456789012345678'",
	"'" + "e\u0301" + "'", "'" + "\u0301\u0301" + "'", "'" + "\ud7ff\ue000" + "'", "'" + "\U0010ffff" + "'", "U&'\\D83D\\DE00'", "'İß'",
	"'" + strings.Repeat("ä", 40) + "'"}

// quoted is a text as SQL writes it.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// fill draws what stands in braces.
func (q *question) fill(text string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '{')
		if i < 0 || i+2 >= len(text) || text[i+2] != '}' {
			return b.String() + text
		}
		b.WriteString(text[:i])
		b.WriteString(strings.ReplaceAll(q.token(text[i+1]), "%", "%%"))
		text = text[i+3:]
	}
}

func (q *question) token(of byte) string {
	d := q.d
	switch of {
	case 'c':
		return constant(d)
	case 'i':
		return wholeNumber(d)
	case 'n':
		return fmt.Sprint(detrand.Pick(d, []int{0, 1, 1, 2, 3, 5, 12, 40, 1000}))
	case 'k':
		return fmt.Sprint(d.Below(25) - 12)
	case 's':
		if d.One(200) {
			return "'" + strings.Repeat("a", 10_000) + "'"
		}
		return detrand.Pick(d, edgeTexts)
	case 'd':
		return "DATE '" + detrand.Pick(d, []string{"0001-01-01", "9999-12-31", "1970-01-01", "2022-01-08", "2024-02-29"}) + "'"
	case 'r':
		return quoted(Pattern(d))
	case 'q':
		return quoted(Similar(d))
	case 'p':
		return detrand.Pick(d, []string{"'Z%'", "'%9'", "'%'", "'_'", "'%z_%'", "'" + Target + "'", "'\\%'", "'%e\u0301%'"})
	}
	panic("generate: no such token: " + string(of))
}
