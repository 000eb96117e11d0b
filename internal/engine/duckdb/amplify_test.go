//go:build unix

package duckdb

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/golden"
)

var amplify = flag.Duration("amplify", 0, "measure what one person adds to the time of questions that are made to show it, and fail "+
	"where it is longer, as in -amplify 100ms")

var uncutFlag = flag.Bool("uncut", false, "with -amplify, measure the same questions where nobody is cut too, of which some take very long")

const amplifyKeys = `
source: v.duckdb
unit: people.pid
tables:
  people: {unique: pid, columns: {pid: {type: integer}, age: {type: integer, bounds: [0, 110]}, town: {type: text}}}
  visits:
    path: pid -> people.pid
    max_rows: 20
    max_groups: 3
    columns: {pid: {type: integer}, day: {type: integer, bounds: [0, 1000]}, cost: {type: integer, bounds: [0, 1000]}, kind: {type: text, keys: [a, b, c]}, note: {type: text, keys: private}}
  nations: {public: true, unique: nation, columns: {nation: {type: text}, region: {type: text}}}
  codes: {public: true, max_rows: 2, columns: {code: {type: integer}, kind: {type: text}}}
`

// amplifiers are questions that multiply the work for a row of person 7, who lives in Zz9, or for
// all that person's rows.
func amplifiers() []string {
	joins := func(n int, on string) string {
		text := ""
		for i := range n {
			text += fmt.Sprintf(" JOIN nations n%d ON %s", i, strings.ReplaceAll(on, "N", fmt.Sprintf("n%d", i)))
		}
		return text
	}
	var many, union []string
	for i := range 150 {
		many = append(many, fmt.Sprintf("SUM(CASE WHEN day * cost %% %d > %d AND note LIKE '%%%d%%' THEN cost ELSE 0 END)", i+2, i, i))
	}
	for range 60 {
		union = append(union, "SELECT pid, cost FROM visits")
	}
	var list, like, exists []string
	for i := range 1500 {
		list = append(list, fmt.Sprintf("'n%d'", 1_000_000+i))
	}
	for i := range 100 {
		like = append(like, fmt.Sprintf("x LIKE '%%a%sa%d%%z'", strings.Repeat("_", 200), i))
		exists = append(exists, fmt.Sprintf("EXISTS (SELECT 1 FROM visits v%d WHERE v%d.pid = p.pid AND v%d.cost + %d > 5)", i, i, i, i))
	}
	nested := "SELECT pid, cost FROM (" + strings.Join(union[:3], " UNION ALL ") + ") t"
	var windows []string
	for i := range 20 {
		windows = append(windows, fmt.Sprintf("lag(cost, %d) OVER (PARTITION BY pid ORDER BY day * %d %% 97, note) AS w%d", i, i+2, i))
	}
	target := "SELECT COUNT(*) FROM people p JOIN visits a ON a.pid = p.pid WHERE p.town = 'Zz9' AND "
	return []string{
		target + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND a.note <> 'x')",
		target + "NOT EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.cost = a.cost + a.day + 2000 AND a.note <> 'x')",
		target + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND length(a.note) = length(b.note))",
		target + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND EXISTS (SELECT 1 FROM people c WHERE c.pid = a.pid AND a.note " +
			"<> 'k'))",
		target + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.note = a.note)",
		target + "left(a.note, 5) || '' NOT IN (" + strings.Join(list, ", ") + ")",
		"SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = b.pid AND left(a.note, 5) || left(b.note, 7) NOT IN (" +
			strings.Join(list, ", ") + ")",
		"SELECT COUNT(*) FROM people p WHERE p.town = 'Zz9' AND " + strings.Join(exists, " AND "),
		"SELECT COUNT(*) FROM people p WHERE p.town = 'Zz9' AND " + strings.Join(exists[:10], " AND "),
		"SELECT COUNT(*) FROM (SELECT left(p.town, 3) || left(n.nation, 9) || left(m.nation, 9) || '" + strings.Repeat("ab", 470) +
			"' AS x FROM people p JOIN nations n ON n.region <> p.town JOIN nations m ON m.region <> p.town WHERE p.town = 'Zz9') t " +
			"WHERE " + strings.Join(like, " OR "),
		"SELECT COUNT(*) FROM people p" + joins(1, "N.region <> p.town") + " WHERE p.town = 'Zz9'",
		"SELECT COUNT(*) FROM people p" + joins(2, "N.region <> p.town") + " WHERE p.town = 'Zz9'",
		"SELECT COUNT(*) FROM people p" + joins(4, "N.region <> p.town") + " WHERE p.town = 'Zz9'",
		"SELECT COUNT(*) FROM people p" + joins(5, "N.region <> p.town") + " WHERE p.town = 'Zz9'",
		"SELECT COUNT(*) FROM people p" + joins(7, "N.region <> p.town") + " WHERE p.town = 'Zz9'",
		"SELECT COUNT(*) FROM people p" + strings.ReplaceAll(joins(5, "N.region <> p.town"), " JOIN", " LEFT JOIN") +
			" WHERE p.town = 'Zz9'",
		"SELECT COUNT(*) FROM people p WHERE p.town = 'Zz9' AND EXISTS (SELECT 1 FROM nations a, nations b, nations c, nations d, " +
			"nations e WHERE a.region || b.region || c.region || d.region || e.region = p.town)",
		"SELECT COUNT(*) FROM people p JOIN codes c ON c.code = p.age WHERE p.town = 'Zz9'",
		"SELECT COUNT(*) FROM people p JOIN codes c ON c.code = p.age JOIN codes d ON d.code = p.age WHERE p.town = 'Zz9'",
		"SELECT COUNT(*) FROM people p WHERE p.town = 'Zz9' AND p.age IN (SELECT code FROM codes WHERE kind <> p.town)",
		"SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = b.pid",
		"SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = b.pid AND a.day < b.day WHERE a.cost + b.cost > 3",
		"SELECT COUNT(*) FROM visits a LEFT JOIN visits b ON a.pid = b.pid AND (a.day < b.day OR a.cost = b.cost)",
		"SELECT COUNT(*) FROM visits a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.day < a.day - 2000)",
		"SELECT COUNT(*) FROM visits a WHERE NOT EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND (b.day = a.day + 1 OR b.cost = " +
			"a.cost + 2000))",
		"SELECT COUNT(*) FROM visits a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.day <> a.day AND EXISTS (SELECT 1 " +
			"FROM visits c WHERE c.pid = a.pid AND c.cost > 2000 + a.cost + b.cost))",
		"SELECT SUM(CASE WHEN a.cost IN (SELECT b.cost + a.day FROM visits b WHERE b.pid = a.pid) THEN 1 ELSE 0 END) FROM visits a",
		"SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits a WHERE a.pid = p.pid AND a.day > p.age + 2000)",
		"SELECT COUNT(*) FROM visits a" + joins(1, "N.region <> a.kind"),
		"SELECT COUNT(*) FROM visits a" + joins(2, "N.region <> a.kind"),
		"SELECT COUNT(*) FROM (SELECT pid, COUNT(*) AS n FROM visits a" + joins(2, "N.region <> a.kind") + " GROUP BY pid) t WHERE n > 3",
		"SELECT COUNT(*), SUM(n) FROM (SELECT a.pid, COUNT(*) AS n FROM visits a JOIN visits b ON a.pid = b.pid AND a.cost > b.cost " +
			"GROUP BY a.pid) t",
		"SELECT COUNT(*) FROM (" + strings.Join(union, " UNION ALL ") + ") t",
		"SELECT COUNT(*) FROM (" + strings.Join(union[:2], " UNION ALL ") + ") a JOIN (" + strings.Join(union[:2], " UNION ALL ") +
			") b ON a.pid = b.pid AND a.cost < b.cost",
		"SELECT COUNT(*) FROM (" + nested + " UNION ALL " + nested + " UNION ALL " + nested + ") t",
		"SELECT SUM(cost * day) FROM visits WHERE day >= 100 AND day < 200 AND cost BETWEEN 10 AND 900 AND day + cost < 800",
		"SELECT kind, SUM(cost), SUM(cost * (1 - day)), SUM(cost * (1 - day) * (1 + cost)), AVG(cost), AVG(day), COUNT(*) FROM visits " +
			"WHERE day <= 900 GROUP BY kind",
		"SELECT SUM(CASE WHEN note LIKE 'n1%' THEN cost * (1 - day) ELSE 0 END), SUM(cost * (1 - day)) FROM visits WHERE day >= 100",
		"SELECT " + strings.Join(many, ", ") + " FROM visits",
		"SELECT COUNT(DISTINCT cost), COUNT(DISTINCT day), COUNT(DISTINCT cost + day) FROM visits",
		"SELECT kind, COUNT(DISTINCT cost) FROM visits GROUP BY kind",
		"SELECT MEDIAN(cost), MEDIAN(day) FROM visits",
		"SELECT note, COUNT(*) FROM visits GROUP BY note",
		"SELECT kind, COUNT(*), SUM(cost) FROM visits GROUP BY kind",
		"SELECT COUNT(*) FROM visits",
		"SELECT COUNT(*) FROM (SELECT note, first_value(note) OVER (PARTITION BY pid ORDER BY cost, day DESC) AS f FROM visits) t " +
			"WHERE note = f",
		"SELECT COUNT(*) FROM (SELECT cost, " + strings.Join(windows, ", ") + " FROM visits) t WHERE cost > w3 AND w7 < w11",
		"SELECT COUNT(*) FROM (SELECT cost, max(note) OVER (PARTITION BY pid ORDER BY day ROWS BETWEEN 1000 PRECEDING AND CURRENT ROW) " +
			"AS w, sum(cost) OVER (PARTITION BY pid ORDER BY kind) AS s FROM visits) t WHERE w > 'n' AND s > cost",
		"SELECT COUNT(*) FROM (SELECT pid, kind, COUNT(DISTINCT note) AS n, COUNT(DISTINCT cost * day) AS m FROM visits GROUP BY pid, " +
			"kind) t WHERE n > m",
		"SELECT AVG(cost) FROM (SELECT DISTINCT ON (pid) pid, cost, note FROM visits ORDER BY pid, day) t",
		"SELECT COUNT(*) FROM visits a JOIN (SELECT pid, cost, rank() OVER (PARTITION BY pid ORDER BY day) AS r FROM visits) b " +
			"ON a.pid = b.pid AND a.day < b.r",
		"SELECT COUNT(*) FROM visits a JOIN people p ON p.pid = a.pid WHERE lower(a.note) || upper(p.town) LIKE '%a%b%c%d%e%'",
	}
}

