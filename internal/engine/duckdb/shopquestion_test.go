package duckdb

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
)

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

// drawShopQuestion draws a question about a form.
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
	for seed := range uint64(3) {
		f := shops(t, 100+seed)
		r := rand.New(rand.NewPCG(seed, 7))
		for range usually(40, 120) {
			text := drawShopQuestion(r)
			s, err := plan.Prepare(f.with.dataset, text, plan.Options{Public: public{t.Context(), f.with}})
			if err != nil {
				refused[err.Error()]++
				continue
			}
			asked++
			q := &s.Plans[0].Query
			if far := f.shopFar(t, q, unchanged); far != "" {
				t.Errorf("%s\n%s\n%v", text, far, why(t, f.with, q))
			}
		}
		f.close()
	}
	t.Logf("%d questions were replayed; refused: %v", asked, refused)
	if asked < usually(80, 200) {
		t.Error("too few questions for a test")
	}
}
