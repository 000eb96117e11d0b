package duckdb

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// crowd is the rows of a random shop. Numbers of orders and items are unique, as the policy
// promises; nothing else is ordinary.
type crowd struct {
	customers, orders, items, parts strings.Builder
	order, item                     int
}

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// add gives a person a row, and orders with items with parts.
func (c *crowd) add(r *rand.Rand, person string, known bool, orders int) {
	if known {
		fmt.Fprintf(&c.customers, "%s,%s,%d,%s\n", person, pick(r, "N", "S", "other", ""), pick(r, -500, 0, 50, 100, 9999),
			pick(r, "Rome", "Oslo", "", "only "+person))
	}
	for range orders {
		c.order++
		fmt.Fprintf(&c.orders, "%d,%s,%d,%d,%s\n", c.order, person, pick(r, 1, 2, 3, 7), pick(r, -1000, 0, 1, 2, 50, 1000),
			pick(r, "x", "y", "z", "", "of "+person))
		for range r.IntN(6) {
			c.item++
			fmt.Fprintf(&c.items, "%d,%d,%d\n", c.item, c.order, pick(r, -99, 0, 1, 2, 3, 10, 99))
			for range r.IntN(4) {
				fmt.Fprintf(&c.parts, "%d,%d\n", c.item, pick(r, -99, 99, 1))
			}
		}
	}
}

// shops are neighbours: without somebody, with them, and with somebody else in their place. Who
// goes takes their orders along, with items and parts.
func shops(t testing.TB, seed uint64) family {
	build := func(target string) *Engine {
		r := rand.New(rand.NewPCG(seed, 1)) // the others are the same each time
		rows, groups := 1+r.IntN(3), 1+r.IntN(3)
		var c crowd
		for k := range 6 {
			c.add(r, fmt.Sprint(k), k != 3, r.IntN(5))
		}
		c.add(r, "", true, 2) // nobody
		c.items.WriteString("9000,8000,1\n")
		c.parts.WriteString("9001,1\n9000,2\n")
		if target != "" {
			r := rand.New(rand.NewPCG(seed, uint64(len(target))))
			c.order, c.item = 500, 5000
			c.add(r, target, r.IntN(4) > 0, pick(r, 0, 1, 4, 60))
		}
		folder := t.TempDir()
		source := storeShop(t, folder, "csv", nil, map[string]string{
			"customers": c.customers.String(), "orders": c.orders.String(), "items": c.items.String(), "parts": c.parts.String(),
			// More tags for a code than the policy says.
			"tags": "1,blue\n1,red\n1,green\n1,blue\n1,white\n2,blue\n2,red\n3,red\n7,grey\n",
		})
		return open(t, shopDataset(t, folder, source, "add-remove", rows, groups))
	}
	return family{build(""), build("37"), build("408")}
}

// moved compares the results of neighbours with all that was promised about them, and says where
// they are farther apart.
func moved(q *tree.Query, a, b *engine.Result, relation dp.Neighbours) string {
	as := *q
	as.Neighbours = relation
	most := q.MaxGroups()
	if relation == dp.Substitute {
		most *= 2
	}
	x, y := byGroup(q, a), byGroup(q, b)
	groups := map[string]bool{}
	for g := range x {
		groups[g] = true
	}
	for g := range y {
		groups[g] = true
	}
	for m, measure := range q.Measures {
		l1, l2, quantiles := new(big.Int), new(big.Int), int64(0)
		for g := range groups {
			if measure.Kind == tree.Quantile {
				n := listDistance(x[g].values[m], y[g].values[m])
				if n > 0 {
					quantiles++
				}
				if n > 2*q.MaxRows() || relation == dp.AddRemove && n > q.MaxRows() {
					return fmt.Sprintf("%d values of %s moved in one group", n, measure.Describe())
				}
				continue
			}
			d := big.NewInt(x[g].sums[m])
			d.Sub(d, big.NewInt(y[g].sums[m]))
			l1.Add(l1, new(big.Int).Abs(d))
			l2.Add(l2, d.Mul(d, d))
		}
		if quantiles > most {
			return fmt.Sprintf("%s moved in %d groups", measure.Describe(), quantiles)
		}
		if measure.Kind == tree.Quantile {
			continue
		}
		if limit := as.Sensitivity(measure, dp.L1).L1(); l1.Cmp(limit) > 0 {
			return fmt.Sprintf("%s moved by %v in l1, and by at most %v was promised", measure.Describe(), l1, limit)
		}
		if limit := as.Sensitivity(measure, dp.L2).L2Squared(); l2.Cmp(limit) > 0 {
			return fmt.Sprintf("%s moved by sqrt %v in l2, and by at most sqrt %v was promised", measure.Describe(), l2, limit)
		}
	}
	combos := int64(0)
	p, r := byCombo(a), byCombo(b)
	for _, c := range slices.Concat(keysOf(p), keysOf(r)) {
		if d := p[c] - r[c]; d < -1 || d > 1 {
			return fmt.Sprintf("%d people moved in one combination", d)
		} else if d != 0 {
			combos++
			delete(p, c)
			delete(r, c)
		}
	}
	if combos > most {
		return fmt.Sprintf("people moved in %d combinations", combos)
	}
	return ""
}

