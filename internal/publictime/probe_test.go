package publictime_test

import (
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine/duckdb"
)

// probes are questions that do one thing with every row, by which the constants were chosen.
var probes = []string{
	"SELECT COUNT(*) FROM people",
	"SELECT COUNT(*) FROM people WHERE age > -1",
	"SELECT SUM(age) FROM people",
	"SELECT SUM(cost) FROM people",
	"SELECT SUM(age * 3 + age * age - 7) FROM people",
	"SELECT SUM(age / (age + 1) + age % 7) FROM people",
	"SELECT SUM(round(cost * 1.5, 1)) FROM people",
	"SELECT COUNT(*) FROM people WHERE score > 0.5",
	"SELECT COUNT(*) FROM people WHERE sqrt(score + 1) > 0.5 AND ln(score + 2) > -1",
	"SELECT COUNT(*) FROM people WHERE born > '1900-01-01'",
	"SELECT COUNT(*) FROM people WHERE extract(year FROM born) > 1800",
	"SELECT COUNT(*) FROM people WHERE extract(hour FROM seen) >= 0",
	"SELECT COUNT(*) FROM people WHERE date_trunc('month', seen) > '1800-01-01'",
	"SELECT COUNT(*) FROM people WHERE born + INTERVAL '1 month' > '1800-01-01'",
	"SELECT COUNT(*) FROM people WHERE to_char(born, 'YYYY-MM') > '1800'",
	"SELECT COUNT(*) FROM people WHERE zip > ''",
	"SELECT COUNT(*) FROM visits WHERE note <> 'x'",
	"SELECT COUNT(*) FROM visits WHERE note > ''",
	"SELECT COUNT(*) FROM visits WHERE note LIKE 's%'",
	"SELECT COUNT(*) FROM visits WHERE note NOT LIKE '%zz%'",
	"SELECT COUNT(*) FROM visits WHERE note NOT LIKE '%z_z%'",
	"SELECT COUNT(*) FROM visits WHERE note NOT LIKE '%a%e%i%o%u%z'",
	"SELECT COUNT(*) FROM visits WHERE note !~ 'z[a-z]*q'",
	"SELECT COUNT(*) FROM visits WHERE note ~* 'on.*wi.*[0-9]$'",
	"SELECT COUNT(*) FROM visits WHERE note !~ '([a-z]+ )+[0-9]+ ([a-z]+ )+x'",
	"SELECT COUNT(*) FROM visits WHERE upper(note) > ''",
	"SELECT COUNT(*) FROM visits WHERE length(note) > 0",
	"SELECT COUNT(*) FROM visits WHERE replace(note, 'e', 'ab') > ''",
	"SELECT COUNT(*) FROM visits WHERE substring(note, 3, 20) > ''",
	"SELECT COUNT(*) FROM visits WHERE left(note, 30) || right(note, 30) > ''",
	"SELECT COUNT(*) FROM visits WHERE split_part(note, ' ', 3) > ''",
	"SELECT COUNT(*) FROM visits WHERE trim(note) > ''",
	"SELECT COUNT(*) FROM visits WHERE strpos(note, 'zz') = 0",
	"SELECT COUNT(*) FROM visits WHERE rpad(note, 1000, 'xy') > ''",
	"SELECT COUNT(*) FROM visits WHERE rpad(note, 1000, 'xy') LIKE 's%'",
	"SELECT COUNT(*) FROM visits WHERE rpad(note, 1000, 'xy') NOT LIKE '%zz%'",
	"SELECT COUNT(*) FROM visits WHERE rpad(note, 1000, 'xy') !~ 'z[a-z]*q'",
	"SELECT COUNT(*) FROM visits WHERE rpad(note, 1000, 'xy') !~ '([a-z]+ )+[0-9]+ ([a-z]+ )+x'",
	"SELECT COUNT(*) FROM visits WHERE upper(rpad(note, 1000, 'xy')) > ''",
	"SELECT COUNT(*) FROM visits WHERE replace(rpad(note, 900, 'xy'), 'x', 'z') > ''",
	"SELECT COUNT(*) FROM people WHERE CAST(left(code, 9) AS integer) IS NULL OR age > -1",
	"SELECT SUM(CAST(left(code, 9) AS integer)) FROM people",
	"SELECT SUM(CAST(left(code, 12) AS numeric(12,2))) FROM people",
	"SELECT SUM(CAST(CAST(age AS text) || '.5' AS numeric(12,2))) FROM people",
	"SELECT COUNT(*) FROM people WHERE CAST(age AS text) > ''",
	"SELECT COUNT(*) FROM people WHERE CAST(cost AS text) > ''",
	"SELECT COUNT(*) FROM people WHERE CASE WHEN age < 20 THEN 'a' WHEN age < 50 THEN 'b' ELSE 'c' END > ''",
	"SELECT COUNT(*) FROM people WHERE age NOT IN (200, 201, 202, 203, 204, 205, 206, 207, 208, 209)",
	"SELECT COUNT(*) FROM visits WHERE note NOT IN ('200', '201', '202', '203', '204', '205', '206', '207', '208', '209')",
	"SELECT COUNT(*) FROM visits",
	"SELECT COUNT(*), SUM(cost), AVG(cost) FROM visits",
	"SELECT ward, COUNT(*) FROM visits GROUP BY ward",
	"SELECT ward, day, COUNT(*) FROM visits GROUP BY ward, day",
	"SELECT COUNT(DISTINCT pid) FROM visits",
	"SELECT COUNT(DISTINCT day) FROM visits",
	"SELECT COUNT(DISTINCT note) FROM visits",
	"SELECT MEDIAN(cost) FROM visits",
	"SELECT MEDIAN(cost) FROM people",
	"SELECT COUNT(DISTINCT code) FROM people",
	"SELECT kind, COUNT(*) FROM labs GROUP BY kind",
	"SELECT kind, SUM(value), MEDIAN(value) FROM labs GROUP BY kind",
	"SELECT diag, COUNT(*), SUM(cost) FROM people GROUP BY diag",
	"SELECT COUNT(*) FROM people p JOIN visits v ON p.pid = v.pid",
	"SELECT p.zip > 'z3' AS z, COUNT(*), SUM(v.cost) FROM people p JOIN visits v ON p.pid = v.pid GROUP BY z",
	"SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.pid = v.pid",
	"SELECT COUNT(*) FROM labs l JOIN visits v ON l.pid = v.pid",
	"SELECT COUNT(*) FROM labs l JOIN visits v ON l.pid = v.pid AND l.value > v.cost",
	"SELECT COUNT(*) FROM people p FULL JOIN visits v ON p.pid = v.pid",
	"SELECT COUNT(*) FROM people p JOIN codes c ON p.code = c.code",
	"SELECT COUNT(*) FROM people p JOIN codes c ON p.age = c.area",
	"SELECT COUNT(*) FROM people p JOIN codes c ON p.age > c.low",
	"SELECT SUM(n) FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) t",
	"SELECT SUM(n), SUM(m) FROM (SELECT pid, COUNT(DISTINCT ward) AS n, MAX(day) - MIN(day) AS m FROM visits GROUP BY pid) t WHERE m < 90",
	"SELECT COUNT(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits) t WHERE n = 1",
	"SELECT COUNT(*) FROM (SELECT pid, COUNT(*) OVER (PARTITION BY pid) AS n FROM visits) t WHERE n > 0",
	"SELECT COUNT(*) FROM (SELECT pid, SUM(cost) OVER (PARTITION BY pid ORDER BY day) AS n, lag(cost) OVER (PARTITION BY pid ORDER BY day) AS l " +
		"FROM visits) t WHERE n > l",
	"SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.pid AND v.cost > p.cost)",
	"SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.pid)",
	"SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM labs l WHERE l.pid = v.pid AND l.value > v.cost)",
	"SELECT COUNT(*) FROM people WHERE code IN (SELECT code FROM codes)",
	"SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = b.pid AND a.day < b.day",
	"SELECT COUNT(*) FROM (SELECT pid, cost FROM visits UNION ALL SELECT pid, value FROM labs) u",
}

// TestProbes prints what the probes take, beside what the constants say without the margin.
func TestProbes(t *testing.T) {
	if *measured == 0 {
		t.Skip("this is measured with -measure and a number of people")
	}
	folder := t.TempDir()
	store(t, filepath.Join(folder, "d.duckdb"), clinicRows(*measured)...)
	ds := parse(t, folder, clinic)
	e := open(t, ds, duckdb.Limits{})
	sizes, err := e.Sizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, table := range sizes.Tables { // not rounded, so that the constants are seen
		table.Rows = map[string]int64{"people": *measured, "visits": 3 * *measured, "labs": 2 * *measured, "codes": 900}[name]
		sizes.Tables[name] = table
	}
	sizes.People = *measured
	for _, text := range probes {
		all, err := queries(ds, e, text)
		if err != nil || len(all) != 1 {
			t.Errorf("%s: %d questions, %v", text, len(all), err)
			continue
		}
		a := measure(t, e, sizes, text, all[0])
		t.Logf("%7.1f ms said, %7.1f ms taken, %5.2f: %s", ms(a.time)/2, ms(a.took), a.ratio()/2, clipped(text))
	}
}
