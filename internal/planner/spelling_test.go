package planner_test

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
)

// TestEqualSpellings: what is spelled in several ways is one question, so it is paid for once.
func TestEqualSpellings(t *testing.T) {
	ds := hospital(t)
	hash := func(text string) string {
		st, err := planner.Prepare(ds, text, planner.Options{Public: tables{}})
		if err != nil || len(st.Plans) != 1 {
			t.Fatalf("%s: %v", text, err)
		}
		return st.Plans[0].Query.Hash()
	}
	for _, same := range [][]string{
		{"SELECT COUNT(cost) FILTER (WHERE ward = 'a') FROM visits", "SELECT COUNT(CASE WHEN ward = 'a' THEN cost END) FROM visits",
			"SELECT COUNT(CASE ward WHEN 'a' THEN cost ELSE NULL END) FROM visits"},
		{"SELECT COUNT(DISTINCT pid) FILTER (WHERE ward = 'a') FROM visits",
			"SELECT COUNT(DISTINCT CASE WHEN ward = 'a' THEN pid END) FROM visits",
			"SELECT COUNT(DISTINCT CASE WHEN 'a' = ward THEN pid ELSE NULL::bigint END) FROM visits"},
		{"SELECT COUNT(*) FILTER (WHERE ward = 'a' AND cost > 3) FROM visits",
			"SELECT COUNT(CASE WHEN cost > 3 THEN pid END) FILTER (WHERE ward = 'a') FROM visits",
			"SELECT SUM(CASE WHEN cost > 3 AND ward = 'a' THEN 1 ELSE 0 END) FROM visits"},
		{"SELECT COUNT(*) FROM patients WHERE zip NOT ILIKE 'a%'", "SELECT COUNT(*) FROM patients WHERE zip !~~* 'a%'",
			"SELECT COUNT(*) FROM patients WHERE NOT zip OPERATOR(pg_catalog.~~*) (SELECT 'a%')"},
		{"SELECT COUNT(*) FROM patients WHERE pid IN (SELECT pid FROM visits)",
			"SELECT COUNT(*) FROM patients WHERE pid = ANY (SELECT pid FROM visits)",
			"SELECT COUNT(*) FROM patients WHERE pid = ANY (ARRAY(SELECT pid FROM visits))",
			"SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.pid LIMIT 1)"},
		{"SELECT COUNT(*) FROM patients WHERE pid NOT IN (SELECT pid FROM visits)",
			"SELECT COUNT(*) FROM patients WHERE pid <> ALL (SELECT pid FROM visits)"},
		{"SELECT SUM(n) FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) AS t",
			"SELECT SUM(n) FROM (SELECT pid, COUNT(*) FROM visits GROUP BY pid) AS t(p, n)"},
		{"SELECT COUNT(*) FROM (SELECT pid AS p, cost AS c FROM visits) AS t JOIN patients ON p = patients.pid",
			"SELECT COUNT(*) FROM (SELECT pid, cost FROM visits) AS t(p, c) JOIN patients ON p = patients.pid"},
		{"SELECT COUNT(*) FROM visits WHERE day > DATE '2024-01-31' - INTERVAL '30 days'",
			"SELECT COUNT(*) FROM visits WHERE day > DATE '2024-01-31' - (30 || ' DAY')::interval",
			"SELECT COUNT(*) FROM visits WHERE day > (SELECT DATE '2024-01-31') - (SELECT '30 days'::interval)"},
		{"SELECT w.ward, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY w.ward",
			"SELECT w.ward, COUNT(v.pid) FROM wards w LEFT JOIN visits v ON w.ward = v.ward GROUP BY w.ward",
			"SELECT w.ward, COUNT(v.pid) FROM visits v RIGHT JOIN wards w ON w.ward = v.ward GROUP BY w.ward"},
	} {
		for _, text := range same[1:] {
			if hash(text) != hash(same[0]) {
				t.Errorf("%s\nis another question than\n%s", text, same[0])
			}
		}
	}
}