func keysOf(m map[string]int64) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

type entry struct {
	sums   map[int]int64
	values map[int][]int64
}

// byGroup takes a result apart by the spelling of private keys and the place among public ones.
func byGroup(q *tree.Query, r *engine.Result) map[string]entry {
	combos := []string{""}
	if len(q.PrivateKeys()) > 0 {
		combos = nil
		for i := range r.Persons.Len() {
			combos = append(combos, fmt.Sprintf("%q", r.Combos.Pick([]int{i})))
		}
	}
	out := map[string]entry{}
	for i, c := range combos {
		for g := range q.Groups() {
			e := entry{map[int]int64{}, map[int][]int64{}}
			for m, measure := range q.Measures {
				if measure.Kind == tree.Quantile {
					e.values[m] = r.Values[m][i*q.Groups()+g].Open()
				} else {
					e.sums[m] = r.Measures[m].Open()[i*q.Groups()+g]
				}
			}
			out[fmt.Sprint(c, g)] = e
		}
	}
	return out
}

func byCombo(r *engine.Result) map[string]int64 {
	out := map[string]int64{}
	for i, n := range r.Persons.Open() {
		out[fmt.Sprintf("%q", r.Combos.Pick([]int{i}))] = n
	}
	return out
}

// listDistance is how many values must be added or taken away to make one list of the other.
func listDistance(a, b []int64) int64 {
	count := map[int64]int64{}
	for _, v := range a {
		count[v]++
	}
	for _, v := range b {
		count[v]--
	}
	n := int64(0)
	for _, c := range count {
		n += max(c, -c)
	}
	return n
}

// shopFar runs a question on neighbours and says where they are too far apart.
func (f family) shopFar(t testing.TB, q *tree.Query, mutate func(string) string) string {
	var results [3]*engine.Result
	for i, e := range []*Engine{f.without, f.with, f.replaced} {
		changed, _ := mutant(e.now.Statements(q), mutate)
		var err error
		if results[i], err = e.now.Run(t.Context(), q, changed); err != nil {
			return "it does not run"
		}
	}
	for _, pair := range []struct {
		relation dp.Neighbours
		a, b     int
	}{{dp.AddRemove, 0, 1}, {dp.AddRemove, 0, 2}, {dp.Substitute, 1, 2}} {
		if far := moved(q, results[pair.a], results[pair.b], pair.relation); far != "" {
			return far
		}
	}
	return ""
}

