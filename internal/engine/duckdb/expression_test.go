package duckdb

import (
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
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

// any draws a function that takes every kind.
func (g grammar) any(depth int, of func(int) string) string {
	a, b, c := of(depth-1), of(depth-1), of(depth-1)
	return g.pick("coalesce("+a+", "+b+")", "nullif("+a+", "+b+")", "greatest("+a+", "+b+", "+c+")", "least("+a+", "+b+")",
		"CASE WHEN "+g.condition(depth-1)+" THEN "+a+" WHEN "+g.condition(depth-1)+" THEN "+b+" ELSE "+c+" END",
		"CASE "+a+" WHEN "+b+" THEN "+c+" END")
}

var patterns = []string{"", "%", "a", "a%", "%a", "%a%", "_", "__", "_%", "%_", "a_b%", "%b_c", "%a%b%", "a\\%b\\_c", "%\\\\%", "%é%",
	"İ", "A%", "%.%", "%a_%_b%", "_é%", "%X%X%", "1_", "%\u0301"}

// regular are regular expressions that matchers could read differently.
var regular = []string{"", "^$", "a", ".", "^.$", "[^a]", "[^a-z]$", "\\yb", "\\Ya", "\\ma\\M", "\\W", "\\s",
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
			dialect.QuoteText(g.pick(patterns...)) + ")"
	case 6:
		return "(" + c() + g.pick(" IS TRUE", " IS NOT TRUE", " IS FALSE", " IS NOT FALSE", " IS UNKNOWN", " IS NOT UNKNOWN",
			" IS NULL") + ")"
	case 7:
		return g.pick("CAST("+g.text(depth-1)+" AS boolean)", "CAST(i AS boolean)", "starts_with("+g.text(depth-1)+", 'a')",
			g.any(depth, g.condition))
	case 8:
		return "(" + c() + g.pick(" AND ", " OR ") + c() + ")"
	case 10, 11:
		return "(" + g.text(depth-1) + g.pick(" ~ ", " ~* ", " !~ ", " !~* ") + dialect.QuoteText(g.pick(regular...)) + ")"
	case 12:
		return "(" + g.text(depth-1) + g.pick(" SIMILAR TO ", " NOT SIMILAR TO ") +
			dialect.QuoteText(g.pick("", "%", "a|b", "_", "(a|1)+%", "%[^a]", "[a-z]*", "%\u00e9%")) + ")"
	}
	return "(NOT " + c() + ")"
}

// drawAny draws an expression of any kind.
func drawAny(t *rapid.T, depth int) string {
	g := grammar{t}
	return rapid.SampledFrom([]func(int) string{g.number, g.number, g.text, g.date, g.stamp, g.condition, g.real}).Draw(t, "kind")(depth)
}

// valuesOf runs an expression in DuckDB, on every row.
func valuesOf(t testing.TB, e *Engine, x tree.Expr, change func(string) string) ([]any, error) {
	from := prepare(t, e.dataset, "SELECT COUNT(*) FROM t").Query.From
	p := e.now.Print(from)
	text := p.Expr(x)
	order := p.Unit()
	text = change("SELECT " + text + " FROM " + p.FromClause() + " ORDER BY " + order)
	rows, err := e.now.DB.QueryContext(t.Context(), text, p.Args...)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, text)
	}
	defer rows.Close()
	var out []any
	for rows.Next() {
		var v any
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// sameValue compares DuckDB's value with the reference's.
func sameValue(got any, want tree.Value) bool {
	switch w := want.(type) {
	case tree.Day:
		want = big.NewInt(int64(w))
	case tree.Moment:
		want = big.NewInt(int64(w))
	case float64:
		g, ok := got.(float64)
		return ok && g == w
	}
	switch g := got.(type) {
	case int64:
		got = big.NewInt(g)
	case int32:
		got = big.NewInt(int64(g))
	case int8:
		got = big.NewInt(int64(g))
	}
	if w, ok := want.(*big.Int); ok {
		g, ok := got.(*big.Int)
		return ok && g.Cmp(w) == 0
	}
	return got == want
}

func same(s string) string { return s }

// sampleTable stores rows in a table of a DuckDB file, with u in order.
func sampleTable(t testing.TB, folder string, rows []row) *Engine {
	for k, r := range rows {
		r["u"] = int64(k)
	}
	keys := shape{kind: 1, neighbours: "add-remove"}.keys(storeRows(t, folder, "duckdb", rows))
	return open(t, dataset(t, folder, keys))
}

// argument returns the expression that a text means, in its normal form.
func argument(e *Engine, text string) (tree.Expr, bool) {
	// What is never NULL is counted as rows, and its different values are not.
	for _, how := range []string{"COUNT(", "COUNT(DISTINCT "} {
		if p, err := prepareOne(e.dataset, "SELECT "+how+text+") FROM t"); err == nil && p.Query.Measures[0].Arg != nil {
			return p.Query.Measures[0].Arg, true
		}
	}
	return nil, false
}

func leafOf(r row) func(tree.Expr) tree.Value {
	return func(e tree.Expr) tree.Value { c := e.(*tree.Column); return declared(c.Field.Source, r[c.Field.Name]) }
}

// TestExpressions compares random expressions with expr.Eval, row by row and exactly.
func TestExpressions(t *testing.T) {
	var all []row
	for seed := range 12 {
		all = append(all, rapid.Custom(func(t *rapid.T) []row { return append(drawRows(t, 20), drawRows(t, 20)...) }).Example(seed)...)
	}
	for _, s := range append(slices.Clone(oddTexts), "\x00", "a\x00b", "aa\naa", strings.Repeat("aé", 400)) {
		all = append(all, row{"x": s, "n": int64(1), "i": int64(5)})
	}
	e := sampleTable(t, t.TempDir(), all)
	asked, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for range 25 {
			text := drawAny(rt, 3)
			x, ok := argument(e, text)
			if !ok {
				refused++
				continue
			}
			asked++
			got, err := valuesOf(t, e, x, same)
			if err != nil {
				rt.Fatalf("%s: %v", text, err)
			}
			for k, r := range all {
				if want := expr.Eval(x, leafOf(r)); !sameValue(got[k], want) {
					rt.Fatalf("%s\n%s\nis %v (%T), and should be %v (%T), for %v", text, tree.Format(x), got[k], got[k], want, want, r)
				}
			}
		}
	})
	t.Logf("%d expressions were compared on %d rows; %d were refused", asked, len(all), refused)
	if !testing.Short() && (asked < usually(300, 1000) || len(all) < 100) {
		t.Error("too few expressions for a test")
	}
}

