package trino

import (
	"flag"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

// sampleRows are rows of all kinds, and texts that are told apart hardly.
func sampleRows(seeds int) []generate.Row {
	var all []generate.Row
	for seed := range seeds {
		all = append(all, rapid.Custom(func(t *rapid.T) []generate.Row {
			return append(generate.DrawRows(t, 20), generate.DrawRows(t, 20)...)
		}).Example(seed)...)
	}
	for _, s := range append(slices.Clone(generate.OddTexts), "\x00", "a\x00b", "aa\naa", strings.Repeat("aé", 400)) {
		all = append(all, generate.Row{"x": s, "n": int64(1), "i": int64(5)})
	}
	for k, r := range all {
		r["u"] = int64(k)
	}
	return all
}

// valuesOf runs expressions in Trino, on every row.
func valuesOf(t testing.TB, e *Engine, all []tree.Expr) ([][]any, error) {
	p := e.Current().Print(prepare(t, e.dataset, "SELECT COUNT(*) FROM t").Query.From)
	list := make([]string, len(all))
	for i, x := range all {
		list[i] = p.Row.Expr(x)
	}
	order := p.Unit()
	text := "SELECT " + strings.Join(list, ", ") + " FROM " + p.FromClause() + " ORDER BY " + order
	rows, err := e.Current().DB.QueryContext(t.Context(), text)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, text)
	}
	defer rows.Close()
	var out [][]any
	for rows.Next() {
		cells, into := make([]any, len(all)), make([]any, len(all))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		out = append(out, cells)
	}
	return out, rows.Err()
}

func sameValue(got any, want tree.Value) bool {
	switch w := want.(type) {
	case tree.Day:
		want = big.NewInt(int64(w))
	case tree.Moment:
		want = big.NewInt(int64(w))
	}
	if w, ok := want.(*big.Int); ok {
		return got != nil && fmt.Sprint(got) == w.String()
	}
	return got == want
}

// TestExpressions compares random expressions with expr.Eval, row by row and exactly.
func TestExpressions(t *testing.T) {
	all := sampleRows(rounds(2, 4))
	s := newSchema(t, "memory")
	s.storeRows(t, all)
	e := open(t, s.dataset(t, sampleKeys()))
	asked, refused, wrong := 0, 0, 0
	first := firstSeed(t, 2, 200)
	for seed := range rounds(2, 200) {
		texts := rapid.Custom(func(rt *rapid.T) (all []string) {
			for range 20 {
				all = append(all, generate.DrawAny(rt, 3))
			}
			return all
		}).Example(first + seed)
		var known []string
		var exprs []tree.Expr
		for _, text := range texts {
			if x, ok := generate.Argument(e.dataset, text); ok {
				known, exprs = append(known, text), append(exprs, x)
			} else {
				refused++
			}
		}
		asked += len(exprs)
		for _, d := range differences(t, e, all, known, exprs) {
			if wrong++; wrong < 20 {
				t.Error(d)
			}
		}
	}
	t.Logf("%d expressions were compared on %d rows; %d were refused", asked, len(all), refused)
}

var seeds = flag.Int("seeds", 0, "where the seeds of random expressions begin")

// differences says where expressions are not what they should be, once each. Where all of them
// together do not run, each is run alone.
func differences(t testing.TB, e *Engine, all []generate.Row, texts []string, exprs []tree.Expr) (out []string) {
	if len(exprs) == 0 {
		return nil
	}
	got, err := valuesOf(t, e, exprs)
	switch {
	case err != nil && len(exprs) == 1:
		return []string{fmt.Sprintf("%s: %.3000v", texts[0], err)}
	case err != nil:
		for i := range exprs {
			out = append(out, differences(t, e, all, texts[i:i+1], exprs[i:i+1])...)
		}
		return out
	}
	for i, x := range exprs {
		for k, r := range all {
			if want := expr.Eval(x, generate.LeafOf(r)); !sameValue(got[k][i], want) {
				out = append(out, fmt.Sprintf("%s\n%s\nis %v (%T), and should be %v (%T), for %v", texts[i], tree.Format(x), got[k][i],
					got[k][i], want, want, r))
				break
			}
		}
	}
	return out
}

