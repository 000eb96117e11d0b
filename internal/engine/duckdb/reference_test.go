package duckdb

import (
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/policy"
)

// reference computes a query in Go, from the definition and not from SQL: for each
// measure and group the largest and the smallest sum that the engine may have. They
// differ only where somebody is in more groups than count, because which
// ones are kept is the engine's choice; totals bounds the sum over all groups.
type reference struct {
	least, most             [][]int64 // by measure and group
	leastTotals, mostTotals []int64   // by measure
}

// partial is what one person adds to one group.
type partial struct {
	group int
	sums  []*big.Int // by measure
	// counted is by how many rows each sum is scaled, by measure.
	counted []int64
}

func (p *partial) add(q *tree.Query, leaf func(tree.Expr) tree.Value) {
	for m, measure := range q.Measures {
		switch measure.Kind {
		case tree.CountRows:
			p.sums[m].Add(p.sums[m], one.Num())
		case tree.CountValues:
			if expr.Eval(measure.Arg, leaf) != nil {
				p.sums[m].Add(p.sums[m], one.Num())
			}
		default:
			v, ok := expr.Eval(measure.Arg, leaf).(*big.Int)
			if ok {
				p.sums[m].Add(p.sums[m], v)
			}
			if ok || measure.Scaled == tree.ByRows {
				p.counted[m]++
			}
		}
	}
}

// of is what a person adds to a measure: of more rows than count, a sum that is scaled is as many
// times their mean, to the nearest and from the middle away from 0.
func (p *partial) of(q *tree.Query, m int) *big.Int {
	n := p.counted[m]
	if q.Measures[m].Scaled == tree.Unscaled || !q.Bounded() || n <= q.MaxRows() {
		return p.sums[m]
	}
	twice := new(big.Int).Mul(p.sums[m], big.NewInt(2*q.MaxRows()))
	twice.Add(twice, big.NewInt(int64(p.sums[m].Sign())*n))
	return twice.Quo(twice, big.NewInt(2*n))
}

// groupOf finds the group of a row, or -1 where a key is not public.
func groupOf(q *tree.Query, leaf func(tree.Expr) tree.Value) int {
	g := 0
	for _, k := range q.Keys {
		v := expr.Eval(k.Expr, leaf)
		i := slices.IndexFunc(k.Values, func(key policy.Value) bool {
			switch v := v.(type) {
			case nil:
				return key.Null
			case string:
				return !key.Null && key.Text == v
			case bool:
				return !key.Null && key.Bool() == v
			case tree.Day:
				return !key.Null && key.Int == int64(v)
			case *big.Int:
				return !key.Null && key.Int == v.Int64()
			}
			return false
		})
		if i < 0 {
			return -1
		}
		g = g*len(k.Values) + i
	}
	return g
}

// compute makes the reference of a query on some rows.
func compute(q *tree.Query, rows []row) reference {
	people := map[any]map[int]*partial{}
	for n, r := range rows {
		leaf := func(e tree.Expr) tree.Value {
			f := e.(*tree.Column).Field
			return generate.Declared(f.Source, r[f.Name])
		}
		if q.Where != nil && expr.Eval(q.Where, leaf) != true {
			continue
		}
		person := any(fmt.Sprint("row ", n)) // every row is somebody
		if q.Bounded() {
			if person = r["u"]; person == nil {
				continue
			}
		}
		g := groupOf(q, leaf)
		if g < 0 {
			continue
		}
		if people[person] == nil {
			people[person] = map[int]*partial{}
		}
		if people[person][g] == nil {
			p := &partial{group: g, counted: make([]int64, len(q.Measures))}
			for range q.Measures {
				p.sums = append(p.sums, new(big.Int))
			}
			people[person][g] = p
		}
		people[person][g].add(q, leaf)
	}
	ref := reference{leastTotals: make([]int64, len(q.Measures)), mostTotals: make([]int64, len(q.Measures))}
	for m, measure := range q.Measures {
		least, most := make([]int64, q.Groups()), make([]int64, q.Groups())
		lo, hi := q.Interval(measure)
		for _, partials := range people {
			free := int64(len(partials)) > q.MaxGroups()
			var values []int64
			for g, p := range partials {
				v := p.of(q, m)
				if v.Cmp(lo) < 0 {
					v = lo
				}
				if v.Cmp(hi) > 0 {
					v = hi
				}
				values = append(values, v.Int64())
				if free {
					least[g], most[g] = least[g]+min(0, v.Int64()), most[g]+max(0, v.Int64())
				} else {
					least[g], most[g] = least[g]+v.Int64(), most[g]+v.Int64()
				}
			}
			slices.Sort(values)
			kept := min(len(values), int(q.MaxGroups()))
			for k := range kept {
				ref.leastTotals[m] += values[k]
				ref.mostTotals[m] += values[len(values)-1-k]
			}
		}
		ref.least, ref.most = append(ref.least, least), append(ref.most, most)
	}
	return ref
}