// TestEveryFunctionIsPrinted: every function of the tree has its SQL.
func TestEveryFunctionIsPrinted(t *testing.T) {
	for _, name := range expr.Nodes() {
		if sqlDialect.Functions[name] == nil {
			t.Errorf("%s is not printed", name)
		}
	}
	if len(sqlDialect.Functions) != len(expr.Nodes()) {
		t.Errorf("%d printings for %d functions", len(sqlDialect.Functions), len(expr.Nodes()))
	}
}

// TestPlantedExpressions shows that the comparison finds small mistakes of a printing.
func TestPlantedExpressions(t *testing.T) {
	var all []row
	for seed := range 4 {
		all = append(all, rapid.Custom(func(t *rapid.T) []row { return append(drawRows(t, 20), drawRows(t, 20)...) }).Example(seed)...)
	}
	for _, s := range oddTexts {
		all = append(all, row{"x": s, "n": int64(1), "i": int64(5), "z": tree.Day(19782), "q": tree.Moment(-1)})
	}
	e := sampleTable(t, t.TempDir(), all)
	for _, planted := range []struct{ text, old, new string }{
		{"CASE WHEN i > 2 THEN i ELSE n END", " ELSE t1.f1 END", " END"},
		{"abs(i)", "abs(", "("},
		{"round(d, 1)", " + sign(t1.f4) *", " + 0 *"},
		{"round(d, 1)", "sign(t1.f4)", "1"},
		{"round(d / 3, 1)", "round(", "trunc("},
		{"floor(d)", "((t1.f4 + ", "((1 + t1.f4 + "},
		{"ceil(d)", "((t1.f4 + ", "((1 + t1.f4 + "},
		{"x LIKE 'a_b%'", ".\\x{62}", ".?\\x{62}"},
		{"x LIKE '%_'", ".*.", ".*"},
		{"x LIKE 'a%'", "prefix(", "contains("},
		{"x ILIKE 'a%'", "lower(", "("},
		{"i NOT IN (1, j)", "(t1.f0 <> t1.f2)", "(t1.f0 IS DISTINCT FROM t1.f2)"},
		{"greatest(i, n)", "greatest(", "least("},
		{"coalesce(i, n)", "coalesce(", "greatest("},
		{"CAST(x AS integer)", `\z')`, "')"},
		{"CAST(x AS integer)", "[0-9]{1,18}", ".*"},
		{"CAST(x AS numeric(10,2))", "[0-9]{1,18}(", "[0-9]{0,18}("},
		{"CAST(x AS numeric(10,2))", "AS DECIMAL(38,2)", "AS DECIMAL(20,3)"},
		{"CAST(x AS date)", `)\z`, ")"},
		{"CAST(x AS timestamp)", "2[0-3]", "2[0-4]"},
		{"CAST(x AS boolean)", "'yes', ", ""},
		{"CAST(j AS integer)", "BETWEEN -2147483648 AND 2147483647", "BETWEEN -9223372036854775808 AND 9223372036854775807"},
		{"length(x)", "length(", "strlen("},
		{"left(x, 1)", "substring(", "substring_grapheme("},
		{"trim(x)", "trim(t1.f13, CAST($1 AS VARCHAR))", "trim(t1.f13 || substr($1, 1, 0))"},
		{"extract(dow from z)", "dayofweek", "isodow"},
		{"extract(hour from q)", " + 62135596800000000", ""},
		{"CAST(q AS date)", " - (-62135596800000000)", ""},
		{"date_trunc('week', z)", "'week'", "'month'"},
		{"z + INTERVAL '1 month'", "to_months(1)", "to_days(30)"},
		{"sqrt(i)", "BETWEEN 0", "BETWEEN 1"},
		{"nullif(i, n)", "nullif(", "coalesce("},
		{"i IS DISTINCT FROM n", "IS DISTINCT FROM", "<>"},
		{"CAST(d AS text)", "CAST(0.01 AS DECIMAL(3,2))", "0.010"},
	} {
		x, ok := argument(e, planted.text)
		if !ok {
			t.Errorf("%s is refused", planted.text)
			continue
		}
		changed := false
		got, err := valuesOf(t, e, x, func(s string) string {
			m := strings.ReplaceAll(s, planted.old, planted.new)
			changed = m != s
			if !changed {
				t.Log(s)
			}
			return m
		})
		found := false
		for k, v := range got {
			found = found || !sameValue(v, expr.Eval(x, leafOf(all[k])))
		}
		if !changed || err != nil || !found {
			t.Errorf("not found: %s instead of %s in %s (changed %v): %v", planted.new, planted.old, planted.text, changed, err)
		}
	}
}