// TestDialectIsWhole: what a dialect says nothing about would be printed as nothing, or not at all.
// Constants stand in the text, parts of WITH are computed where they are named, no transaction sees
// one state, a suffix is a pattern, and nobody is a row.
func TestDialectIsWhole(t *testing.T) {
	left := []string{"Parameter", "Snapshot", "Once", "Again", "HasSuffix", "Row", "RowHash"}
	for _, v := range []reflect.Value{reflect.ValueOf(*sqlDialect), reflect.ValueOf(sqlDialect.Types)} {
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Field(i).IsZero() != slices.Contains(left, name) {
				t.Errorf("%s is missing, or is there and should not be", name)
			}
		}
	}
	for _, name := range expr.Nodes() {
		if sqlDialect.Functions[name] == nil {
			t.Errorf("%s is not printed", name)
		}
	}
}

// TestConstantsAreSpelled: no sign of a text is left in a statement.
func TestConstantsAreSpelled(t *testing.T) {
	for _, s := range []string{"", "'", "it's", "a''b", "\x00", "\\", "😀", "?", "$1", "--", "X'00'", "') OR (1=1"} {
		text := constant(s)
		inside, ok := strings.CutPrefix(text, "from_utf8(X'")
		inside, end := strings.CutSuffix(inside, "')")
		if !ok || !end || strings.Trim(inside, "0123456789abcdef") != "" || len(inside) != 2*len(s) {
			t.Errorf("%q is spelled %s", s, text)
		}
	}
	for v, want := range map[any]string{int64(-1 << 63): "BIGINT '-9223372036854775808'", true: "true"} {
		if got := constant(v); got != want {
			t.Errorf("%v is spelled %s", v, got)
		}
	}
	if got := constant([]string{}); got != "NULL" {
		t.Error(got)
	}
}

