package planner

import (
	"fmt"
	"math/big"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/policy"
)

// meaning checks an expression on the columns of a small table.
func meaning(t *testing.T, text string) tree.Expr {
	t.Helper()
	p, err := policy.Parse("p.yaml", []byte(`
datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: row
    budget: {epsilon: 1}
    analysts: {a: {}}
    tables:
      t:
        columns:
          low: {type: integer, bounds: [-9, -5]}
          high: {type: integer, bounds: [5, 9], nullable: false}
          wide: {type: integer}
          at: {type: timestamp, bounds: [2024-01-30 23:00:00, 2024-01-31 01:00:00]}
`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := syntax.Open("SELECT "+text+" FROM t", nil).Select()
	if err != nil {
		t.Fatal(err)
	}
	around := newEnv(p.Datasets["d"], Options{})
	from, err := rowReader{around}.readFrom(s)
	if err != nil {
		t.Fatal(err)
	}
	e, err := checkExpr(&rowScope{env: around, rows: from}, s.TargetList[0].GetResTarget().GetVal())
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

// escaped returns a part of e, a number or a time, whose value lies outside what its type says, or
// nil.
func escaped(e tree.Expr, leaf func(tree.Expr) tree.Value) (found tree.Expr) {
	tree.Walk(e, func(x tree.Expr) {
		lo, hi := x.Type().Span()
		var n *big.Int
		switch v := expr.Eval(x, leaf).(type) {
		case *big.Int:
			n = v
		case tree.Day:
			n = big.NewInt(int64(v))
		case tree.Moment:
			n = big.NewInt(int64(v))
		default:
			return
		}
		if n.Cmp(lo) < 0 || n.Cmp(hi) > 0 {
			found = x
		}
	})
	return found
}

// TestIntervalsWithNull: a NULL is passed over, so it must not bound the others. What the
// policy says about NULL is not a proof.
func TestIntervalsWithNull(t *testing.T) {
	values := map[string][]tree.Value{
		"low":  {nil, big.NewInt(-9), big.NewInt(-5)},
		"high": {nil, big.NewInt(5), big.NewInt(9)},
		"wide": {nil, tree.MinInt64, tree.MaxInt64},
		"at": {nil, tree.Moment(1706655600_000000), tree.Moment(1706662800_000000), tree.Moment(1706659200_000000),
			tree.Moment(1706659199_999999)},
	}
	for _, text := range []string{
		"greatest(low, high)", "least(low, high)", "coalesce(low, high)", "nullif(high, 9)", "greatest(low, 0)", "least(high, 7)",
		"least(greatest(wide, 0), 100)",
		"CASE WHEN low > -7 THEN low WHEN high > 7 THEN high ELSE 20 END", "CASE WHEN low > -7 THEN low END", "abs(low)",
		"abs(least(low, high))", "-abs(wide)",
		"round(low, -1)", "round(high, -1)", "at + INTERVAL '1 month'", "at - INTERVAL '2 months'", "at + INTERVAL '1 month -1 second'",
		"date_trunc('day', at)", "CAST(at AS date)", "width_bucket(wide, 0, 10, 3)",
	} {
		e := meaning(t, text)
		for _, low := range values["low"] {
			for _, high := range values["high"] {
				for _, wide := range values["wide"] {
					for _, at := range values["at"] {
						row := map[string]tree.Value{"low": low, "high": high, "wide": wide, "at": at}
						leaf := func(e tree.Expr) tree.Value { return row[e.(*tree.Column).Field.Name] }
						if x := escaped(e, leaf); x != nil {
							t.Fatalf("%s: %s = %v is outside %v, for %v", text, tree.Format(x), expr.Eval(x, leaf), x.Type(), row)
						}
					}
				}
			}
		}
	}
}

// TestDeclaredEnds: a sum is calibrated to ends that somebody chose, and to no others.
func TestDeclaredEnds(t *testing.T) {
	for text, want := range map[string]bool{
		"low": true, "wide": false, "abs(low)": true, "abs(wide)": false, "greatest(wide, 0)": false, "least(wide, 0)": false,
		"least(greatest(wide, 0), 100)": true, "greatest(least(wide, 100), 0)": true, "least(greatest(wide, low), 100)": false,
		"least(greatest(wide, 0), high)":            false,
		"CASE WHEN wide > 0 THEN low ELSE wide END": false, "CASE WHEN wide > 0 THEN low ELSE high END": true,
		"coalesce(wide, 0)": false, "coalesce(least(greatest(wide, 0), 100), 5)": true, "nullif(wide, 0)": false, "sign(wide)": true,
		"round(wide, -2)":       false,
		"CAST(wide AS integer)": false, "CAST(wide AS numeric(5,2))": true, "round(wide / 7.0, 2)": false, "round(low / 7.0, 2)": true,
		"width_bucket(wide, 0, 10, 3)": true,
		"extract(month from at)":       true, "extract(year from at)": true, "extract(epoch from at)": true,
	} {
		if got := meaning(t, text).Type().Declared; got != want {
			t.Errorf("%s: declared %v", text, got)
		}
	}
}

// functionWork has for each function calls that take much: with long texts, wide numbers, and the
// constants that are worst for it.
func functionWork() map[string][]string {
	odd := strings.Repeat("é", 49) + "ß" // a set of characters that is no ASCII
	long := strings.Repeat("ab", 499)
	return map[string][]string{
		"abs": {"abs(wide)", "abs(sqrt(n))"}, "sign": {"sign(wide)", "sign(-sqrt(n))"},
		"round": {"round(c)", "round(wide / 7.0, 1)", "round(sqrt(n), 3)", "round(wide / 1000000.0)", "round(c * c * c * c, 1)",
			"round(wide * c * c * 0.001, 1)"},
		"trunc": {"trunc(c)", "trunc(exp(n), 3)"}, "floor": {"floor(c)", "floor(wide / 7.5)"}, "ceil": {"ceil(c)", "ceil(sqrt(n) * 9)"},
		"sqrt": {"sqrt(n)", "sqrt(c)"},
		"ln":   {"ln(n)"}, "log10": {"log10(c)"}, "exp": {"exp(n)"}, "power": {"power(n, 7)", "power(c, 0.3)"},
		"coalesce": {"coalesce(wide, 7)", "coalesce(s, s, s, s, s)", "coalesce(n, n, n, n)"}, "nullif": {"nullif(wide, 7)", "nullif(s, s)"},
		"greatest": {"greatest(wide, n, 7)", "greatest(s, s, s)"}, "least": {"least(wide, n)", "least(s, s)"},
		"length": {"length(s)"}, "lower": {"lower(s)"}, "upper": {"upper(s)", "upper(translated)"},
		"btrim": {"btrim(s, '" + odd + "')", "btrim(same, '" + odd + "')"}, "ltrim": {"ltrim(same, '" + odd + "')"},
		"rtrim": {"rtrim(same, '" + odd + "')"}, "substring": {"substring(s, 900, 9)", "left(s, 3000)"}, "right": {"right(s, 3)"},
		"||":     {"left(s, 400) || left(same, 400)", strings.Repeat("left(s, 9) || ", 60) + "'a'"},
		"concat": {"concat(left(s, 400), left(same, 400), n)", "concat(" + strings.Repeat("left(s, 9), ", 60) + "'a')"},
		"concat_ws": {"concat_ws('" + long[:200] + "', left(s, 200), left(s, 200), left(same, 200))",
			"concat_ws('-', " + strings.Repeat("left(s, 9), ", 60) + "'a')"},
		"strpos":     {"strpos(s, '" + long + "')", "strpos(same, '" + strings.Repeat("é", 499) + "a')"},
		"split_part": {"split_part(s, 'a', 999)", "split_part(same, '" + strings.Repeat("é", 400) + "a', 9)"},
		"replace":    {"replace(s, 'a', 'é')", "replace(left(s, 20), 'a', '" + long[:50] + "')", "replace(same, 'é', '')"},
		"lpad":       {"lpad(left(s, 9), 1000, 'é')", "lpad(s, 1000, '" + long + "')"}, "rpad": {"rpad(left(s, 9), 1000, 'é')"},
		"matches": {"s ~ '((a?){10}){10}c'", "same ~ '(é|a)*c.*d'", "s SIMILAR TO '(a|b){20}'", "s ~* '[a-z]+é+b'"},
		"extract": {"extract(year from at)", "extract(dow from d)", "extract(epoch from at)", "extract(week from at)",
			"extract(isoyear from d)", "extract(doy from at)", "extract(second from at)"},
		"date_trunc": {"date_trunc('hour', at)", "date_trunc('quarter', at)", "date_trunc('week', d)", "date_trunc('month', d)"},
		"timestamp":  {"CAST(d AS timestamp)"}, "date": {"CAST(at AS date)"},
		"add_days": {"d + n"}, "days_between": {"d - DATE '1970-01-01'"},
		"add_micros":    {"date_bin(INTERVAL '7 minutes', at, TIMESTAMP '1970-01-01 00:07:00')"},
		"add_interval":  {"at + INTERVAL '1 month 3 days'"},
		"parse_integer": {"CAST(s AS integer)", "CAST(digits AS integer)"}, "parse_decimal": {"CAST(digits AS numeric(20,4))"},
		"parse_boolean": {"CAST(s AS boolean)"}, "parse_date": {"CAST(s AS date)", "CAST(day AS date)"},
		"parse_timestamp": {"CAST(s AS timestamp)", "CAST(day AS timestamp)"},
		"text": {"CAST(wide AS text)", "CAST(c AS text)", "CAST(at AS text)", "CAST(d AS text)", "CAST(b AS text)",
			"to_char(at, 'YYYY-MM-DD HH24:MI:SS Day Month')"},
		// What is no function.
		"": {"extract(year from age(DATE '2024-12-31', d))", "date_trunc('decade', d)", "width_bucket(c, 0, 1000, 70)",
			"wide * 7 + n % 9 - c", "n / 7.0",
			"s LIKE '%" + strings.Repeat("%a", 120) + "c'", "n IN (" + numbers(500) + ")",
			"CASE WHEN n > 7 AND wide < 9 THEN c ELSE n END", "s IN ('" + long + "', '" + long + "a')", "s < '" + long + "'"},
	}
}

func numbers(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(1000 + i)
	}
	return strings.Join(all, ", ")
}

// TestFunctionsAreCounted: computing takes no more than is counted for it, whatever is computed. A
// function that is new has to be added above, with what is worst for it.
func TestFunctionsAreCounted(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector things take more time and memory")
	}
	p, err := policy.Parse("p.yaml", []byte(`
datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: row
    budget: {epsilon: 1}
    analysts: {a: {}}
    tables:
      t:
        columns:
          n: {type: integer, bounds: [1, 130], nullable: false}
          c: {type: decimal, bounds: [0, 600], granularity: 0.01}
          wide: {type: integer, bounds: [-1000000000000000, 1000000000000000]}
          at: {type: timestamp, bounds: ["1970-01-01 00:00:00", "1979-01-01 00:00:00"]}
          d: {type: date, bounds: [1900-01-01, 2070-01-01]}
          b: {type: boolean}
          s: {type: text}
          same: {type: text}
          translated: {type: text}
          digits: {type: text}
          day: {type: text}
`))
	if err != nil {
		t.Fatal(err)
	}
	row := map[string]tree.Value{
		"n": big.NewInt(123), "c": big.NewInt(59_999), "wide": big.NewInt(999_999_999_999_999), "at": tree.Moment(249_999_999_999_999),
		"d": tree.Day(20_000), "b": true, "s": strings.Repeat("ab", 500), "same": strings.Repeat("é", 500),
		"translated": strings.Repeat("ß", 500), "digits": strings.Repeat("9", 17), "day": "2024-02-29 12:00:00",
	}
	work := functionWork()
	for _, name := range expr.Nodes() {
		if len(work[name]) == 0 {
			t.Errorf("there is no call of %s whose work is measured", name)
		}
	}
	for name, calls := range work {
		for _, text := range calls {
			e := expressionOf(t, p.Datasets["d"], text)
			found := name == ""
			tree.Walk(e, func(x tree.Expr) {
				c, ok := x.(*tree.Call)
				found = found || ok && c.Fn == name
			})
			if !found {
				t.Errorf("%.60s has no %s", text, name)
			}
			leaf := func(x tree.Expr) tree.Value { return row[x.(*tree.Column).Field.Name] }
			measure(t, "compute "+text, func(m *meter.Meter) { expr.Compute(m, e, leaf) })
			measure(t, "spell "+text, func(m *meter.Meter) { (calculator{counts: m}).spell(e) })
			measure(t, "normal "+text, func(m *meter.Meter) { expr.CountNormal(m, e) })
		}
	}
}

// expressionOf is an expression over the columns of t.
func expressionOf(t *testing.T, d *policy.Dataset, text string) tree.Expr {
	t.Helper()
	s, err := syntax.Open("SELECT "+text+" FROM t", nil).Select()
	if err != nil {
		t.Fatalf("%.60s: %v", text, err)
	}
	around := newEnv(d, Options{})
	from, err := rowReader{around}.readFrom(s)
	if err != nil {
		t.Fatal(err)
	}
	e, err := checkExpr(&rowScope{env: around, rows: from}, s.TargetList[0].GetResTarget().GetVal())
	if err != nil {
		t.Fatalf("%.60s: %v", text, err)
	}
	return e
}

// fits reports whether enough was counted, on a machine that is so many times slower than a usual
// one.
func fits(took, counted time.Duration, slower float64, built, countedBytes int) bool {
	return float64(took) <= slower*float64(3*counted+100) && built <= countedBytes+countedBytes/5+16
}

// slowness is how many times longer this machine takes just now than a usual one that nobody else
// uses: others may take half of a processor, or its caches.
func slowness(t *testing.T) float64 {
	const usual = 150 * time.Microsecond
	text, n := strings.Repeat("ab", 500), big.NewInt(1)
	start := golden.CPUTime(t)
	for range 10 {
		for range 10 {
			text = strings.ToLower(strings.ReplaceAll(strings.ToUpper(text), "A", "a"))
		}
		for range 100 {
			n = new(big.Int).Add(n, big.NewInt(12345))
		}
	}
	return max(1, float64(golden.CPUTime(t)-start)/float64(10*usual))
}

// measure compares what something takes with what is counted for it.
func measure(t *testing.T, what string, do func(*meter.Meter)) {
	t.Helper()
	times := daily.Rounds(150, 500)
	var took, counted time.Duration
	var built, countedBytes int
	var slower float64
	for range 100 { // until it fits, because others may be at work
		slower = slowness(t)
		m := meter.Unlimited(t.Context())
		do(m) // patterns are compiled once for all
		timeBefore, bytesBefore := m.Counted()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := golden.CPUTime(t)
		for range times {
			do(m)
		}
		took = (golden.CPUTime(t) - start) / time.Duration(times)
		runtime.ReadMemStats(&after)
		built = int(after.TotalAlloc-before.TotalAlloc) / times
		counted, countedBytes = m.Counted()
		counted, countedBytes = (counted-timeBefore)/time.Duration(times), (countedBytes-bytesBefore)/times
		if fits(took, counted, slower, built, countedBytes) {
			break
		}
	}
	t.Logf("%8v counted %8v, %.1f times slower, %6d bytes counted %6d: %.80s", took, counted, slower, built, countedBytes, what)
	if !fits(took, counted, slower, built, countedBytes) {
		t.Errorf("%v and %d bytes are counted as %v and %d bytes: %.80s", took, built, counted, countedBytes, what)
	}
}
