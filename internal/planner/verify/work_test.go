package verify_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/verify"
)

// multiplied are questions of the shop in which rows of a person are multiplied, or much is done
// with each, in every place where that can be.
var multiplied = []string{
	"SELECT COUNT(*) FROM orders o JOIN orders r ON o.cust = r.cust AND o.amount <= r.amount",
	"SELECT COUNT(*) FROM orders o LEFT JOIN orders r ON o.cust = r.cust",
	"SELECT COUNT(*) FROM orders a FULL JOIN (SELECT cust, code FROM orders) b ON a.cust = b.cust",
	"SELECT t.tag, SUM(o.amount) FROM orders o JOIN tags t ON o.code = t.code GROUP BY t.tag",
	"SELECT COUNT(*) FROM orders o CROSS JOIN tags t",
	"SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM orders e WHERE e.cust = o.cust AND e.amount > o.amount)",
	"SELECT COUNT(*) FROM orders o WHERE o.amount IN (SELECT e.amount + o.code FROM orders e WHERE e.cust = o.cust)",
	"SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM tags q WHERE q.code > o.code)",
	"SELECT SUM(n) FROM (SELECT cust, row_number() OVER (PARTITION BY cust ORDER BY code) AS n FROM orders) t WHERE n < 3",
	"SELECT SUM(n) FROM (SELECT cust, COUNT(DISTINCT code) AS n FROM orders GROUP BY cust) t",
	"SELECT MEDIAN(amount) FROM orders",
	"SELECT COUNT(*) FROM orders WHERE " + strings.Repeat("amount % 7 + ", 20) + "code > 3",
	"SELECT COUNT(*) FROM (SELECT cust FROM orders UNION ALL SELECT cust FROM orders WHERE code > 1 UNION ALL SELECT cust FROM orders " +
		"WHERE code > 2 UNION ALL SELECT cust FROM orders WHERE code > 3) t",
}

// TestWork: the rows of a person are cut before they are multiplied, or nobody gets an answer.
func TestWork(t *testing.T) {
	ds := parsed(t, shopPolicy)
	for _, text := range multiplied {
		st, err := planner.Prepare(ds, text, planner.Options{Public: columns{}})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		q := &st.Plans[0].Query
		if err := verify.Work(ds, columns{}, q); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		cuts := 0
		for _, m := range mutants(q) {
			if !m.work {
				continue
			}
			cuts++
			undo := m.plant()
			if verify.Work(ds, columns{}, q) == nil {
				t.Errorf("%s: %s", m.class, text)
			}
			undo()
		}
		if cuts == 0 {
			t.Errorf("nothing is cut in %s", text)
		}
	}
}

// crowded are public tables of which each value is there very often.
type crowded struct{ columns }

func (crowded) Most(string, []string) (int64, error) { return 5000, nil }

// TestFanout: how many public rows a row of a person meets follows from their sizes.
func TestFanout(t *testing.T) {
	ds := parsed(t, shopPolicy)
	for _, text := range []string{
		"SELECT COUNT(*) FROM customers c JOIN tags t ON c.age = t.code",
		"SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM tags t WHERE t.code > c.age)",
		"SELECT COUNT(*) FROM customers c WHERE c.age IN (SELECT t.code FROM tags t JOIN products p ON p.code > t.code)",
		"SELECT SUM(n) FROM (SELECT c.cid, COUNT(*) AS n FROM customers c JOIN tags t ON c.age < t.code GROUP BY c.cid) x",
	} {
		st, err := planner.Prepare(ds, text, planner.Options{Public: columns{}})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		q := &st.Plans[0].Query
		if err := verify.Work(ds, columns{}, q); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if err := verify.Work(ds, crowded{}, q); err == nil || !strings.Contains(err.Error(), "public rows") {
			t.Errorf("%s: %v", text, err)
		}
	}
	st, err := planner.Prepare(ds, "SELECT COUNT(*) FROM orders o JOIN products p ON p.code = o.code", planner.Options{Public: columns{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := verify.Work(ds, crowded{}, &st.Plans[0].Query); err != nil {
		t.Errorf("a row meets one of a unique column: %v", err)
	}
}