// differs says where a result is not what the reference allows, or nothing.
func (ref reference) differs(got *engine.Result) string {
	for m, v := range got.Measures {
		total := int64(0)
		for g, x := range v.Open() {
			total += x
			if x < ref.least[m][g] || x > ref.most[m][g] {
				return fmt.Sprintf("measure %d, group %d is %d, and should be in [%d, %d]", m, g, x, ref.least[m][g], ref.most[m][g])
			}
		}
		if total < ref.leastTotals[m] || total > ref.mostTotals[m] {
			return fmt.Sprintf("measure %d adds up to %d, and should be in [%d, %d]", m, total, ref.leastTotals[m], ref.mostTotals[m])
		}
	}
	return ""
}

// exactly reports whether the reference leaves the engine no choice.
func (ref reference) exactly() bool {
	return fmt.Sprint(ref.least) == fmt.Sprint(ref.most)
}

// drawTable draws a table of a shape, stores it and opens it.
func drawTable(rt *rapid.T, t testing.TB, folder string, s shape, most int) (*Engine, []row) {
	rows := generate.DrawRows(rt, most)
	for k, r := range rows {
		switch s.kind {
		case policy.Unique:
			r["u"] = int64(k)
		case policy.Many:
			if u := rapid.IntRange(0, 5).Draw(rt, "person"); u > 0 {
				r["u"] = int64(u)
			}
		}
	}
	kind := rapid.SampledFrom([]string{"duckdb", "parquet", "csv"}).Draw(rt, "source")
	for _, r := range rows {
		for _, name := range []string{"s", "x"} {
			if kind == "csv" && r[name] == "" {
				r[name] = nil // CSV has no empty text
			}
		}
	}
	e, err := Open(t.Context(), dataset(t, folder, s.keys(storeRows(t, folder, kind, rows))))
	if err != nil {
		rt.Fatal(err)
	}
	return e, rows
}

// TestReference compares the engine with the definition, on random tables and
// random questions.
func TestReference(t *testing.T) {
	questions := rounds(12, 45)
	asked, refused, certain := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		e, rows := drawTable(rt, t, t.TempDir(), drawShape(rt), 25)
		defer e.Close()
		for range questions {
			text := drawQuestion(rt)
			p, err := prepareOne(e.dataset, text)
			if err != nil {
				refused++
				continue
			}
			got, err := e.Run(t.Context(), &p.Query)
			if err != nil {
				rt.Fatalf("%s: %v", text, runAgain(t, e, &p.Query))
			}
			ref := compute(&p.Query, rows)
			if d := ref.differs(got); d != "" {
				rt.Fatalf("%s\n%s\n%s", text, p.Query.Format(), d)
			}
			asked++
			if ref.exactly() {
				certain++
			}
		}
	})
	t.Logf("%d questions were compared, %d of them exactly; %d were refused", asked, certain, refused)
	if !testing.Short() && (asked < rounds(25, 2000) || certain < asked/2) {
		t.Error("too few questions for a test")
	}
}

// TestPlantedPrinters shows that the comparison finds small mistakes of a printer.
func TestPlantedPrinters(t *testing.T) {
	mutants := []struct{ old, new string }{
		{" AND ", " OR "},
		{" <= ", " < "},
		{" <> ", " = "},
		{"(NOT ", "("},
		{" - CAST", " + CAST"},
		{" // ", " / "},
		{", 0))", ", 1))"},
		{" IS NULL)", " IS NOT NULL)"},
		{"sum(", "max("},
		{"count(*) AS m0", "count(a0) AS m0"},
		{".f14 IS NOT NULL", ".f14 IS NOT DISTINCT FROM t1.f14"},
		{"100::DOUBLE", "10::DOUBLE"},
		{"isfinite(", "isinf("},
		{"THEN -200 ELSE", "THEN -199 ELSE"},
		{"WHERE n <= ", "WHERE n < "},
	}
	found := make([]bool, len(mutants))
	gen := rapid.Custom(func(rt *rapid.T) bool { // one table for all of them
		e, rows := drawTable(rt, t, t.TempDir(), drawShape(rt), 25)
		defer e.Close()
		for range 60 {
			p, err := prepareOne(e.dataset, drawQuestion(rt))
			if err != nil {
				continue
			}
			statements, want := e.now.Statements(&p.Query), compute(&p.Query, rows)
			for i, planted := range mutants {
				if found[i] {
					continue
				}
				changed, ok := mutant(statements, func(text string) string { return strings.ReplaceAll(text, planted.old, planted.new) })
				if !ok {
					continue
				}
				got, err := e.now.Run(t.Context(), &p.Query, changed)
				found[i] = err == nil && want.differs(got) != "" // a mutant that does not run shows nothing
			}
			if !slices.Contains(found, false) {
				break
			}
		}
		return true
	})
	for seed := 0; seed < 12 && slices.Contains(found, false); seed++ {
		gen.Example(seed)
	}
	for i, planted := range mutants {
		if !found[i] {
			t.Errorf("not found: %s instead of %s", planted.new, planted.old)
		}
	}
}

