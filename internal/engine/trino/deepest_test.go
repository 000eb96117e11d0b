package trino

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/testtrino"
)

// TestDeepest: what is nested as deep as the planner lets it be, or has as many operations, is
// parsed, planned and compiled by Trino.
func TestDeepest(t *testing.T) {
	if !*full {
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
			t.Errorf("%s: %d: %v: %.500s", name, deepest, err, why(t, e, &p.Query))
		}
		length := 0
		for _, st := range e.Current().Statements(&p.Query) {
			length += len(st.Text)
		}
		t.Logf("%s: %d, %d characters", name, deepest, length)
	}
}
