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
	"github.com/discreet-dp/discreet/internal/plan/tree"
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
				n := apart(x[g].values[m], y[g].values[m])
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

// entry is one group of a result.
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

// apart is how many values must be added or taken away to make one list of the other.
func apart(a, b []int64) int64 {
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
	seeds := usually[uint64](2, 5)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		f := shops(t, seed)
		for _, text := range shopQuestions() {
			q := question(t, f.with, text)
			if far := f.shopFar(t, q, unchanged); far != "" {
				t.Errorf("%s\n%s\n%v", text, far, why(t, f.with, q))
			}
		}
		f.close()
	}
}

// TestPlantedShopNeighbours shows that the comparison finds engines that bound people wrongly.
func TestPlantedShopNeighbours(t *testing.T) {
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
				f := shops(t, seed)
				defer f.close()
				for _, text := range shopQuestions() {
					if strings.Contains(name, "join") && !strings.Contains(text, "JOIN tags") {
						continue
					}
					if far := f.shopFar(t, question(t, f.with, text), mutate); far != "" && far != "it does not run" {
						t.Logf("found by %s: %s", text, far)
						return
					}
				}
			}
			t.Error("not found")
		})
	}
}
