package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/posix"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
)

// valuesOf runs an expression in DuckDB, on every row.
func valuesOf(t testing.TB, e *Engine, x tree.Expr, change func(string) string) ([]any, error) {
	from := prepare(t, e.dataset, "SELECT COUNT(*) FROM t").Query.From
	p := e.now.Print(from)
	text := p.Row.Expr(x)
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

func manyRows(t *rapid.T) []row { return append(generate.DrawRows(t, 20), generate.DrawRows(t, 20)...) }

// TestExpressions compares random expressions with expr.Eval, row by row and exactly.
func TestExpressions(t *testing.T) {
	var all []row
	for seed := range 12 {
		all = append(all, rapid.Custom(manyRows).Example(seed)...)
	}
	for _, s := range append(slices.Clone(generate.OddTexts), "\x00", "a\x00b", "aa\naa", strings.Repeat("aé", 400)) {
		all = append(all, row{"x": s, "n": int64(1), "i": int64(5)})
	}
	e := sampleTable(t, t.TempDir(), all)
	asked, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for range rounds(18, 25) {
			text := generate.DrawAny(rt, 3)
			x, ok := generate.Argument(e.dataset, text)
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
				if want := expr.Eval(x, generate.LeafOf(r)); !sameValue(got[k], want) {
					rt.Fatalf("%s\n%s\nis %v (%T), and should be %v (%T), for %v", text, tree.Format(x), got[k], got[k], want, want, r)
				}
			}
		}
	})
	t.Logf("%d expressions were compared on %d rows; %d were refused", asked, len(all), refused)
	if !testing.Short() && (asked < rounds(25, 1000) || len(all) < 100) {
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
		all = append(all, rapid.Custom(manyRows).Example(seed)...)
	}
	for _, s := range generate.OddTexts {
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
		x, ok := generate.Argument(e.dataset, planted.text)
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
			found = found || !sameValue(v, expr.Eval(x, generate.LeafOf(all[k])))
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
		x, ok := generate.Argument(e.dataset, text)
		if !ok {
			t.Errorf("%s is refused", text)
			continue
		}
		got := must(valuesOf(t, e, x, same))(t)
		values := 0
		for k, r := range all {
			want, ok := expr.Eval(x, generate.LeafOf(r)).(float64)
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
// programs must know the same version of Unicode. Beyond the second plane, where no character has a
// case, a short run takes every sixteenth.
func TestEveryCharacter(t *testing.T) {
	some, turn := "", 0
	kept := func(c rune) bool { return c < 0x20000 || daily.Full() || int(c)%16 == turn }
	if !daily.Full() {
		turn = turnOf(t, 16)
		some = fmt.Sprintf(" AND (i < 131072 OR i %% 16 = %d)", turn)
	}
	var characters []rune
	for c := rune(1); c <= 0x10ffff; c++ {
		if (c < 0xd800 || c > 0xdfff) && kept(c) {
			characters = append(characters, c)
		}
	}
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS SELECT i AS u, chr(i::INTEGER) AS x FROM range(1, 1114112) AS r(i) "+
		"WHERE i NOT BETWEEN 55296 AND 57343"+some)
	e := open(t, dataset(t, folder, "source: t.duckdb\nunit: t.u\ntables:\n  t:\n    unique: u\n    columns:\n      x: {type: text}\n"))
	for _, text := range []string{"upper(x)", "lower(x)", "trim(x)", "x LIKE '_'", "x ILIKE 'k'"} {
		x, ok := generate.Argument(e.dataset, text)
		if !ok {
			t.Fatalf("%s is refused", text)
		}
		got := must(valuesOf(t, e, x, same))(t)
		if len(got) != len(characters) {
			t.Fatalf("there are %d characters", len(got))
		}
		for k, v := range got {
			c := characters[k]
			if want := expr.Eval(x, func(tree.Expr) tree.Value { return string(c) }); v != want {
				t.Errorf("%s of %x is %q and not %q", text, c, v, want)
			}
		}
	}
}

// TestPatterns holds made-up patterns against made-up texts in DuckDB's RE2 and in Go's regexp,
// which is the reference: they are two programs, and what package posix writes means the same in
// both.
func TestPatterns(t *testing.T) {
	db := must(sql.Open("duckdb", ""))(t)
	defer db.Close()
	d := generate.NewDice("patterns", 7+uint64(turnOf(t, 1000)))
	for range rounds(300, 1500) {
		written, err := posix.Translate(generate.Pattern(d), d.One(2))
		if err != nil {
			continue
		}
		texts := []string{"", strings.Repeat("aZ", 500)}
		for range 20 {
			texts = append(texts, generate.Subject(d))
		}
		matchesAlike(t, db, written, texts)
	}
	for _, pattern := range []string{"(a+)+$", "(.*)*b", "(a?){50}a{50}", `([a-z]+)*[0-9]{100}`,
		"[^a]{150}", "(|a)*$", "(a|[c-z]){60}", "[[:punct:]é-ü]{60}"} {
		written, err := posix.Translate(pattern, true)
		if err != nil {
			t.Errorf("%q: %v", pattern, err)
			continue
		}
		matchesAlike(t, db, written, []string{"", "aab", strings.Repeat("é", 300), strings.Repeat("a", 20_000) + "!", "\x00a"})
	}
}

func matchesAlike(t *testing.T, db *sql.DB, written string, texts []string) {
	t.Helper()
	own := regexp.MustCompile(written)
	found := "SELECT list(" + sqlDialect.Try(sqlDialect.Finds("x", sqlgen.QuoteText(written))) +
		")::VARCHAR FROM (SELECT unnest(CAST($1 AS VARCHAR[])) AS x)"
	var there string
	if err := db.QueryRowContext(context.Background(), found, texts).Scan(&there); err != nil {
		t.Errorf("%s: %v", written, err)
		return
	}
	here := make([]string, len(texts))
	for i, x := range texts {
		here[i] = fmt.Sprint(own.MatchString(x))
	}
	if want := "[" + strings.Join(here, ", ") + "]"; there != want {
		t.Errorf("%s in %.300q: %s in DuckDB, %s here", written, texts, there, want)
	}
}

func explained(t *testing.T, e *Engine, text string) string {
	t.Helper()
	out := ""
	for _, st := range e.now.Statements(question(t, e, text)) {
		var kind, plan string
		if err := e.now.DB.QueryRowContext(t.Context(), "EXPLAIN "+st.Text, st.Args...).Scan(&kind, &plan); err != nil {
			t.Fatal(err, st.Text)
		}
		out += plan
	}
	return out
}

// TestExistsIsAJoin: a subquery about a person is not computed anew for each row.
func TestExistsIsAJoin(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "shop.duckdb"),
		"CREATE TABLE customers AS SELECT range AS cid, 'N' AS region, 3 AS age, 'x' AS city FROM range(20000)",
		"CREATE TABLE orders AS SELECT range AS oid, range // 3 AS cust, range % 9 AS code, range % 50 AS amount, 'x' AS shop FROM "+
			"range(60000)",
		"CREATE TABLE items AS SELECT range AS iid, range // 2 AS order_id, 3 AS qty FROM range(120000)",
		"CREATE TABLE parts AS SELECT range AS item, 1 AS w FROM range(10)",
		"CREATE TABLE products AS SELECT range AS code, 'p' || range AS label FROM range(9)",
		"CREATE TABLE tags AS SELECT range AS code, 't' || range % 3 AS tag FROM range(9)")
	e := open(t, shopDataset(t, folder, "shop.duckdb", "add-remove", 2, 2))
	for _, text := range daily.Sample(t, []string{
		"SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.cust = c.cid AND o.amount > c.age)",
		"SELECT COUNT(*) FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.cust = c.cid AND o.amount > 48)",
		"SELECT COUNT(*) FROM customers c WHERE c.age = 1 OR EXISTS (SELECT 1 FROM orders o WHERE o.cust = c.cid AND o.amount > 48)",
		"SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o JOIN items i ON o.oid = i.order_id WHERE o.cust = c.cid)",
		"SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.oid AND i.qty > o.code)",
		"SELECT COUNT(*) FROM orders WHERE code IN (SELECT code FROM tags WHERE tag = 't1')",
		"SELECT COUNT(*) FROM items WHERE qty > 2",
	}, 3) {
		plan := explained(t, e, text)
		for _, slow := range []string{"NESTED_LOOP", "CROSS_PRODUCT", "BLOCKWISE"} {
			if strings.Contains(plan, slow) {
				t.Errorf("%s has a %s\n%s", text, slow, plan)
			}
		}
		answer(t, e, text)
	}
}