// shopQuestions are those of shopAnswers and some more.
func shopQuestions() []string {
	out := []string{
		"SELECT shop, COUNT(*), COUNT(DISTINCT code), MEDIAN(amount), SUM(amount) FROM orders GROUP BY shop",
		"SELECT shop, code, COUNT(*), COUNT(DISTINCT amount), MEDIAN(amount), COUNT(DISTINCT cust) FROM orders GROUP BY shop, code",
		"SELECT code, COUNT(DISTINCT amount), MEDIAN(amount), SUM(amount - 25) FROM orders GROUP BY code",
		"SELECT tag, COUNT(*), SUM(amount), MEDIAN(amount), COUNT(DISTINCT amount) FROM orders o JOIN tags t ON o.code = t.code GROUP BY " +
			"tag",
		"SELECT tag, shop, COUNT(*), MEDIAN(qty) FROM orders o JOIN items i ON o.oid = i.order_id JOIN tags t ON o.code <= t.code GROUP " +
			"BY tag, shop",
		"SELECT o.shop, COUNT(*), SUM(w), MEDIAN(w) FROM orders o JOIN items i ON o.oid = i.order_id JOIN parts p ON p.item = i.iid " +
			"GROUP BY o.shop",
		"SELECT region, SUM(n), MEDIAN(total) FROM customers c LEFT JOIN (SELECT cust, COUNT(*) AS n, SUM(amount) AS total FROM orders " +
			"GROUP BY cust) AS x ON c.cid = x.cust GROUP BY region",
		"SELECT COUNT(*), SUM(x) FROM (SELECT amount AS x FROM orders UNION ALL SELECT qty FROM items UNION ALL SELECT w FROM parts) AS u",
	}
	for _, c := range shopAnswers {
		if c.want != "refused" {
			out = append(out, c.text)
		}
	}
	return out
}

// TestShopNeighbours: nobody, whatever they have in however many tables, moves an answer farther
// than its noise is calibrated to.
func TestShopNeighbours(t *testing.T) {
	for _, seed := range seeds(t, 1, 5) {
		f := shops(t, seed)
		for _, text := range daily.Sample(t, shopQuestions(), 10) {
			q := question(t, f.with, text)
			if far := f.shopFar(t, q, unchanged); far != "" {
				t.Errorf("%s\n%s\n%v", text, far, runAgain(t, f.with, q))
			}
		}
		f.close()
	}
}

// TestPlantedShopNeighbours shows that the comparison finds engines that bound people wrongly.
func TestPlantedShopNeighbours(t *testing.T) {
	var opened []family // by their seeds
	whole := t
	defer func() {
		for _, f := range opened {
			f.close()
		}
	}()
	unclamped := regexp.MustCompile(`CAST\(CASE WHEN coalesce\(m(\d), 0\) .*? END AS HUGEINT\)`)
	replace := func(old, new string) func(string) string {
		return func(text string) string { return regexp.MustCompile(old).ReplaceAllString(text, new) }
	}
	for name, mutate := range map[string]func(string) string{
		"rows are cut before the join": func(text string) string {
			text = strings.ReplaceAll(text, `FROM "csv orders"`,
				`FROM (SELECT * FROM "csv orders" QUALIFY row_number() OVER (PARTITION BY cust ORDER BY oid) <= 1)`)
			return unclamped.ReplaceAllString(text, "CAST(coalesce(m$1, 0) AS HUGEINT)")
		},
		"groups are not cut":            replace(` n <= \d+`, " true"),
		"values are not cut":            replace(` i <= \d+`, " true"),
		"people are counted by partial": replace(`count\(DISTINCT u\)`, "count(*)"),
		"groups of values are not cut":  replace(`(i <= \d+) AND n <= \d+`, "$1"),
		"a person's sum is clamped nowhere": func(text string) string {
			text = regexp.MustCompile(`CASE WHEN f1 < 0 THEN 0 WHEN .*? END`).ReplaceAllString(text, "f1 * 1000")
			return regexp.MustCompile(`CASE WHEN (TRY_CAST\(a\d AS BIGINT\)) < .*? END`).ReplaceAllString(unclamped.ReplaceAllString(text,
				"CAST(coalesce(m$1, 0) AS HUGEINT)"), "$1")
		},
		"what is kept depends on others": replace(`hash\(CAST\(\$(\d+) AS VARCHAR\), u, `,
			`hash(CAST($$$1 AS VARCHAR), u, (SELECT count(*) FROM p), `),
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(12) {
				if int(seed) == len(opened) {
					opened = append(opened, shops(whole, seed))
				}
				f := opened[seed]
				for _, text := range shopQuestions() {
					if strings.Contains(name, "join") && !strings.Contains(text, "JOIN tags") {
						continue
					}
					q := question(t, f.with, text)
					if _, changed := mutant(f.with.now.Statements(q), mutate); !changed {
						continue
					}
					if far := f.shopFar(t, q, mutate); far != "" && far != "it does not run" {
						t.Logf("found by %s: %s", text, far)
						return
					}
				}
			}
			t.Error("not found")
		})
	}
}