// TestAmplify measures what one person adds to the time of a question. D0 has 20,000 people with
// ten visits each; D1 has one more, who has a million, lives where nobody else does, and is of an
// age that a public table has a million times. It is run by
//
//	go test ./engine/duckdb -run TestAmplify -v -amplify 100ms
//
// and not without the flag: a clock decides. It is the processors' time, so what is waited for is
// less where there are several.
func TestAmplify(t *testing.T) {
	if *amplify == 0 {
		t.Skip("give -amplify 100ms to measure")
	}
	var both [2]*Engine
	for i := range both {
		folder := t.TempDir()
		statements := []string{
			"CREATE TABLE people AS SELECT range AS pid, range % 80 AS age, 't' || range % 50 AS town FROM range(1000, 21000)",
			"CREATE TABLE visits AS SELECT 1000 + range // 10 AS pid, hash(range) % 1000 AS day, hash(range, 1) % 1000 AS cost, " +
				"chr(CAST(97 + hash(range, 2) % 3 AS INTEGER)) AS kind, 'n' || hash(range, 3) % 1000 AS note FROM range(200000)",
			"CREATE TABLE nations AS SELECT 'n' || range AS nation, 'r' || range % 5 AS region FROM range(25)",
			"CREATE TABLE codes AS SELECT range AS code, 'k' AS kind FROM range(80) UNION ALL SELECT 99, 'k' FROM range(1000000)",
		}
		if i == 1 {
			statements = append(statements, "INSERT INTO people VALUES (7, 99, 'Zz9')",
				"INSERT INTO visits SELECT 7, hash(range) % 1000, hash(range, 1) % 1000, chr(CAST(97 + hash(range, 2) % 3 AS INTEGER)), "+
					"'n' || hash(range, 3) % 1000000 FROM range(1000000)")
		}
		owner(t, filepath.Join(folder, "v.duckdb"), statements...)
		both[i] = open(t, dataset(t, folder, amplifyKeys))
	}
	for _, text := range amplifiers() {
		shown := text
		if len(shown) > 150 {
			shown = shown[:150] + "..."
		}
		s, err := planner.Prepare(both[0].dataset, text, planner.Options{Public: engine.PublicTables(t.Context(), both[0])})
		if err != nil {
			t.Logf("%-9s %s", "refused", shown)
			continue
		}
		q := &s.Plans[0].Query
		now, outcomes := workDifference(t, both, q, 4)
		before := *q
		before.From = uncut(q.From)
		then := "as now"
		if *uncutFlag && before.Format() != q.Format() {
			d, outcome := workDifference(t, both, &before, 1)
			then = fmt.Sprintf("uncut %v, %s", d.Round(time.Millisecond), outcome[1])
		}
		t.Logf("%-9s %-26s %s", now.Round(time.Millisecond), then, shown)
		if now > *amplify || outcomes[0] != outcomes[1] {
			t.Errorf("one person adds %v, %v: %s", now, outcomes, shown)
		}
	}
}