// documented is a line of docs/sql-functions.md: the forms, and what examples of them are.
type documented struct {
	forms    string
	examples [][2]string // an expression and its value, or "refused"
}

var example = regexp.MustCompile("`([^`]+)`→(?:`([^`]+)`|(refused))")

func readDocumented(t *testing.T) []documented {
	text := must(os.ReadFile("../../../docs/sql-functions.md"))(t)
	var out []documented
	for line := range strings.Lines(string(text)) {
		line = strings.ReplaceAll(line, `\|`, "\x01")
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 3 || strings.HasPrefix(cells[0], "-") || strings.TrimSpace(cells[0]) == "form" {
			continue
		}
		d := documented{forms: strings.ReplaceAll(cells[0], "\x01", "|")}
		for _, m := range example.FindAllStringSubmatch(strings.ReplaceAll(cells[2], "\x01", "|"), -1) {
			d.examples = append(d.examples, [2]string{m[1], m[2] + m[3]})
		}
		if len(d.examples) == 0 || strings.Count(cells[2], "→") != len(d.examples) {
			t.Errorf("examples that cannot be read: %s", line)
		}
		out = append(out, d)
	}
	return out
}

// TestDocumented checks every example of docs/sql-functions.md: with expr.Eval, and with
// DuckDB. HAVING keeps an expression as it was written, without folding constants.
func TestDocumented(t *testing.T) {
	e := sampleTable(t, t.TempDir(), []row{{"n": int64(1)}})
	checked := 0
	for _, d := range readDocumented(t) {
		for _, x := range d.examples {
			text := "(" + x[0] + ") IS NOT DISTINCT FROM " + x[1]
			switch x[1] {
			case "NULL":
				text = "(" + x[0] + ") IS NULL"
			case "refused":
				text = "(" + x[0] + ") IS NULL"
			}
			p, err := prepareOne(e.dataset, "SELECT COUNT(*) FROM t HAVING "+text)
			if x[1] == "refused" {
				if !errors.As(err, new(*api.Refusal)) {
					t.Errorf("%s is not refused: %v", x[0], err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if v := expr.Eval(p.Having, nil); v != true {
				t.Errorf("%s is %v", text, v)
			}
			got, err := valuesOf(t, e, p.Having, same)
			if err != nil || got[0] != true {
				t.Errorf("%s is %v in DuckDB: %v", text, got, err)
			}
			checked++
		}
	}
	if checked < 150 {
		t.Errorf("only %d examples", checked)
	}
}

// TestEveryFunctionIsDocumented: every name that can be called is in the table, with an
// example that calls it.
func TestEveryFunctionIsDocumented(t *testing.T) {
	all := readDocumented(t)
	for _, name := range expr.Functions() {
		form, called := false, false
		for _, d := range all {
			form = form || strings.Contains(d.forms, "`"+name+"(") || name == "||" && strings.Contains(d.forms, "||")
			for _, x := range d.examples {
				called = called || strings.Contains(x[0], name+"(") || name == "||" && strings.Contains(x[0], "||")
			}
		}
		if !form || !called {
			t.Errorf("%s: in the table %v, in an example %v", name, form, called)
		}
	}
}
