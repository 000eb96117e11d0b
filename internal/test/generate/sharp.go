package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
)

// Sharp returns a maker of questions that are made to break something: of constants of every size,
// intervals that are a point, steps that are large, chains of products, texts of everything, values
// by subquery on both sides of IN, and conditions that hold for one person of a [Pair] alone, each
// in every place that takes an expression. It asks the planner about each part that it makes, and
// makes another where that is refused.
func (m *Maker) Sharp() *Maker {
	s := *m
	s.sharp = true
	s.functions = slices.Clone(m.functions)
	for _, f := range edges {
		if s.knows(f) {
			s.functions = append(s.functions, f)
		}
	}
	return &s
}

// deepest is how many subqueries of expressions stand in each other.
const deepest = 2

// edge makes an expression of a kind, as expr does.
func (e edgeMaker) edge(s fromItem, k kind, depth int) string {
	if depth <= 0 {
		return e.tip(s, k)
	}
	switch k {
	case truth:
		if e.q.depth == 1 && e.q.d.One(5) { // one in another
			if text, ok := e.within(s); ok {
				return text
			}
		}
		switch e.q.d.Below(10) {
		case 0, 1:
			return e.single(s)
		case 2:
			if text, ok := e.within(s); ok {
				return text
			}
		case 3:
			return "(" + e.single(s) + detrand.Pick(e.q.d, []string{" AND ", " OR "}) + e.edge(s, truth, depth-1) + ")"
		case 4:
			if text, ok := e.costlyCondition(s); ok && e.q.d.One(2) {
				return text
			}
		}
	case whole1, number, wide:
		switch e.q.d.Below(12) {
		case 0, 1:
			return e.chosen(s, k, depth-1)
		case 2, 3:
			return e.chain(s, k, depth-1)
		case 4:
			return e.coarse(s, depth-1)
		case 5:
			return e.point(s, k)
		case 6:
			if text, ok := e.deep(func() (string, bool) { return e.q.exprs().scalar(s) }); ok && s.private {
				return text
			}
		case 7:
			return "length(" + e.spelled(s, depth-1) + ")"
		}
	case words:
		if e.q.d.One(3) {
			return e.spelled(s, depth-1)
		}
	}
	var fit []function
	for _, f := range e.q.functions {
		if f.makes.fits(k) {
			fit = append(fit, f)
		}
	}
	if len(fit) == 0 {
		return e.tip(s, k)
	}
	f := detrand.Pick(e.q.d, fit)
	args := make([]any, len(f.of))
	for i, a := range []byte(f.of) {
		args[i] = e.edge(s, kind(a), depth-1-e.q.d.Below(2))
	}
	return fmt.Sprintf(e.q.fill(f.text), args...)
}

// tip is the end of an expression: a column, mostly.
func (e edgeMaker) tip(s fromItem, k kind) string {
	if c, ok := e.q.column(s, k); ok && !e.q.d.One(6) {
		return c.ref
	}
	switch k {
	case words:
		return e.q.token('s')
	case truth:
		return e.single(s)
	case date:
		return e.q.token('d')
	case moment:
		return "CAST(" + e.tip(s, date) + " AS timestamp)"
	case float:
		if c, ok := e.q.column(s, number); ok {
			return "(" + c.ref + " / 2.5)"
		}
		return "0.5"
	case whole1:
		return wholeNumber(e.q.d)
	}
	return constant(e.q.d)
}

// single is a condition that the target alone fulfils, in most databases.
func (e edgeMaker) single(s fromItem) string {
	if c, ok := e.q.column(s, words); ok && !e.q.d.One(6) {
		return c.ref + detrand.Pick(e.q.d, []string{" = ", " = ", " = ", " <> "}) + "'" + Target + "'"
	}
	if c, ok := e.q.column(s, truth); ok && e.q.d.One(2) {
		return c.ref
	}
	if c, ok := e.q.column(s, wide); ok {
		return c.ref + detrand.Pick(e.q.d, []string{" > ", " < ", " = ", " <> "}) + detrand.Pick(e.q.d, []string{"0", "1", "4", "9"})
	}
	return "true"
}

// costlyCondition is a condition for which so much is computed with each row that people are cut:
// it looks at all rows of a public table, or at a long list.
func (e edgeMaker) costlyCondition(s fromItem) (string, bool) {
	x, ok := e.q.column(s, wide)
	if !ok {
		return "", false
	}
	compare := detrand.Pick(e.q.d, []string{" > ", " < ", " <> "})
	if public := e.q.public(); len(public) > 0 && e.q.d.One(2) {
		t := e.q.table(detrand.Pick(e.q.d, public))
		if y, ok := e.q.column(t, wide); ok {
			return "EXISTS (SELECT 1 FROM " + t.text + " WHERE " + y.ref + compare + x.ref + ")", true
		}
	}
	list := make([]string, detrand.Pick(e.q.d, []int{50, 300, 1000}))
	for i := range list {
		list[i] = fmt.Sprint(3*i - 9)
	}
	return x.ref + " = ANY ('{" + strings.Join(list, ",") + "}')", true
}

// chosen is one number for the target and another for everybody else.
func (e edgeMaker) chosen(s fromItem, k kind, depth int) string {
	here, there := e.edge(s, k, depth-1), e.edge(s, k, 0)
	if e.q.d.One(2) {
		here = fmt.Sprint(1 + e.q.d.Below(9))
	}
	if e.q.d.One(2) {
		there = detrand.Pick(e.q.d, []string{"0", "0", "1"})
	}
	return "CASE WHEN " + e.single(s) + " THEN " + here + " ELSE " + there + " END"
}

