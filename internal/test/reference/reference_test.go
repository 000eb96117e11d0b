package reference

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/policy"
)

// shop is a small world whose answers can be found by hand: people, their orders, the orders'
// items, and public kinds of items.
func shop() (*policy.Dataset, map[string]Table) {
	number := func(name string, lo, hi int64) *policy.Column {
		return &policy.Column{Name: name, Type: policy.Integer, Nullable: true, Granularity: big.NewRat(1, 1),
			Bounds: &policy.Bounds{Lo: big.NewRat(lo, 1), Hi: big.NewRat(hi, 1), LoSteps: lo, HiSteps: hi}}
	}
	words := func(name string, rule policy.KeyRule, keys ...string) *policy.Column {
		c := &policy.Column{Name: name, Type: policy.Text, Nullable: true, Keys: rule}
		for _, k := range keys {
			c.KeyValues = append(c.KeyValues, policy.Value{Type: policy.Text, Text: k})
		}
		return c
	}
	columns := func(all ...*policy.Column) map[string]*policy.Column {
		out := map[string]*policy.Column{}
		for _, c := range all {
			out[c.Name] = c
		}
		return out
	}
	toPerson := policy.Step{Column: "pid", Table: "people", Key: "pid"}
	toOrder := policy.Step{Column: "oid", Table: "orders", Key: "oid"}
	ds := &policy.Dataset{
		Name: "shop", Unit: policy.Unit{Table: "people", Column: "pid"}, Budget: policy.Budget{Delta: 1},
		Tables: map[string]*policy.Table{
			"people": {Name: "people", UnitKind: policy.Unique, UnitColumn: "pid", MaxRows: 1, MaxGroups: 1,
				Columns: columns(number("age", 0, 100), words("sex", policy.PublicKeys, "F", "M"))},
			"orders": {Name: "orders", UnitKind: policy.Many, UnitColumn: "pid", Path: []policy.Step{toPerson}, MaxRows: 2,
				MaxGroups: 2, Columns: columns(number("total", 0, 50), words("city", policy.PrivateKeys))},
			"items": {Name: "items", UnitKind: policy.Many, Path: []policy.Step{toOrder, toPerson}, MaxRows: 3, MaxGroups: 2,
				Columns: columns(number("price", -5, 9), number("kind", 0, 9))},
			"kinds": {Name: "kinds", Public: true, UnitKind: policy.NoUnit, UniqueColumn: "kind", MaxRows: 1,
				Columns: columns(number("kind", 0, 9), words("name", policy.NoKeys))},
		},
	}
	n := func(all ...int64) []any {
		out := make([]any, len(all))
		for i, v := range all {
			out[i] = v
		}
		return out
	}
	return ds, map[string]Table{
		"people": {[]string{"pid", "age", "sex"}, [][]any{{int64(1), int64(30), "F"}, {int64(2), int64(200), "M"}, {int64(3), nil, "Q"},
			{nil, int64(50), "F"}}},
		"orders": {[]string{"pid", "oid", "total", "city"}, [][]any{
			{int64(1), int64(10), int64(20), "x"}, {int64(1), int64(11), int64(70), "x"}, {int64(1), int64(12), int64(1), "y"},
			{int64(2), int64(20), int64(-4), "x"}, {nil, int64(30), int64(5), "z"}, {int64(9), nil, int64(6), nil}}},
		"items": {[]string{"oid", "price", "kind"}, [][]any{n(10, 4, 1), n(10, 4, 2), n(11, -9, 1), n(12, 7, 1), n(20, 9, 3),
			n(30, 9, 1), {nil, int64(9), int64(1)}, n(77, 9, 1)}},
		"kinds": {[]string{"kind", "name"}, [][]any{{int64(1), "pen"}, {int64(2), "ink"}, {int64(3), nil}}},
	}
}

// show writes a result: combinations with their people, then measures.
func show(q *tree.Query, e *Engine, t *testing.T) string {
	r, err := e.Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	if persons := r.Persons.Open(); len(q.PrivateKeys()) > 0 {
		places := make([]int, len(persons))
		for i := range places {
			places[i] = i
		}
		out = append(out, fmt.Sprint(r.Combos.Pick(places), persons))
	}
	for m, v := range r.Measures {
		if q.Measures[m].Kind == tree.Quantile {
			for _, values := range r.Values[m] {
				out = append(out, fmt.Sprint("values ", sorted(values)))
			}
			continue
		}
		out = append(out, fmt.Sprint(v.Open()))
	}
	return strings.Join(out, " ")
}

