package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// sized are public tables of 25 rows, in which no value is there twice.
type sized struct{}

func (sized) Values(string, string, int) ([]policy.Value, error) { return nil, nil }
func (sized) Most(_ string, columns []string) (int64, error) {
	if len(columns) > 0 {
		return 1, nil
	}
	return 25, nil
}

func (sized) Rows(string, int) ([][]tree.Value, error) { return nil, nil }

// TestWhatMultiplies: what multiplies the work for a person's rows in a way that one person decides
// is refused, or that person's rows are cut before.
func TestWhatMultiplies(t *testing.T) {
	ds := hospital(t)
	list := func(n int, format string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(format, i))
		}
		return strings.Join(all, ", ")
	}
	many := func(n int, format, between string) string {
		var all []string
		for i := range n {
			all = append(all, strings.ReplaceAll(format, "#", fmt.Sprint(i)))
		}
		return strings.Join(all, between)
	}
	pairs := "SELECT COUNT(*) FROM patients p JOIN visits a ON a.pid = p.pid WHERE p.zip = 'Zz9' AND "
	public := "SELECT COUNT(*) FROM (SELECT left(p.zip, 3) || left(n.ward, 9) || left(m.ward, 9) || '" + strings.Repeat("ab", 470) +
		"' AS x FROM patients p JOIN wards n ON n.ward <> p.zip JOIN wards m ON m.ward <> p.zip WHERE p.zip = 'Zz9') t WHERE "
	for text, bounded := range map[string]bool{
		// by a table of hashes
		pairs + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND " +
			"b.cost = a.cost)": false,
		pairs + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid " +
			"AND b.cost > 3)": false,
		pairs + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND " +
			"a.cost <> 7)": true,
		pairs + "NOT EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.cost = a.cost AND " +
			"a.cost <> 7)": true,
		pairs + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND round(a.cost, -2) = " +
			"round(b.cost, -2))": true,
		pairs + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND (a.cost > 5) = " +
			"(b.cost > 5))": true,
		pairs + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND EXISTS (SELECT 1 FROM patients c WHERE c.pid = a.pid AND " +
			"a.cost <> 7))": true,
		pairs + "round(a.cost) IN (SELECT b.cost FROM visits b WHERE " +
			"b.pid = a.pid)": true,
		"SELECT COUNT(*) FROM visits a WHERE a.cost IN (" + list(1500, "%d") +
			")": true,
		"SELECT COUNT(*) FROM (SELECT pid, cost FROM visits UNION ALL SELECT pid, cost FROM visits) a " +
			"JOIN (SELECT pid, cost FROM visits UNION ALL SELECT pid, cost FROM visits) b ON a.pid = b.pid": true,
		"SELECT COUNT(*) FROM (SELECT pid, cost FROM visits UNION ALL SELECT pid, cost FROM visits) a JOIN wards n ON n.ward <> " +
			"'x'": true,
		"SELECT MEDIAN(cost) FROM (SELECT pid, cost FROM visits UNION ALL SELECT pid, cost FROM visits) a": true,
		"SELECT COUNT(*) FROM patients p WHERE " +
			many(20, "EXISTS (SELECT 1 FROM visits v# WHERE v#.pid = p.pid AND v#.cost > #)", " AND "): true,
		"SELECT COUNT(*) FROM visits a WHERE " +
			many(20, "(SELECT MAX(v#.cost) FROM visits v# WHERE v#.pid = a.pid AND v#.cost > #) < 2000", " AND "): true,
		public + many(100, "x LIKE '%a"+strings.Repeat("_", 200)+"a#%z'", " OR "): true,
		public + "x LIKE '%ab'": false,
		// Unions inside of each other have few parts each, and read a table as often as all.
		"SELECT COUNT(*) FROM (" + many(3, "SELECT pid, cost FROM visits", " UNION ALL ") + ") t": false,
		"SELECT COUNT(*) FROM (" + many(3, "SELECT pid, cost FROM ("+many(3, "SELECT pid, cost FROM visits", " UNION ALL ")+") u",
			" UNION ALL ") + ") t": true,
		// Subqueries of which each computes a little less than what a cut takes
		"SELECT COUNT(*) FROM patients p WHERE " + many(10, "EXISTS (SELECT 1 FROM visits v# WHERE v#.pid = p.pid AND v#.cost > #)",
			" AND "): false,
		"SELECT COUNT(*) FROM patients p " + many(10, "JOIN (SELECT pid, SUM(CASE WHEN "+many(16, "cost * cost <> #7", " AND ")+
			" AND cost > # THEN cost ELSE 0 END) AS s FROM visits GROUP BY pid) q# ON q#.pid = p.pid", " ") + " WHERE " +
			many(10, "q#.s", " + ") + " > 7": true,
		"SELECT COUNT(*) FROM patients p JOIN wards n ON n.ward <> p.zip JOIN wards m ON m.ward <> p.zip WHERE left(p.zip, 3) || " +
			"left(n.ward, 9) IN (" + list(1500, "'t%d'") + ")": true,
		// A cut would take longer than some operations, and not than all those of subqueries inside
		// of each other.
		"SELECT SUM(cost * (1 - cost / 2)), AVG(cost) FROM visits WHERE cost >= 100 AND cost < 200 AND cost + 1 < 2 * cost": false,
		"SELECT COUNT(*) FROM (SELECT pid, " + many(3, "round(cost / (# + 4), 1)", " + ") + " AS x FROM visits UNION ALL " +
			"SELECT pid, cost FROM visits) t": false,
		"SELECT COUNT(*) FROM (SELECT pid, " + many(3, "round(cost / (# + 4), 1)", " + ") + " AS x FROM visits UNION ALL " +
			"SELECT pid, cost FROM visits) t WHERE " + many(3, "round(x / (# + 2), 1)", " + ") + " > 2": true,
	} {
		s, err := plan.Prepare(ds, text, plan.Options{Public: sized{}})
		switch {
		case err != nil && !bounded:
			t.Errorf("%.200s: %v", text, err)
		case err == nil && (s.Plans[0].Query.Joined() > 0) != bounded:
			t.Errorf("%.300s: cut to %d", text, s.Plans[0].Query.Joined())
		}
	}
}