// TestReadable: which types are read as what, and which are refused.
func TestReadable(t *testing.T) {
	for typ, want := range map[string]string{
		"bigint": "integer decimal", "tinyint": "integer decimal", "real": "decimal", "double": "decimal", "decimal(12,2)": "decimal",
		"decimal(38,0)": "integer decimal", "boolean": "boolean", "date": "date", "timestamp(0)": "date timestamp",
		"timestamp(12)": "date timestamp", "timestamp(3) with time zone": "timestamp", "varchar": "text", "varchar(7)": "text",
		"char(7)": "text", "uuid": "text", "time(3)": "", "time(3) with time zone": "", "varbinary": "", "json": "", "array(bigint)": "",
		"row(a bigint)": "", "map(varchar, bigint)": "", "ipaddress": "", "interval day to second": "", "HyperLogLog": "",
	} {
		var got []string
		for _, p := range []policy.Type{policy.Integer, policy.Decimal, policy.Text, policy.Boolean, policy.Date, policy.Timestamp} {
			if readable(p, typ) {
				got = append(got, p.String())
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is read as %v, and not as %s", typ, got, want)
		}
	}
	for typ, want := range map[string]bool{"bigint": true, "varchar(3)": true, "uuid": true, "double": false,
		"real": false, "char(3)": false,
		"timestamp(3) with time zone": false} {
		if identifiesPeople(typ) != want {
			t.Errorf("%s can say whose a row is: %v", typ, !want)
		}
	}
}

// storeBytes makes a table of people and of texts that are these bytes.
func (s schema) storeBytes(t *testing.T, name, rows string) {
	raw := s.table("raw_" + name)
	s.Run(t, "CREATE TABLE "+raw+" (pid bigint, k varbinary)", "INSERT INTO "+raw+" VALUES "+rows)
	at := s.Rows(t, testtrino.Admin, `SELECT regexp_replace("$path", '/[^/]*$') FROM `+raw+" LIMIT 1")[0][0]
	s.Run(t, "CREATE TABLE "+s.table(name)+" (pid bigint, k varchar) WITH (external_location = '"+at+"')")
}

// TestBytes: a column of texts may hold bytes that are none of Unicode's, which the driver reads as
// U+FFFD. Two such keys are one group before people are counted, so that nobody is in it twice; and
// one that is read as a public key adds to its group, and does not take its place.
func TestBytes(t *testing.T) {
	s := newSchema(t, "hive")
	s.storeBytes(t, "single", "(1, X'61ff'), (2, X'61fe'), (3, X'61efbfbd'), (4, X'62')")
	s.storeBytes(t, "several", "(1, X'61ff'), (1, X'61fe'), (2, X'61ff'), (3, X'61efbfbd'), (4, X'62')")
	for _, c := range daily.Sample(t, []struct{ table, keys string }{
		{"several", "private"}, {"single", "private"}, {"several", `["a\uFFFD", b]`}, {"single", `["a\uFFFD", b]`},
	}, 2) {
		keys := "datasets:\n d:\n  source: " + s.source() + "\n  budget: {epsilon: 1, delta: 1e-6}\n  analysts: {a: {}}\n" +
			"  unit: " + c.table + ".pid\n" +
			"  tables:\n   " + c.table + ":\n    columns:\n      k: {type: text, keys: " + c.keys + "}\n"
		limits := map[string]string{"single": "unique: pid", "several": "max_rows: 5\n    max_groups: 2"}[c.table]
		p, err := policy.Parse("policy.yaml", []byte(strings.Replace(keys, "columns:", limits+"\n    columns:", 1)))
		if err != nil {
			t.Fatal(err)
		}
		e := open(t, p.Datasets["d"])
		q := &prepare(t, e.dataset, "SELECT k, COUNT(DISTINCT pid) FROM "+c.table+" GROUP BY k").Query
		out, err := e.Run(t.Context(), q)
		if err != nil {
			t.Fatalf("%v: %v, %v", c, err, runAgain(t, e, q))
		}
		if got := out.Measures[0].Open(); !slices.Equal(got, []int64{3, 1}) {
			t.Errorf("%v: %v", c, got)
		}
		if c.keys == "private" && !slices.Equal(out.Persons.Open(), []int64{3, 1}) {
			t.Errorf("%v: %v people", c, out.Persons.Open())
		}
	}
}

// noTexts are bytes that are none of Unicode's: parts of a character, characters that are spelled
// too long, halves of a pair, numbers that no character has; and some that are.
var noTexts = []string{"", "ff", "61ff", "f0", "f09f", "f09f98", "61f0", "c3", "61c3", "e2", "e282", "61e282", "80",
	"8080", "eda080", "edb080",
	"f4908080", "f8888080", "c080", "00", "6100", "efbfbd", "31ff", "ff31", "323032302d30312d3031ff",
	"f0323032302d30312d3031", "6161c3", "c361",
	"f0616161", "e261", "c3c3c3", "f0f0f0f0", "f7bfbfbf", "fbbfbfbfbf", "fdbfbfbfbfbf", "e28228", "f0288c28",
	"eda0bdedb880", "20f0", "f020",
	"2020c3", "69cc87", "c4b0", "efac83", "e1ba9e"}

var ofBytes = []string{
	"upper(k) = 'A'", "lower(k) = 'a'", "length(k) > 2", "left(k, 2) = 'a'", "right(k, 1) = 'a'",
	"substring(k, 2, 3) = 'a'", "strpos(k, 'a') = 2",
	"replace(k, 'a', 'b') = 'b'", "trim(k) = 'a'", "trim(both 'ab' from k) = 'a'", "ltrim(k, 'é') = 'a'", "rtrim(k, 'a') = ''",
	"lpad(left(k, 20), 5, 'x') = 'a'", "rpad(left(k, 20), 5, 'x') = 'a'", "left(k, 30) || left(k, 20) = 'a'",
	"concat(left(k, 30), 'é') = 'a'",
	"concat_ws(',', left(k, 30), 'é') = 'a'", "split_part(k, 'a', 2) = ''", "k LIKE '%a_'", "k LIKE '_a%'",
	"k LIKE '%a%b%'", "k LIKE 'a%'",
	"k ILIKE '%A_'", "k ~ '^a.$'", "k ~ '[^a]b'", "k ~* 'a|é'", "k SIMILAR TO 'a%|_b'", "k > 'a'", "CAST(k AS INTEGER) > 1",
	"CAST(k AS NUMERIC(10,2)) > 1", "CAST(k AS DATE) > DATE '2020-01-01'",
	"CAST(k AS TIMESTAMP) > TIMESTAMP '2020-01-01'", "CAST(k AS BOOLEAN)",
	"greatest(k, 'a') = 'a'", "nullif(k, 'a') = 'b'", "starts_with(k, 'a')", "upper(left(k, 1)) = lower(right(k, 1))",
}

// TestBytesAnywhere: whatever is computed from a text, no bytes of one make a question fail.
func TestBytesAnywhere(t *testing.T) {
	s := newSchema(t, "hive")
	rows := make([]string, len(noTexts))
	for i, bytes := range noTexts {
		rows[i] = fmt.Sprintf("(%d, X'%s')", i, bytes)
	}
	s.storeBytes(t, "t", strings.Join(rows, ", "))
	ds := s.dataset(t, "unit: t.pid\ntables: {t: {unique: pid, columns: {k: {type: text}}}}\n")
	e := open(t, ds)
	for some := range slices.Chunk(ofBytes, rounds(len(ofBytes)/3, 1)) {
		sum := make([]string, len(some))
		for i, x := range some {
			sum[i] = "CASE WHEN " + x + " THEN 1 ELSE 0 END"
		}
		q := &prepare(t, ds, "SELECT SUM("+strings.Join(sum, " + ")+") FROM t").Query
		if _, err := e.Run(t.Context(), q); err != nil {
			t.Errorf("%v: %v", some, runAgain(t, e, q))
		}
	}
}

// TestDeepest: what is nested as deep as the planner lets it be, or has as many operations, is
// parsed, planned and compiled by Trino.
func TestDeepest(t *testing.T) {
	if !daily.Full() {
		t.Skip("long statements; go test ./internal/engine/trino -run TestDeepest -full -v")
	}
	c := testtrino.Shared(t)
	e := open(t, dataset(t, c.Address(testtrino.Reader, "tpch", "tiny"), "unit: customer.custkey\ntables:\n"+
		"  customer: {unique: custkey, columns: {custkey: {type: integer}}}\n"+
		"  orders:\n    path: custkey -> customer.custkey\n    max_rows: 5\n    max_groups: 1\n    columns:\n"+
		"      totalprice: {type: decimal, bounds: [0, 1000], granularity: 0.01}\n      comment: {type: text}\n"+
		"      orderdate: {type: date, bounds: [1990-01-01, 1999-12-31]}\n"))
	around := func(before, x, after string) func(n int) string {
		return func(n int) string { return strings.Repeat(before, n) + x + strings.Repeat(after, n) }
	}
	rows := func(x func(int) string) func(int) string {
		return func(n int) string { return "SELECT COUNT(*) FROM orders WHERE " + x(n) }
	}
	for name, text := range map[string]func(n int) string{
		"sums":      rows(func(n int) string { return around("(1 + ", "totalprice", ")")(n) + " > 3" }),
		"quotients": rows(func(n int) string { return around("(7 / (1 + ", "totalprice", "))")(n) + " > 3" }),
		"remainder": rows(func(n int) string { return around("(", "length(comment)", " % 7 + 1)")(n) + " > 3" }),
		"roundings": rows(func(n int) string { return around("round(1 + ", "totalprice", ", 1)")(n) + " > 3" }),
		"cases": rows(func(n int) string {
			return around("CASE WHEN totalprice > 3 THEN ", "totalprice", " ELSE 1 END")(n) + " > 3"
		}),
		"texts": rows(func(n int) string { return around("lower(left(", "comment", ", 9))")(n) + " = 'a'" }),
		"dates": rows(func(n int) string {
			return around("(", "orderdate", " + INTERVAL '1 day')")(n) + " > DATE '1995-01-01'"
		}),
		"not": rows(around("NOT (totalprice > 1 AND ", "totalprice > 2", ")")),
		"or": rows(func(n int) string {
			return around("(totalprice = 1 OR (orderdate < DATE '1995-01-01' AND ", "totalprice > 2", "))")(n)
		}),
		"chain":    rows(func(n int) string { return "totalprice" + strings.Repeat(" + totalprice", n) + " > 3" }),
		"roots":    rows(func(n int) string { return around("sqrt(abs(", "totalprice", "))")(n) + " > 3" }),
		"coalesce": rows(func(n int) string { return around("coalesce(nullif(", "totalprice", ", 5), 1)")(n) + " > 3" }),
		"subqueries": func(n int) string {
			return "SELECT SUM(totalprice) FROM " + around("(SELECT custkey, totalprice + 1 AS totalprice FROM ", "orders", ") AS t")(n)
		},
		"left": func(n int) string {
			return "SELECT COUNT(*) FROM customer a" + strings.Repeat(" LEFT JOIN customer b ON a.custkey = b.custkey AND a.custkey < 5", n)
		},
	} {
		deepest := 0
		for _, n := range []int{127, 126, 120, 100, 63, 60, 50, 42, 41, 40, 31, 25, 20, 16, 15, 14, 10, 8, 6, 4, 3, 2, 1} {
			if _, err := prepareOne(e.dataset, text(n)); err == nil {
				deepest = n
				break
			}
		}
		if deepest == 0 {
			t.Errorf("%s: all are refused", name)
			continue
		}
		p := prepare(t, e.dataset, text(deepest))
		if _, err := e.Run(t.Context(), &p.Query); err != nil {
			t.Errorf("%s: %d: %v: %.500s", name, deepest, err, runAgain(t, e, &p.Query))
		}
		length := 0
		for _, st := range e.Current().Statements(&p.Query) {
			length += len(st.Text)
		}
		t.Logf("%s: %d, %d characters", name, deepest, length)
	}
}