func sorted(v sealed.Vector) []int64 { return slices.Sorted(slices.Values(v.Open())) }

// TestByHand compares with answers that were found by hand. Measures stand in the order of their
// spelling: counts, then different values, quantiles and sums.
func TestByHand(t *testing.T) {
	ds, tables := shop()
	e := New(ds, tables)
	for _, c := range []struct{ text, want string }{
		{"SELECT COUNT(*), COUNT(age), SUM(age) FROM people", "[3] [4] [180]"}, // a row without a name is one of its own, and 200 is 100
		{"SELECT sex, COUNT(*) FROM people GROUP BY sex", "[2 1]"},             // Q is no public key
		{"SELECT COUNT(*), SUM(total) FROM orders", "[4] [77]"},                // 2 + 1 + 1 rows; 71 of the first person, 0 and 6
		{"SELECT COUNT(DISTINCT pid) FROM orders", "[3]"},
		{"SELECT COUNT(*), SUM(price) FROM items", "[4] [19]"}, // the first has 4 rows, cut to 3: 4 + 4 - 5 + 7 = 10; the second 9
		{"SELECT city, COUNT(*) FROM orders WHERE total < 50 AND city IS NOT NULL GROUP BY city", `[[x] [y]] [2 1] [2 1]`},
		{"SELECT MEDIAN(total) FROM orders WHERE pid IS NOT NULL AND total <> 1", "values [0 6 20 50]"},
		// of the first person 3, as of items, because an order has one row
		{"SELECT COUNT(*) FROM orders AS o JOIN items AS i ON o.oid = i.oid", "[4]"},
		{"SELECT COUNT(*) FROM people AS p LEFT JOIN orders AS o ON p.pid = o.pid", "[4]"}, // 2 + 1 + 1
		{"SELECT COUNT(*) FROM people AS p WHERE EXISTS (SELECT 1 FROM orders AS o WHERE o.pid = p.pid AND o.total > 1)", "[1]"},
		{"SELECT COUNT(*) FROM people AS p WHERE p.pid NOT IN (SELECT o.pid FROM orders AS o)", "[2]"},
		{"SELECT k.name, COUNT(*) FROM items AS i LEFT JOIN kinds AS k ON i.kind = k.kind GROUP BY k.name", "[1 3 1]"}, // ink, pen, NULL
		{"SELECT SUM(n), COUNT(*) FROM (SELECT pid, count(*) AS n, max(total) AS m FROM orders GROUP BY pid) AS t WHERE m > 5", "[2] [3]"},
		{"SELECT COUNT(*), SUM(x) FROM (SELECT age AS x FROM people UNION ALL SELECT total FROM orders) AS t", "[7] [207]"},
		{"SELECT COUNT(DISTINCT kind) FROM items", "[3]"},
		{"SELECT sex FROM people GROUP BY sex ORDER BY COUNT(*) DESC LIMIT 1", "[2 1]"},
	} {
		s, err := planner.Prepare(ds, c.text, planner.Options{Public: e.Public()})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		q := &s.Plans[0].Query
		if got := show(q, e, t); got != c.want {
			t.Errorf("%s\n%s\ngot %s, want %s", c.text, q.Format(), got, c.want)
		}
		if err := e.Check(q); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// TestFetch compares rows with those that were found by hand.
func TestFetch(t *testing.T) {
	ds, tables := shop()
	e := New(ds, tables)
	fetch := func(features, target string) string {
		table, err := planner.PrepareTable(ds, features, target, planner.Options{Public: e.Public()})
		if err != nil {
			t.Fatal(features, err)
		}
		var out []string
		if _, err := e.Fetch(t.Context(), table, sealed.NewCollector(func(codes []int64) {
			out = append(out, strings.ReplaceAll(fmt.Sprint(codes), fmt.Sprint(math.MinInt64), "-"))
		})); err != nil {
			t.Fatal(err)
		}
		slices.Sort(out)
		return strings.Join(out, "")
	}
	for _, c := range []struct{ features, target, want string }{
		{"SELECT age FROM people", "sex", "[- -1][100 1][30 0][50 0]"}, // Q is no public key, and a row without a name is one of its own
		{"SELECT age FROM people WHERE sex <> 'Q'", "age > 40 AS old", "[100 1][30 0][50 1]"},
		// of the first person 3 of 4; columns stand by name
		{"SELECT i.price, k.name FROM items i JOIN kinds k ON i.kind = k.kind WHERE i.price < 9", "price > 0 AS y",
			"[0 4 1][1 -5 0][1 7 1]"},
		{"SELECT p.age, n FROM people p LEFT JOIN (SELECT pid, COUNT(*) AS n FROM orders GROUP BY pid) AS o ON o.pid = p.pid", "sex",
			"[- - -1][100 1 1][30 2 0][50 - 0]"},
	} {
		e.Order = func(_, _, what string) uint64 { return map[string]uint64{"[1 4 1]": 1}[what] } // this one last
		if got := fetch(c.features, c.target); got != c.want {
			t.Errorf("%s: %s, want %s", c.features, got, c.want)
		}
	}
}

// TestOrder: what is kept of a person is decided by Order.
func TestOrder(t *testing.T) {
	ds, tables := shop()
	ds.Tables["orders"].MaxGroups = 1
	e := New(ds, tables)
	s, err := planner.Prepare(ds, "SELECT city, SUM(total) FROM orders GROUP BY city", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for city, want := range map[string]string{
		"x": `[[null] [x]] [1 2] [6 70]`, // of the first person x, with 20 + 50
		"y": `[[null] [x] [y]] [1 1 1] [6 0 1]`,
	} {
		e.Order = func(_, _, what string) uint64 {
			if strings.Contains(what, city) {
				return 0
			}
			return 1
		}
		if got := show(&s.Plans[0].Query, e, t); got != want {
			t.Errorf("%s first: got %s, want %s", city, got, want)
		}
	}
}

// TestDeclared goes through the values at which a cast, a lattice or a clamp decides.
func TestDeclared(t *testing.T) {
	half := &policy.Column{Type: policy.Decimal, Granularity: big.NewRat(1, 2), Bounds: &policy.Bounds{LoSteps: -4, HiSteps: 10}}
	hundreds := &policy.Column{Type: policy.Integer, Granularity: big.NewRat(100, 1)}
	for _, c := range []struct {
		column *policy.Column
		stored any
		want   string
	}{
		{half, 0.25, "0"}, {half, 0.75, "2"}, {half, 1e300, "<nil>"}, {half, 1e17, "10"}, {half, -7.0, "-4"}, {half, "1", "<nil>"},
		{half, int64(1), "2"},
		{hundreds, int64(149), "1"}, {hundreds, int64(150), "2"}, {hundreds, int64(250), "2"}, {hundreds, nil, "<nil>"},
		{&policy.Column{Type: policy.Text}, int64(1), "<nil>"}, {&policy.Column{Type: policy.Text}, "", ""},
		{&policy.Column{Type: policy.Decimal}, 1e300, "1e+300"}, {&policy.Column{Type: policy.Date}, int64(-1), "1969-12-31"},
		{&policy.Column{Type: policy.Boolean}, true, "true"},
	} {
		if got := fmt.Sprint(Declared(c.column, c.stored)); got != c.want {
			t.Errorf("%v as %v is %s, want %s", c.stored, c.column.Type, got, c.want)
		}
	}
}

// TestZerosAreOne: 0 and -0 are equal, so which of two rows with them comes first is nobody's
// choice, and a cut may not tell it.
func TestZerosAreOne(t *testing.T) {
	ds, tables := shop()
	orders := ds.Tables["orders"]
	orders.Columns["weight"] = &policy.Column{Name: "weight", Type: policy.Decimal, Nullable: true}
	var rows [][]any
	for i := range int64(40) {
		rows = append(rows, []any{i, i, int64(1), "x", 0.0}, []any{i, i + 100, int64(1), "x", math.Copysign(0, -1)})
	}
	count := func(rows [][]any) string {
		tables["orders"] = Table{[]string{"pid", "oid", "total", "city", "weight"}, rows}
		e := New(ds, tables)
		s, err := planner.Prepare(ds, "SELECT COUNT(*) FROM (SELECT pid, weight, total + 1 AS more, row_number() OVER (PARTITION BY pid "+
			"ORDER BY total) AS n FROM orders) t WHERE n <= 1 AND more > 0 AND weight < 1", planner.Options{Public: e.Public()})
		if err != nil {
			t.Fatal(err)
		}
		q := &s.Plans[0].Query
		q.From = &tree.Cut{From: q.From.(*tree.Select), Rows: 1}
		return show(q, e, t)
	}
	one := count(slices.Clone(rows))
	slices.Reverse(rows)
	if other := count(rows); one != other {
		t.Errorf("%s, and %s in another order", one, other)
	}
}