// TestPlantedShop shows that the answers computed by hand find an engine that takes the wrong unit,
// counts rows of nobody, or fails over one.
func TestPlantedShop(t *testing.T) {
	folder := t.TempDir()
	types := map[string]string{"orders": strings.Replace(shopTypes["orders"], "cust INTEGER", "cust HUGEINT", 1)}
	rows := map[string]string{"orders": strings.Replace(shopRows["orders"], "40,9,", "40,-170141183460469231731687303715884105728,", 1)}
	e := open(t, shopDataset(t, folder, storeShop(t, folder, "duckdb", types, rows), "add-remove", 2, 2))
	replace := func(pairs ...string) func(string) string {
		return func(text string) string {
			for i := 0; i < len(pairs); i += 2 {
				text = regexp.MustCompile(pairs[i]).ReplaceAllString(text, pairs[i+1])
			}
			return text
		}
	}
	for name, planted := range map[string]struct {
		in     string // part of the questions to try
		mutate func(string) string
		fails  bool
	}{
		// The unit of customers LEFT JOIN orders is f3; that of the right side is its f3 too.
		"the right side's unit": {"LEFT JOIN orders o ON c.cid = o.cust",
			replace(`SELECT (.*?)t2\.f3 AS f3`, `SELECT ${1}t3.f3 AS f3`), false},
		"orphans are counted": {"FROM items", replace(`\) AS t2 JOIN \(`, `) AS t2 LEFT JOIN (`, `t1\.f\d+ IS NOT NULL`,
			"true"), false},
		"rows of nobody are counted":  {"FROM orders", replace(`t1\.f\d+ IS NOT NULL`, "true"), false},
		"numbers are cut to 32 bits":  {"JOIN orders", replace(`TRY_CAST\(("cid"|"cust") AS VARCHAR\)`, "CAST($1 AS INTEGER)"), true},
		"people are not counted once": {"COUNT(DISTINCT cust)", replace(`> 1 THEN 1 `, "> 9 THEN 9 "), false},
		"a LEFT JOIN loses rows":      {"LEFT JOIN", replace(` LEFT JOIN `, " JOIN "), false},
		"a LEFT JOIN finds only pairs": {"ON c.cid = o.cust AND EXISTS",
			replace(` UNION ALL SELECT .*? NOT IN \(SELECT n FROM pt\d+\)`, ""), false},
		"EXISTS is not about the row": {"EXISTS (SELECT 1 FROM orders",
			replace(`\(t1\.f\d+ = t2\.f\d+\)`, "true", `\(t2\.f\d+ = t1\.f\d+\)`, "true"), false},
		"counts are cut too far": {"GROUP BY cust) AS x", replace(`WHEN f1 > 2 THEN 2`, "WHEN f1 > 1 THEN 1"), false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range shopAnswers {
				if c.want == "refused" || !strings.Contains(c.text, planted.in) {
					continue
				}
				q := question(t, e, c.text)
				changed, ok := mutant(e.now.Statements(q), planted.mutate)
				if !ok {
					continue
				}
				got, err := e.now.Run(t.Context(), q, changed)
				if planted.fails && err != nil || !planted.fails && err == nil && describeResult(q, got) != c.want {
					t.Logf("found by %s", c.text)
					return
				}
			}
			t.Error("not found")
		})
	}
}

// keptGroups returns in which groups a result has something, for each measure.
func keptGroups(q *tree.Query, r *engine.Result) [][]int {
	out := make([][]int, len(q.Measures))
	for m := range q.Measures {
		for g := range r.Persons.Len() {
			if r.Values[m] != nil && r.Values[m][g].Len() > 0 || r.Values[m] == nil && r.Measures[m].Open()[g] != 0 {
				out[m] = append(out[m], g)
			}
		}
	}
	return out
}

