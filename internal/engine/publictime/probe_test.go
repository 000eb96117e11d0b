package publictime_test

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine/duckdb"
)

var probeFilter = flag.String("only", "", "which probes are measured: those with this text in them")

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
	"SELECT COUNT(*) FROM people WHERE CAST(left(code, 9) AS integer) > 0",
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
	"SELECT COUNT(*) FROM (SELECT pid, SUM(cost) OVER (PARTITION BY pid ORDER BY day) AS n, lag(cost) OVER (PARTITION BY pid ORDER BY " +
		"day) AS l " +
		"FROM visits) t WHERE n > l",
	"SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.pid AND v.cost > p.cost)",
	"SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.pid)",
	"SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM labs l WHERE l.pid = v.pid AND l.value > v.cost)",
	"SELECT COUNT(*) FROM people WHERE code IN (SELECT code FROM codes)",
	"SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = b.pid AND a.day < b.day",
	"SELECT COUNT(*) FROM (SELECT pid, cost FROM visits UNION ALL SELECT pid, value FROM labs) u",
}

// hostile are questions that are made to take longer than they look.
var hostile = []string{
	"SELECT COUNT(*) FROM visits WHERE rpad(note, 1000, 'x') NOT LIKE '%y%'",
	"SELECT COUNT(*) FROM visits WHERE lpad(left(note, 10), 1000, 'é') NOT LIKE '%y%'",
	"SELECT COUNT(*) FROM visits WHERE lower(rpad(left(note, 10), 250, 'ÄÖ')) > ''",
	"SELECT COUNT(*) FROM visits WHERE upper(replace(left(note, 100), ' ', 'ßßß')) > ''",
	"SELECT COUNT(*) FROM visits WHERE replace(left(rpad(note, 250, 'x'), 250), 'x', 'yyyy') LIKE '%z%'",
	"SELECT COUNT(*) FROM visits WHERE rpad(note, 1000, 'ab') ~ '(a|b)*a(a|b){12}c'",
	"SELECT COUNT(*) FROM visits WHERE rpad(note, 1000, 'ab') ~* '[a-m][^q]{1,40}[n-z].*7$'",
	"SELECT COUNT(*) FROM visits WHERE rpad(note, 1000, 'abé') ~ '[[:alpha:]]+[0-9]+[[:space:]]+q'",
	"SELECT COUNT(*) FROM visits WHERE rpad(note, 1000, 'ab') LIKE '%a_b%a_b%a_b%a_b%z'",
	"SELECT COUNT(*) FROM visits WHERE rpad(note, 1000, 'ab') ILIKE '%aB_b%q'",
	"SELECT COUNT(*) FROM visits WHERE length(rpad(note, 1000, 'é')) > 7 AND strpos(rpad(note, 1000, 'é'), 'ee') = 0",
	"SELECT COUNT(*) FROM visits WHERE substring(rpad(note, 1000, 'é'), 900, 50) > ''",
	"SELECT COUNT(*) FROM visits WHERE split_part(rpad(note, 1000, 'a,'), ',', 300) > ''",
	"SELECT COUNT(*) FROM visits WHERE trim(rpad(note, 1000, ' ')) > ''",
	"SELECT COUNT(*) FROM people WHERE CAST(CAST(seen AS text) AS timestamp) > '1900-01-01' AND CAST(CAST(born AS text) AS date) > " +
		"'1900-01-01'",
	"SELECT COUNT(*) FROM people WHERE to_char(seen, 'YYYY-MM-DD HH24:MI:SS') || to_char(born, 'IYYY-IW') > ''",
	"SELECT COUNT(*) FROM people WHERE extract(week FROM seen) + extract(isodow FROM born) + extract(doy FROM born) > 0",
	"SELECT COUNT(*) FROM people WHERE date_trunc('week', seen) + INTERVAL '1 month' > '1900-01-01'",
	"SELECT SUM(CAST(CAST(age AS text) AS numeric(5,1))) FROM people",
	"SELECT SUM(round(sqrt(age) * ln(age + 1) / exp(age / 100.0), 3)) FROM people",
	"SELECT SUM(round(power(age, 3) / 7.0, 2)) FROM people WHERE power(age, 2) > -1",
	"SELECT SUM(greatest(age, 3, 5, age * 2) - least(age, 1, 2)) FROM people WHERE coalesce(nullif(age, 3), nullif(age, 4), 7) > 0",
	"SELECT SUM(width_bucket(cost, 0, 5000, 100)) FROM people",
	"SELECT COUNT(*) FROM people WHERE (age * 1000000000 + 7) * 1000000000 % 77777777777 > 3",
	"SELECT COUNT(*) FROM people WHERE cost / (age + 0.5) * 3.25 / (cost + 1) > 0.0001",
	"SELECT note, COUNT(*) FROM visits WHERE note IN ('a', 'b') GROUP BY note",
	"SELECT left(note, 9) AS n, COUNT(*) FROM visits GROUP BY n",
	"SELECT kind || 'x' AS k, COUNT(*), SUM(value), MEDIAN(value), COUNT(DISTINCT value) FROM labs GROUP BY k",
	"SELECT diag, kind, COUNT(*) FROM people p JOIN labs l ON l.pid = p.pid GROUP BY diag, kind",
	"SELECT COUNT(DISTINCT note), COUNT(DISTINCT left(note, 20)), COUNT(DISTINCT day) FROM visits",
	"SELECT ward, MEDIAN(cost), MIN(cost), MAX(cost), COUNT(DISTINCT note) FROM visits GROUP BY ward",
	"SELECT COUNT(*) FROM (SELECT pid, COUNT(DISTINCT note) AS n, MIN(note) AS a, MAX(note) AS b FROM visits GROUP BY pid) t WHERE a < b",
	"SELECT COUNT(*) FROM (SELECT pid, ward, day, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY pid, ward, day) t WHERE n > 0",
	"SELECT COUNT(*) FROM (SELECT pid, note, count(*) OVER (PARTITION BY pid ORDER BY day ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) " +
		"AS n, " +
		"min(cost) OVER (PARTITION BY pid ORDER BY note ROWS BETWEEN 50 PRECEDING AND 50 FOLLOWING) AS m FROM visits) t WHERE n > 0 " +
		"AND m > 0",
	"SELECT COUNT(*) FROM (SELECT pid, ntile(4) OVER (PARTITION BY pid ORDER BY note) AS a, first_value(note) OVER (PARTITION BY pid " +
		"ORDER BY " +
		"cost) AS b, last_value(note) OVER (PARTITION BY pid ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) " +
		"AS c, " +
		"rank() OVER (PARTITION BY pid, ward ORDER BY note DESC) AS d FROM visits) t WHERE a > 0 AND b < c AND d > 0",
	"SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = b.pid JOIN labs c ON c.pid = a.pid",
	"SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = b.pid AND left(a.note, 40) || 'x' < right(b.note, 40)",
	"SELECT COUNT(*) FROM visits a LEFT JOIN labs b ON a.pid = b.pid AND a.cost < b.value AND b.value > 500",
	"SELECT COUNT(*) FROM visits a WHERE NOT EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.note < a.note AND b.day > a.day)",
	"SELECT COUNT(*) FROM people p WHERE (SELECT COUNT(*) FROM visits v WHERE v.pid = p.pid) > (SELECT COUNT(*) FROM labs l WHERE " +
		"l.pid = p.pid)",
	"SELECT COUNT(*) FROM people p JOIN codes c ON c.label <> p.zip",
	"SELECT COUNT(*) FROM people p JOIN codes c ON c.label LIKE 'label%' AND c.low <> p.age AND length(c.label) > p.age - 200",
	"SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM codes c WHERE c.low = p.age * 2 AND c.label > p.zip)",
	"SELECT COUNT(*) FROM people p LEFT JOIN codes c ON c.low > p.age AND c.area = 3",
	"SELECT COUNT(*) FROM (SELECT pid, note AS x FROM visits UNION ALL SELECT pid, kind FROM labs UNION ALL SELECT pid, code FROM " +
		"people) u WHERE x > ''",
	"SELECT zip, age, COUNT(*) FROM people WHERE zip IN ('z1', 'z2', 'z3') GROUP BY zip, age",
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
	for _, text := range probesOf() {
		if *probeFilter != "" && *probeFilter != "hostile" && !strings.Contains(text, *probeFilter) {
			continue
		}
		all, err := queries(ds, e, text)
		if err != nil || len(all) != 1 {
			t.Errorf("%s: %d questions, %v", text, len(all), err)
			continue
		}
		a := measure(t, e, sizes, text, all[0])
		t.Logf("%7.1f ms said, %7.1f ms taken, %5.2f: %s", ms(a.time)/2, ms(a.took), a.ratio()/2, clipped(text))
	}
}

func probesOf() []string {
	if *probeFilter == "hostile" {
		return hostile
	}
	return append(slices.Clone(probes), hostile...)
}
