package verify_test

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/planner/verify"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// load reads a dataset of the test data of package planner.
func load(t testing.TB, file, name string) *policy.Dataset {
	t.Helper()
	p, err := policy.Load(filepath.Join("../testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets[name]
}

func parsed(t testing.TB, text string) *policy.Dataset {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets["d"]
}

// golden are the questions of the test data of package planner, refused ones too.
func golden(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	var out []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range strings.Split(string(text), "====\n")[1:] {
			question, _, _ := strings.Cut(c, "----\n")
			out = append(out, strings.TrimSuffix(question, "\n"))
		}
	}
	return out
}

type columns struct{}

func (columns) Values(_, column string, _ int) ([]policy.Value, error) {
	if column == "low" || column == "code" || column == "beds" {
		return []policy.Value{{Type: policy.Integer, Int: 20}, {Type: policy.Integer, Int: 60}}, nil
	}
	return []policy.Value{{Type: policy.Text, Text: "north"}, {Type: policy.Text, Text: "south"}}, nil
}

func (columns) Most(string, []string) (int64, error)     { return 2, nil }
func (columns) Rows(string, int) ([][]tree.Value, error) { return nil, nil }

// each calls f for every private query of a corpus: the golden questions of package planner, and as
// many random ones as are asked for of each world.
func each(t testing.TB, random int, f func(ds *policy.Dataset, public tree.Public, text string, q *tree.Query)) {
	t.Helper()
	seed := uint64(7)
	if !daily.Full() {
		seed += uint64(daily.Turn(1000)) // others every day
	}
	hospital := tight(load(t, "hospital.yaml", "hospital"))
	ask := func(ds *policy.Dataset, text string, o planner.Options) {
		st, err := generate.Prepare(ds, text, o)
		if err != nil {
			return
		}
		for _, p := range st.Plans {
			f(ds, o.Public, text, &p.Query)
		}
	}
	for _, text := range golden(t, "*.txt") {
		ask(hospital, text, planner.Options{Public: columns{}})
	}
	shop := tight(parsed(t, shopPolicy))
	for _, text := range shopQuestions {
		ask(shop, text, planner.Options{Public: columns{}})
	}
	for i, ds := range generate.Worlds() {
		db := generate.Make(generate.NewDice("language", 1), ds)
		public := reference.New(ds, db.Tables).Public()
		maker := generate.NewMaker(ds, planner.Options{Public: public})
		d := generate.NewDice(fmt.Sprint("verify ", i), seed)
		for range random {
			ask(ds, maker.Question(d), planner.Options{Public: public})
		}
	}
}

// tight makes limits so small that people exceed them.
func tight(ds *policy.Dataset) *policy.Dataset {
	for _, t := range ds.Tables {
		if t.UnitKind == policy.Many {
			t.MaxRows, t.MaxGroups = min(t.MaxRows, 2), min(t.MaxGroups, 2)
		}
	}
	return ds
}

// checked is all that the second check looks at.
func checked(ds *policy.Dataset, public tree.Public, q *tree.Query) error {
	if err := verify.Query(ds, q); err != nil {
		return err
	}
	return verify.Work(ds, public, q)
}

// TestHonest: nothing that package planner builds of honest questions is refused.
func TestHonest(t *testing.T) {
	random := daily.Rounds(35, 5000)
	asked, wrong := 0, 0
	visit := func(ds *policy.Dataset, public tree.Public, text string, q *tree.Query) {
		asked++
		if err := checked(ds, public, q); err != nil && wrong < 20 {
			wrong++
			t.Errorf("%s\n%v\n%s", text, err, q.Format())
		}
	}
	each(t, random, visit)
	eachSharp(random/10, visit)
	t.Logf("%d queries", asked)
	if asked < daily.Rounds(500, 1000) {
		t.Error("too few queries for a test")
	}
}

// TestHonestWindows: every window that package planner takes is taken here too.
func TestHonestWindows(t *testing.T) {
	ds, asked := load(t, "hospital.yaml", "hospital"), 0
	for _, call := range []string{"first_value(X)", "last_value(X)", "nth_value(X, 2)", "lag(X)", "lead(X, 2, X)", "min(X)", "max(X)",
		"count(X)", "rank()", "ntile(3)"} {
		for _, x := range []string{"day", "cost", "cost / 3.0", "ward", "cost > 3", "weight"} {
			for _, order := range []string{"day", "cost / 3.0", "ward DESC, cost", "CAST(cost AS double precision), day"} {
				for _, frame := range []string{"", " RANGE CURRENT ROW", " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
					" ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"} {
					text := fmt.Sprintf("SELECT COUNT(x) FROM (SELECT pid, %s OVER (PARTITION BY pid ORDER BY %s%s) AS x FROM visits) t",
						strings.ReplaceAll(call, "X", x), order, frame)
					st, err := planner.Prepare(ds, text, planner.Options{Public: columns{}})
					if err != nil {
						continue
					}
					asked++
					if err := checked(ds, columns{}, &st.Plans[0].Query); err != nil {
						t.Errorf("%s\n%v", text, err)
					}
				}
			}
		}
	}
	if asked < 400 {
		t.Error("too few windows for a test", asked)
	}
}

func noteFunctions(e tree.Expr, functions map[string]bool) {
	if e != nil {
		tree.Walk(e, func(x tree.Expr) {
			if c, ok := x.(*tree.Call); ok {
				functions[c.Fn] = true
			}
		})
	}
}

// TestHonestTables is TestHonest for rows to train on.
func TestHonestTables(t *testing.T) {
	ds, asked := load(t, "hospital.yaml", "hospital"), 0
	for _, c := range golden(t, "table/*.txt") {
		text, target, _ := strings.Cut(c, "\n=> ")
		table, err := planner.PrepareTable(ds, text, target, planner.Options{Public: columns{}})
		if err != nil {
			continue
		}
		asked++
		if err := errors.Join(verify.Table(ds, table), verify.TableWork(ds, columns{}, table)); err != nil {
			t.Errorf("%s\n%v\n%s", c, err, table.Format())
		}
	}
	if asked < 10 {
		t.Error("too few tables for a test", asked)
	}
}

// TestHonestHoldouts is TestHonest for questions to holdouts.
func TestHonestHoldouts(t *testing.T) {
	p, err := policy.Load("../testdata/holdout/trial.yaml")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, ds := range p.Datasets {
		for _, text := range golden(t, "holdout/*.txt") {
			h, err := planner.PrepareHoldout(ds, syntax.Open(text, nil), "", planner.Options{Public: columns{}})
			if err != nil {
				continue
			}
			asked++
			if err := verify.Holdout(ds, h); err != nil {
				t.Errorf("%s\n%v\n%s", text, err, h.Query.Format())
			}
		}
	}
	if asked < 5 {
		t.Error("too few questions for a test", asked)
	}
}

// shopPolicy is about customers with orders, which have items, which have parts; and public
// products and their tags.
const shopPolicy = `datasets:
  d:
    engine: duckdb
    source: x.duckdb
    unit: customers.cid
    budget: {epsilon: 1, delta: 1e-6}
    analysts: {a: {}}
    tables:
      customers: {unique: cid, columns: {region: {type: text, keys: [N, S, W]}, age: {type: integer, bounds: [0, 100]}, city: {type: text, keys: private}}}
      orders:
        path: cust -> customers.cid
        max_rows: 5
        max_groups: 3
        columns: {code: {type: integer, bounds: [0, 9]}, amount: {type: integer, bounds: [0, 50]}, shop: {type: text, keys: private}}
      items: {path: order_id -> orders.oid, max_rows: 3, max_groups: 2, columns: {qty: {type: integer, bounds: [0, 10]}}}
      parts: {path: item -> items.iid, max_rows: 4, max_groups: 1, columns: {w: {type: integer, bounds: [-10, 10]}}}
      products: {public: true, unique: code, columns: {code: {type: integer}, label: {type: text, nullable: false}}}
      tags: {public: true, max_rows: 2, columns: {code: {type: integer}, tag: {type: text, nullable: false}}}
`

// shopQuestions are about every kind of join, by every kind of link.
var shopQuestions = []string{
	"SELECT o.shop, SUM(o.amount), COUNT(DISTINCT o.cust) FROM orders o GROUP BY o.shop",
	"SELECT i.qty, COUNT(*), SUM(i.qty) FROM items i GROUP BY i.qty",
	"SELECT MEDIAN(p.w), SUM(p.w), COUNT(*) FROM parts p",
	"SELECT c.region, SUM(c.age + o.amount) FROM customers c JOIN orders o ON c.cid = o.cust GROUP BY c.region",
	"SELECT c.city, o.shop, COUNT(*) FROM customers c LEFT JOIN orders o ON c.cid = o.cust AND o.amount > 3 GROUP BY c.city, o.shop",
	"SELECT SUM(o.amount * i.qty) FROM orders o JOIN items i ON o.oid = i.order_id",
	"SELECT i.qty, SUM(p.w) FROM items i LEFT JOIN parts p ON i.iid = p.item AND p.w > 0 GROUP BY i.qty",
	"SELECT r.shop, SUM(o.amount) FROM orders o JOIN orders r ON o.cust = r.cust AND o.amount <= r.amount GROUP BY r.shop",
	"SELECT t.tag, SUM(o.amount) FROM orders o JOIN tags t ON o.code = t.code GROUP BY t.tag",
	"SELECT t.tag, COUNT(*) FROM customers c CROSS JOIN tags t GROUP BY t.tag",
	"SELECT d.label, COUNT(*), SUM(c.age) FROM customers c JOIN products d ON d.code = c.age % 4 GROUP BY d.label",
	"SELECT d.label, SUM(o.amount) FROM orders o JOIN products d ON o.code = d.code JOIN tags t ON t.code = d.code GROUP BY d.label",
	"SELECT SUM(x.n), SUM(x.s), SUM(x.lo) FROM (SELECT cust, COUNT(*) AS n, SUM(amount) AS s, MIN(code) AS lo, COUNT(shop) AS v FROM " +
		"orders o GROUP BY cust) AS x",
	"SELECT c.region, SUM(x.n), AVG(x.s) FROM customers c LEFT JOIN (SELECT cust, COUNT(*) AS n, SUM(amount) AS s FROM orders o WHERE " +
		"code > 2 GROUP BY cust) AS x ON c.cid = x.cust GROUP BY c.region",
	"SELECT SUM(y.a) FROM (SELECT amount AS a, cust FROM orders o UNION ALL SELECT age, cid FROM customers UNION ALL SELECT qty, " +
		"order_id FROM items) AS y",
	"SELECT y.shop, COUNT(*) FROM (SELECT shop, code, cust FROM orders o WHERE amount > 2 UNION ALL SELECT shop, code + 0, cust FROM " +
		"orders) AS y GROUP BY y.shop",
	"SELECT SUM(y.a * i.qty) FROM (SELECT o.oid, o.shop, amount * 2 AS a FROM orders o) AS y JOIN items i ON i.order_id = y.oid",
	"SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM orders e WHERE e.cust = o.cust AND e.amount > o.amount)",
	"SELECT COUNT(*) FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders e JOIN items g ON e.oid = g.order_id WHERE e.cust = c.cid " +
		"AND g.qty > c.age)",
	"SELECT COUNT(*) FROM customers c WHERE c.cid IN (SELECT cust FROM orders WHERE amount > 3)",
	"SELECT COUNT(*) FROM orders o WHERE o.code < 3 OR EXISTS (SELECT 1 FROM tags q WHERE q.code = o.code AND q.tag <> 'red')",
	"SELECT SUM((SELECT COUNT(*) FROM orders o WHERE o.cust = c.cid)), SUM((SELECT MAX(amount) FROM orders o WHERE o.cust = c.cid)) FROM " +
		"customers c WHERE EXISTS (SELECT 1 FROM orders e WHERE e.cust = c.cid)",
	"SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders e WHERE e.cust = c.cid AND EXISTS (SELECT 1 FROM items i WHERE " +
		"i.order_id = e.oid AND i.qty > c.age))",
	"SELECT age FROM customers GROUP BY age ORDER BY (age - 50) * COUNT(*) DESC LIMIT 2",
	"SELECT region FROM orders o JOIN customers c ON c.cid = o.cust GROUP BY region ORDER BY SUM(amount - 10) DESC LIMIT 1",
	"SELECT SUM(greatest(0, least(10, age - 50))), SUM(round(age / 3.0, 1)), SUM(width_bucket(age, 0, 100, 7)) FROM customers",
	"SELECT SUM(length(CAST(age * 1.5 AS text))), COUNT(*) FILTER (WHERE CAST(age AS text) LIKE '1%') FROM customers",
	"SELECT VARIANCE(age), STDDEV(amount), AVG(amount * code) FROM customers c JOIN orders o ON o.cust = c.cid",
}

// Tables of GROUP BY CUBE are derived again like all else, and each mistake that a builder could
// make is seen.
func TestCubes(t *testing.T) {
	ds := load(t, "hospital.yaml", "hospital")
	for _, text := range []string{
		"SELECT sex, smoker, COUNT(*), SUM(age) FROM patients GROUP BY CUBE (sex, smoker)",
		"SELECT sex, age >= 40, COUNT(smoker) FROM patients WHERE sex IN ('F', 'M') GROUP BY GROUPING SETS ((age >= 40), (age >= 40, sex))",
		"SELECT CASE WHEN age < 20 THEN 'a' ELSE 'b' END, sex, COUNT(DISTINCT pid) FROM patients GROUP BY ROLLUP (1, 2)",
	} {
		st, err := planner.Prepare(ds, text, planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(st.Cubes) != 1 {
			t.Fatalf("%s: %d tables", text, len(st.Cubes))
		}
		c := st.Cubes[0]
		check := func() error { return verify.Cube(ds, c, st.Plans) }
		if err := check(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		good := *c
		last := len(c.Query.Keys) - 1
		for name, plant := range map[string]func(){
			"another dataset":        func() { c.Query.Dataset = "other" },
			"a person in two groups": func() { c.Query.GroupLimit = 2 },
			"a private key":          func() { c.Query.Keys[last] = tree.Key{Expr: c.Query.Keys[last].Expr, Private: true} },
			"a value twice": func() {
				k := &c.Query.Keys[last]
				k.Values = append(slices.Clip(k.Values), k.Values[0])
			},
			"a value less":              func() { c.Query.Keys[last].Values = c.Query.Keys[last].Values[1:] },
			"a key less":                func() { c.Sets[0] = c.Sets[0][1:] },
			"a key twice":               func() { c.Sets[0][0] += len(c.Query.Keys) },
			"a set less":                func() { c.Sets = c.Sets[1:] },
			"no measure":                func() { c.Query.Measures = nil },
			"a measure of quantiles":    func() { c.Query.Measures[0].Kind, c.Query.Measures[0].At = tree.Quantile, []*big.Rat{tree.One} },
			"a count of values":         func() { c.Query.Measures[0] = tree.Measure{Kind: tree.CountDistinct, Arg: c.Query.Keys[0].Expr} },
			"it is hidden or it is not": func() { c.Hidden[last] = !c.Hidden[last] },
			"rows of several":           func() { c.Query.From = manyRows(t, ds) },
			"a choice":                  func() { c.Query.Choice = &tree.Choice{K: 1} },
		} {
			*c = good
			c.Query.Keys, c.Query.Measures = slices.Clone(good.Query.Keys), slices.Clone(good.Query.Measures)
			c.Sets, c.Hidden = slices.Clone(good.Sets), slices.Clone(good.Hidden)
			for i := range c.Sets {
				c.Sets[i] = slices.Clone(good.Sets[i])
			}
			plant()
			if check() == nil {
				t.Errorf("%s: %s was not seen", text, name)
			}
		}
		*c = good
	}
}

// manyRows is a relation in which people have several rows.
func manyRows(t *testing.T, ds *policy.Dataset) tree.Relation {
	st, err := planner.Prepare(ds, "SELECT COUNT(*) FROM visits", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return st.Plans[0].Query.From
}

// Where people have several rows, or something does not add up, sets have no table.
func TestNoCubes(t *testing.T) {
	ds := load(t, "hospital.yaml", "hospital")
	for _, text := range []string{
		"SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)",
		"SELECT sex, MEDIAN(age) FROM patients GROUP BY ROLLUP (sex)",
		"SELECT sex, COUNT(DISTINCT zip) FROM patients GROUP BY ROLLUP (sex)",
		"SELECT sex, COUNT(*) FROM patients GROUP BY sex",
		"SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM patients WHERE smoker",
	} {
		st, err := planner.Prepare(ds, text, planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(st.Cubes) != 0 {
			t.Errorf("%s has a table", text)
		}
	}
}

// What every row is compared with, to know whether its keys are listed, is bounded by a number that
// is no analyst's: a range of days has two ends, however long it is, and sets of a key with many
// other values are bought one by one. So are those of a key that has NULL alone.
func TestCubesListFewValues(t *testing.T) {
	ds := load(t, "hospital.yaml", "hospital")
	const months = "SELECT date_trunc('month', born), COUNT(*) FROM patients "
	for text, together := range map[string]bool{
		"SELECT born, sex, COUNT(*) FROM patients WHERE born BETWEEN '1900-01-01' AND '1930-12-31' GROUP BY CUBE (1, 2)": true,
		months + "WHERE born BETWEEN '1900-01-01' AND '1930-12-31' GROUP BY ROLLUP (1)":                                  true,
		months + "WHERE born BETWEEN '1500-01-01' AND '1930-12-31' GROUP BY ROLLUP (1)":                                  false,
		"SELECT sex, smoker, COUNT(*) FROM patients WHERE sex IS NULL GROUP BY CUBE (sex, smoker)":                       false,
		"SELECT CAST(NULL AS TEXT), COUNT(*) FROM patients GROUP BY ROLLUP (1)":                                          false,
	} {
		st, err := planner.Prepare(ds, text, planner.Options{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := len(st.Cubes) == 1; got != together {
			t.Errorf("%s: together %v", text, got)
		}
		for _, c := range st.Cubes {
			if err := verify.Cube(ds, c, st.Plans); err != nil {
				t.Errorf("%s: %v", text, err)
			}
			for _, k := range c.Query.Keys {
				tree.Walk(k.Expr, func(e tree.Expr) {
					if in, ok := e.(*tree.In); ok && len(in.List) > 1<<10 {
						t.Errorf("%s: every row is compared with %d values", text, len(in.List))
					}
				})
			}
		}
	}
}