// TestLibraries: functions of the mathematics library may differ in the last bits only.
func TestLibraries(t *testing.T) {
	var all []row
	for k := range 2000 {
		all = append(all, row{"n": int64(k % 4), "i": int64(k%16 - 5), "d": float64(k)/91 - 1.99, "r": math.Exp(float64(k-1000) / 3),
			"e": float64(k) / 2})
	}
	all = append(all, row{"n": int64(0), "r": 5e-324}, row{"n": int64(0), "r": math.MaxFloat64}, row{"n": int64(0), "r": math.NaN()})
	e := sampleTable(t, t.TempDir(), all)
	for _, text := range []string{"ln(d)", "ln(r)", "log10(e)", "log(r)", "exp(d)", "exp(e)", "exp(-e)", "exp(r)", "power(d, 3)",
		"power(d, 0.37)", "power(r, -1.5)", "power(e, 12)", "power(r, 2)", "exp(ln(r) / 2)"} {
		x, ok := argument(e, text)
		if !ok {
			t.Errorf("%s is refused", text)
			continue
		}
		got, err := valuesOf(t, e, x, same)
		if err != nil {
			t.Fatal(err)
		}
		values := 0
		for k, r := range all {
			want, ok := expr.Eval(x, leafOf(r)).(float64)
			g, isReal := got[k].(float64)
			if ok != isReal || math.Abs(g-want) > 1e-12*math.Abs(want) && math.Abs(g-want) > 1e-14 {
				t.Errorf("%s is %v and not %v for %v", text, got[k], want, r)
			}
			if span := x.Type().Range; ok && (g < span.Low || g > span.High || want < span.Low || want > span.High) {
				t.Errorf("%s is %v, outside %v", text, g, *span)
			}
			if ok {
				values++
			}
		}
		if values < 100 {
			t.Errorf("%s has only %d values", text, values)
		}
	}
}

// TestEveryCharacter compares upper, lower and length of every character there is: the two
// programs must know the same version of Unicode.
func TestEveryCharacter(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS SELECT i AS u, chr(i::INTEGER) AS x FROM range(1, 1114112) AS r(i) "+
		"WHERE i NOT BETWEEN 55296 AND 57343")
	e := open(t, dataset(t, folder, "source: t.duckdb\nunit: t.u\ntables:\n  t:\n    unique: u\n    columns:\n      x: {type: text}\n"))
	for _, text := range []string{"upper(x)", "lower(x)", "trim(x)", "x LIKE '_'", "x ILIKE 'k'"} {
		x, ok := argument(e, text)
		if !ok {
			t.Fatalf("%s is refused", text)
		}
		got, err := valuesOf(t, e, x, same)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1114111-2048 {
			t.Fatalf("there are %d characters", len(got))
		}
		for k, v := range got {
			c := rune(k + 1)
			if c >= 0xd800 {
				c += 2048
			}
			if want := expr.Eval(x, func(tree.Expr) tree.Value { return string(c) }); v != want {
				t.Errorf("%s of %x is %q and not %q", text, c, v, want)
			}
		}
	}
}