// workDifference is how much longer the processors work on D1: the least of some runs of each.
func workDifference(t *testing.T, both [2]*Engine, q *tree.Query, runs int) (time.Duration, [2]string) {
	var took [2]time.Duration
	var outcomes [2]string
	for i := range took {
		took[i], outcomes[i] = time.Hour, "an answer"
		for range runs {
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			start := golden.CPUTime(t)
			if _, err := both[i].Run(ctx, q); err != nil {
				outcomes[i] = "no answer"
			}
			took[i] = min(took[i], golden.CPUTime(t)-start)
			stop()
		}
	}
	return took[1] - took[0], outcomes
}

func uncut(r tree.Relation) tree.Relation {
	switch r := r.(type) {
	case *tree.Cut:
		return uncut(r.From)
	case *tree.Join:
		out := *r
		out.L, out.R = uncut(r.L), uncut(r.R)
		return &out
	case *tree.Select:
		out := *r
		out.From = uncut(r.From)
		return &out
	case *tree.Persons:
		out := *r
		out.From = uncut(r.From)
		return &out
	case *tree.Window:
		out := *r
		out.From = uncut(r.From)
		return &out
	case *tree.Union:
		out := *r
		out.Parts = slices.Clone(r.Parts)
		for i, p := range r.Parts {
			out.Parts[i] = uncut(p).(*tree.Select)
		}
		return &out
	}
	return r
}