// chain is a product of the same, of several, and of constants, with and without parentheses.
func (e edgeMaker) chain(s fromItem, k kind, depth int) string {
	var a string
	same := e.q.d.One(2)
	switch e.q.d.Below(6) {
	case 0, 1:
		a = e.coarse(s, depth)
	case 2:
		a, same = e.point(s, k), false
	case 3:
		a = e.edge(s, k, depth)
	default:
		a = e.tip(s, k)
	}
	out := a
	for range 1 + e.q.d.Below(3) {
		switch {
		case same:
			out += " * " + a
		case e.q.d.One(4):
			out += " * " + e.tip(s, k)
		default:
			out += " * " + constant(e.q.d)
		}
		if e.q.d.One(4) {
			out = "(" + out + ")"
		}
	}
	if e.q.d.One(4) {
		out += " + " + e.tip(s, k)
	}
	return "(" + out + ")"
}

// coarse is a number on a lattice of large steps, or of small ones: scaled and rounded to as many
// digits.
func (e edgeMaker) coarse(s fromItem, depth int) string {
	x := e.tip(s, number)
	switch e.q.d.Below(4) {
	case 0:
		x = e.edge(s, number, min(depth, 1))
	case 1, 2:
		x = e.chosen(s, number, 0)
	}
	n := 1 + e.q.d.Below(12)
	if e.q.d.One(2) {
		n = 12
	}
	if e.q.d.One(4) {
		return fmt.Sprintf("round(%s * 1e-%d, %d)", x, n, n)
	}
	return fmt.Sprintf("%s(%s * 1%s, -%d)", detrand.Pick(e.q.d, []string{"round", "trunc"}), x, strings.Repeat("0", n), n)
}

// spelled is something as a text: often what has many digits.
func (e edgeMaker) spelled(s fromItem, depth int) string {
	x := ""
	if e.q.d.One(2) {
		x = e.chain(s, number, depth)
	} else {
		x = e.edge(s, detrand.Pick(e.q.d, []kind{number, wide, truth, date, moment}), depth)
	}
	return "CAST(" + x + " AS text)"
}

// point is a number whose interval is one point, though it is made of a column.
func (e edgeMaker) point(s fromItem, k kind) string {
	x := e.tip(s, k)
	return fmt.Sprintf(detrand.Pick(e.q.d, []string{"(%s %% 1)", "trunc(%s, -12)", "round(%s, -11)", "(%s * 0)", "least(%s, -1e15)",
		"width_bucket(%s, -1e14, -1e13, 3)", "sign(abs(%s) + 1)", "(%s / 1000000000)"}), x)
}

// deep makes something with a subquery in it, where there are not too many in each other.
func (e edgeMaker) deep(f func() (string, bool)) (string, bool) {
	if e.q.depth >= deepest {
		return "", false
	}
	e.q.depth++
	defer func() { e.q.depth-- }()
	return f()
}

// within is a condition with a subquery: EXISTS or IN, with any expression on both sides.
func (e edgeMaker) within(s fromItem) (string, bool) {
	return e.deep(func() (string, bool) {
		if e.q.d.One(3) {
			return e.q.exprs().exists(s)
		}
		t := e.q.table(detrand.Pick(e.q.d, e.q.private()))
		if s.private && e.q.d.One(2) {
			t = e.q.sources().from(1)
		}
		if !s.private || len(e.q.public()) > 0 && e.q.d.One(4) {
			t = e.q.table(detrand.Pick(e.q.d, e.q.public()))
		}
		both := s.and(t, "")
		link, cond := "", ""
		if t.private {
			a, b, ok := e.q.linked(s, t)
			if !ok {
				return "", false
			}
			link = a + " = " + b
		}
		if e.q.d.One(2) {
			cond = e.edge(detrand.Pick(e.q.d, []fromItem{both, t}), truth, 1)
		}
		if link == "" {
			link = "true"
		}
		if cond != "" {
			link += " AND " + cond
		}
		not := detrand.Pick(e.q.d, []string{"", "NOT "})
		if e.q.d.One(3) {
			return not + "EXISTS (SELECT 1 FROM " + t.text + " WHERE " + link + ")", true
		}
		k := detrand.Pick(e.q.d, []kind{wide, number, number, words, date, truth})
		x := e.edge(s, k, e.q.d.Below(3))
		if k == number && s.private && e.q.d.One(2) {
			if value, ok := e.q.exprs().scalar(s); ok {
				x = value
			}
		}
		return "(" + x + ") " + not + "IN (SELECT " + e.edge(t, k, e.q.d.Below(2)) + " FROM " + t.text + " WHERE " + link + ")", true
	})
}

func (q *question) accepts(text string) bool {
	ok := false
	func() {
		defer func() { recover() }() // a panic is for whoever asks the question to find
		_, err := Prepare(q.dataset, q.with()+text, q.options)
		ok = err == nil
	}()
	return ok
}

// tryExpr makes something until a question with it is accepted, a few times, each time smaller.
func (q *question) tryExpr(depth int, make func(depth int) string, question func(string) string) string {
	for ; depth > 0; depth-- {
		for range 2 {
			if x := make(depth); q.accepts(question(x)) {
				return x
			}
		}
	}
	return make(0)
}

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

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

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