// TestSameGroups: whatever a question measures, it keeps the same groups of a person. Otherwise
// somebody would be in twice as many.
func TestSameGroups(t *testing.T) {
	folder := t.TempDir()
	var orders strings.Builder
	for i, shop := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		for k := range 3 {
			orders.WriteString(strings.Join([]string{string(rune('A'+i)) + string(rune('0'+k)), "1", string(rune('1' + k)),
				string(rune('1' + k)), shop}, ",") + "\n")
		}
	}
	e := open(t, shopDataset(t, folder, storeShop(t, folder, "csv", nil, map[string]string{"orders": orders.String(), "items": ""}),
		"add-remove", 2, 4))
	same := func(q *tree.Query, mutate func(string) string) bool {
		changed, _ := mutant(e.now.Statements(q), mutate)
		if len(changed) != 5 {
			t.Fatalf("%d statements", len(changed))
		}
		r := must(e.now.Run(t.Context(), q, changed))(t)
		kept := keptGroups(q, r)
		for _, k := range kept {
			if len(k) != 4 || !slices.Equal(k, kept[0]) {
				return false
			}
		}
		return r.Persons.Len() == 4
	}
	planted := 0
	for _, where := range []string{"", " WHERE amount > 0", " WHERE amount > 1", " WHERE amount < 3"} {
		q := question(t, e, "SELECT shop, COUNT(*), SUM(amount), COUNT(DISTINCT code), COUNT(DISTINCT amount), MEDIAN(amount) FROM "+
			"orders"+where+" GROUP BY shop")
		if !same(q, unchanged) {
			t.Errorf("other groups%s", where)
		}
		if !same(q, func(text string) string {
			return strings.Replace(text, "dense_rank() OVER (PARTITION BY u ORDER BY hash(",
				"dense_rank() OVER (PARTITION BY u ORDER BY hash('a', ", 1)
		}) {
			planted++
		}
	}
	if planted != 4 {
		t.Errorf("other groups of values were found %d times of 4", planted)
	}
}

// shopForm is something to ask about: a FROM clause, and what its columns are good for.
type shopForm struct {
	from, numbers, keys string
	unit                string // a column that says who a row is about, where one can be named
}

const persons = "(SELECT cust, COUNT(*) AS n, SUM(amount) AS s, MIN(code) AS lo, COUNT(shop) AS v FROM orders o WHERE COND GROUP BY " +
	"cust) AS x"

var shopForms = []shopForm{
	{"orders o", "o.amount o.code", "o.shop o.code", "o.cust"},
	{"items i", "i.qty", "i.qty", ""},
	{"parts p", "p.w", "p.w", ""},
	{"customers c", "c.age", "c.region c.city", "c.cid"},
	{"customers c JOIN orders o ON c.cid = o.cust", "c.age o.amount", "c.region c.city o.shop o.code", "c.cid"},
	{"customers c LEFT JOIN orders o ON c.cid = o.cust AND COND", "c.age o.amount", "c.region c.city o.shop o.code", "c.cid"},
	{"orders o LEFT JOIN customers c ON c.cid = o.cust", "c.age o.amount", "c.region c.city o.shop", "o.cust"},
	{"orders o JOIN items i ON o.oid = i.order_id", "o.amount i.qty", "o.shop o.code i.qty", "o.cust"},
	{"orders o LEFT JOIN items i ON o.oid = i.order_id AND COND", "o.amount i.qty", "o.shop i.qty", "o.cust"},
	{"items i JOIN parts p ON i.iid = p.item", "i.qty p.w", "i.qty", ""},
	{"items i LEFT JOIN parts p ON i.iid = p.item AND p.w > 0", "i.qty p.w", "i.qty", ""},
	{"orders o JOIN orders r ON o.cust = r.cust AND o.amount <= r.amount", "o.amount r.code", "o.shop r.shop r.code", "r.cust"},
	{"orders o JOIN tags t ON o.code = t.code", "o.amount", "t.tag o.shop", "o.cust"},
	{"orders o LEFT JOIN tags t ON o.code < t.code AND COND", "o.amount", "t.tag o.shop", "o.cust"},
	{"customers c CROSS JOIN tags t", "c.age", "t.tag c.city", "c.cid"},
	{"customers c JOIN products d ON d.code = c.age % 4", "c.age", "d.label c.city", "c.cid"},
	{"orders o JOIN products d ON o.code = d.code JOIN tags t ON t.code = d.code", "o.amount", "d.label t.tag o.shop", "o.cust"},
	{persons, "x.n x.s x.lo x.v", "x.lo x.n", "x.cust"},
	{"customers c LEFT JOIN " + persons + " ON c.cid = x.cust", "x.n x.s c.age", "c.region c.city x.lo", "c.cid"},
	{"orders r JOIN " + persons + " ON r.cust = x.cust", "x.n x.s r.amount", "r.shop x.lo", "r.cust"},
	{"(SELECT amount AS a, cust FROM orders o WHERE COND UNION ALL SELECT age, cid FROM customers UNION ALL SELECT qty, order_id FROM " +
		"items) AS y", "y.a", "", ""},
	{"(SELECT shop, code, cust FROM orders o WHERE COND UNION ALL SELECT shop, code + 0, cust FROM orders) AS y", "y.code",
		"y.shop y.code", ""},
	{"(SELECT o.oid, o.shop, amount * 2 AS a FROM orders o WHERE COND) AS y JOIN items i ON i.order_id = y.oid", "y.a i.qty",
		"y.shop i.qty", ""},
}