func drawNumber(t *rapid.T, depth int) string {
	switch k := rapid.IntRange(0, 8).Draw(t, "number"); {
	case k == 8:
		return generate.DrawNumber(t, depth)
	case depth == 0 || k < 3:
		return rapid.SampledFrom([]string{"i", "n", "j", "g", "d", "e", "i", "d"}).Draw(t, "column")
	case k == 3:
		return rapid.SampledFrom([]string{"0", "1", "2", "3", "-1", "-7", "0.5", "0.01", "2.25", "100", "9223372036854775807", "'4'",
			"NULL", "1e20", "0.333"}).Draw(t, "constant")
	case k == 4:
		return "(- " + drawNumber(t, depth-1) + ")"
	}
	op := rapid.SampledFrom([]string{"+", "-", "*", "/", "%"}).Draw(t, "operator")
	return "(" + drawNumber(t, depth-1) + " " + op + " " + drawNumber(t, depth-1) + ")"
}

var comparisons = rapid.SampledFrom([]string{"=", "<>", "<", "<=", ">", ">="})

func drawCondition(t *rapid.T, depth int) string {
	k := rapid.IntRange(0, 15).Draw(t, "condition")
	if k > 13 {
		return generate.DrawCondition(t, 2)
	}
	if depth == 0 {
		k = min(k, 9)
	}
	compare := comparisons.Draw(t, "comparison")
	switch k {
	case 0, 1, 2:
		return "(" + drawNumber(t, 2) + " " + compare + " " + drawNumber(t, 2) + ")"
	case 3:
		return "(r " + compare + " " + rapid.SampledFrom([]string{"0", "1.5", "i", "j", "d / i", "e / 3", "1e20"}).Draw(t, "real") + ")"
	case 4:
		return rapid.SampledFrom([]string{"s = 'a'", "s <> ''", "s < 'b'", "s >= 'é'", "s IN ('b', 'a', 'x')", "s NOT IN ('a')",
			"s = NULL"}).Draw(t, "text")
	case 5:
		return rapid.SampledFrom([]string{"b", "b = true", "b < true", "b <> false", "b IN (true)", "true", "false", "NULL"}).Draw(t,
			"boolean")
	case 6:
		column := rapid.SampledFrom([]string{"y", "z"}).Draw(t, "date")
		return rapid.SampledFrom([]string{column + " " + compare + " '2024-02-29'", column + " IN ('2024-02-28', '2024-03-01')",
			"y " + compare + " z"}).Draw(t, "dates")
	case 7:
		return drawNumber(t, 1) + " IN (1, 2.5, -1, 50, '3', 0.25)"
	case 8:
		return drawNumber(t, 2) + " BETWEEN -1 AND " + drawNumber(t, 1)
	case 9:
		x := rapid.SampledFrom([]string{"s", "b", "y", "z", "r", drawNumber(t, 2)}).Draw(t, "tested")
		return "(" + x + rapid.SampledFrom([]string{" IS NULL", " IS NOT NULL"}).Draw(t, "null") + ")"
	case 10:
		return "NOT (" + drawCondition(t, depth-1) + ")"
	case 11:
		return "((" + drawCondition(t, depth-1) + ") " + compare + " (" + drawCondition(t, depth-1) + "))"
	}
	op := rapid.SampledFrom([]string{" AND ", " OR "}).Draw(t, "logic")
	parts := make([]string, rapid.IntRange(2, 4).Draw(t, "parts"))
	for i := range parts {
		parts[i] = "(" + drawCondition(t, depth-1) + ")"
	}
	return strings.Join(parts, op)
}