func drawShopQuestion(r *rand.Rand) string {
	f := shopForms[r.IntN(len(shopForms))]
	fields := func(text string) []string { return strings.Fields(text) }
	condition := func(f shopForm) string {
		number := pick(r, fields(f.numbers)...)
		all := []string{fmt.Sprintf("%s > %d", number, r.IntN(40)), number + " IS NOT NULL", fmt.Sprintf("%s %% 2 = %d", number, r.IntN(2))}
		if f.unit != "" {
			all = append(all,
				fmt.Sprintf("EXISTS (SELECT 1 FROM orders e WHERE e.cust = %s AND e.amount > %d)", f.unit, r.IntN(50)),
				fmt.Sprintf("NOT EXISTS (SELECT 1 FROM orders e JOIN items g ON e.oid = g.order_id WHERE e.cust = %s AND g.qty > %s)",
					f.unit, number),
				fmt.Sprintf("%s IN (SELECT cid FROM customers WHERE age > %d)", f.unit, r.IntN(100)),
				fmt.Sprintf("(%s < 3 OR EXISTS (SELECT 1 FROM tags q WHERE q.code = %s AND q.tag <> 'red'))", number, number),
			)
		}
		return pick(r, all...)
	}
	var list []string
	for range 1 + r.IntN(4) {
		number := pick(r, fields(f.numbers)...)
		all := []string{"COUNT(*)", "COUNT(" + number + ")", "SUM(" + number + ")", "SUM(3 - " + number + ")",
			"COUNT(DISTINCT " + number + ")", "MEDIAN(" + number + ")"}
		if f.unit != "" {
			all = append(all, "COUNT(DISTINCT "+f.unit+")")
		}
		list = append(list, pick(r, all...))
	}
	inner := shopForm{numbers: "o.amount o.code", unit: "o.cust"}
	text := "SELECT " + strings.Join(list, ", ") + " FROM " + strings.ReplaceAll(f.from, "COND", condition(inner))
	if r.IntN(2) == 0 {
		text += " WHERE " + condition(f)
	}
	if keys := fields(f.keys); len(keys) > 0 && r.IntN(4) > 0 {
		r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		text += " GROUP BY " + strings.Join(keys[:min(len(keys), 1+r.IntN(2))], ", ")
	}
	return text
}

// TestShopNeighboursOfRandomQuestions is TestShopNeighbours for questions that nobody thought of.
func TestShopNeighboursOfRandomQuestions(t *testing.T) {
	asked, refused := 0, map[string]int{}
	for _, seed := range seeds(t, 1, 9) {
		f := shops(t, 100+seed)
		r := rand.New(rand.NewPCG(seed, 7))
		for range rounds(6, 120) {
			text := drawShopQuestion(r)
			s, err := planner.Prepare(f.with.dataset, text, planner.Options{Public: engine.PublicTables(t.Context(), f.with)})
			if err != nil {
				refused[err.Error()]++
				continue
			}
			asked++
			q := &s.Plans[0].Query
			if far := f.shopFar(t, q, unchanged); far != "" {
				t.Errorf("%s\n%s\n%v", text, far, runAgain(t, f.with, q))
			}
		}
		f.close()
	}
	t.Logf("%d questions were replayed; refused: %v", asked, refused)
	if asked < rounds(2, 200) {
		t.Error("too few questions for a test")
	}
}