// drawQuestion draws a question. Some are refused, which is the planner's right.
func drawQuestion(t *rapid.T) string {
	var list []string
	for range rapid.IntRange(1, 3).Draw(t, "aggregates") {
		switch rapid.IntRange(0, 5).Draw(t, "aggregate") {
		case 0, 1:
			list = append(list, "COUNT(*)")
		case 2:
			list = append(list, "COUNT("+drawNumber(t, 1)+")")
		case 3:
			list = append(list, "COUNT("+rapid.SampledFrom([]string{"s", "b", "y", "r", "i > 2"}).Draw(t, "counted")+")")
		case 4:
			list = append(list, "SUM("+drawBounded(t, 2)+")")
		default:
			list = append(list, "AVG("+drawBounded(t, 1)+")")
		}
	}
	text := "SELECT " + strings.Join(list, ", ") + " FROM t"
	if rapid.IntRange(0, 3).Draw(t, "where") > 0 {
		text += " WHERE " + drawCondition(t, 2)
	}
	keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"s", "b", "y", "n", "g"}), 0, 3, rapid.ID).Draw(t, "keys")
	if len(keys) > 0 {
		text += " GROUP BY " + strings.Join(keys, ", ")
	}
	return text
}

// drawBounded draws a number that can be summed.
func drawBounded(t *rapid.T, depth int) string {
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "bounded") == 0 {
		return rapid.SampledFrom([]string{"i", "n", "g", "d", "3", "0.5"}).Draw(t, "column")
	}
	op := rapid.SampledFrom([]string{"+", "-", "*"}).Draw(t, "operator")
	if rapid.IntRange(0, 2).Draw(t, "function") == 0 {
		x, y := drawBounded(t, depth-1), drawBounded(t, depth-1)
		return rapid.SampledFrom([]string{"abs(" + x + ")", "round(" + x + ")", "round(" + x + " / 3.0, 1)", "floor(" + x + ")",
			"greatest(" + x + ", " + y + ")", "coalesce(" + x + ", " + y + ")", "nullif(" + x + ", " + y + ")",
			"CASE WHEN " + drawCondition(t, 0) + " THEN " + x + " ELSE " + y + " END", "least(greatest(j, -3), " + "7)",
			"length(left(x, 4))", "extract(day from z)", "CAST(x AS numeric(4,1))", "CAST(b AS integer)", "y - DATE '2024-02-28'",
			"extract(hour from q)"}).Draw(t, "call")
	}
	if rapid.IntRange(0, 4).Draw(t, "divide") == 0 {
		return fmt.Sprintf("(i %s %s)", rapid.SampledFrom([]string{"/", "%"}).Draw(t, "division"),
			rapid.SampledFrom([]string{"n", "2", "-3", "i", "0"}).Draw(t, "divisor"))
	}
	return "(" + drawBounded(t, depth-1) + " " + op + " " + drawBounded(t, depth-1) + ")"
}

// TestWideConstants: a constant is refused, or every row can be computed with it. One
// that fails on the rows that reach it tells which rows there are.
func TestWideConstants(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS "+hostileRows)
	e := open(t, dataset(t, folder, "source: t.duckdb"+hostileKeys))
	accepted, refused := 0, 0
	turn := turnOf(t, 6)
	for i, n := range []string{"1e18", "1e19", "1e30", "1e35", "1e36", "1e37", "1e38", "1e39", "1e60", "1e250", "1e400", "1e-18",
		"1e-30", "1e-35", "1e-36", "1e-39", "1e-250"} {
		for k, spelled := range []string{n, "'" + n + "'", "-" + n, "'-" + n + "'"} {
			if !daily.Full() && k%2 != (turn+i)%2 {
				continue
			}
			for c, condition := range []string{
				"i + N > 0", "i - N > 0", "i * N > 0", "i / N > 0", "i % N > 0", "N / i > 0", "N % i > 0", "j + N > 0", "j * N > 0",
				"d + N > 0", "d * N > 0", "d / N > 0",
				"d / 3.0 - N > 0", "d / 3.0 * N > 0", "d / 3.0 / N > 0", "d / 3.0 > N", "r > N", "j = N", "d IN (1, N)",
				"d / 3.0 IN (1, N)", "d BETWEEN N AND 5",
			} {
				if !daily.Full() && (c+i+turn)%3 != 0 {
					continue
				}
				p, err := prepareOne(e.dataset, "SELECT COUNT(*) FROM t WHERE "+strings.ReplaceAll(condition, "N", spelled))
				if err != nil {
					refused++
					continue
				}
				accepted++
				if _, err := e.Run(t.Context(), &p.Query); err != nil {
					t.Errorf("%s with %s: %v", condition, spelled, err)
				}
			}
		}
	}
	if accepted < rounds(25, 200) || refused < rounds(25, 200) {
		t.Errorf("%d accepted and %d refused: this tests little", accepted, refused)
	}
}
