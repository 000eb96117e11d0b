package curator

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/testcpu"
)

// listOf writes something many times, with # in the place of the number.
func listOf(n int, text, between string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(text, "#", fmt.Sprint(i))
	}
	return strings.Join(all, between)
}

// nest puts something into itself.
func nest(n int, around, in string) string {
	for range n {
		in = strings.ReplaceAll(around, "#", in)
	}
	return in
}

// expensive are texts that are made to be expensive, each in another pass.
func expensive() map[string]string {
	const doubling = "CASE WHEN # BETWEEN 0 AND 9 THEN 1 ELSE 0 END"
	long := strings.Repeat("a", 60000)
	count := func(more string) string { return "SELECT COUNT(*) FROM t " + more }
	pairs := ""
	for i := range 11 {
		for j := range i {
			pairs += fmt.Sprintf(" AND q%d.c + q%d.k <> %d", i, j, i)
		}
	}
	answers := listOf(11, "(SELECT n % # AS k, COUNT(*) AS c FROM t GROUP BY 1) AS q#", ", ")
	return map[string]string{
		"padded and liked": count("GROUP BY " + listOf(5, "left(rpad(CAST(n * m + # AS text), 1000, '"+strings.Repeat("aé", 300)+"'), 9), "+
			"rpad(CAST(n * m + # AS text), 1000, 'a') LIKE '"+strings.Repeat("%a", 120)+"b'", ", ")),
		"matched": count("GROUP BY " + listOf(12, "rpad(CAST(n * m + # AS text), 1000, 'a') ~ '((a?){10}){10}#'", ", ")),
		"many patterns": count("GROUP BY CASE " + listOf(200, "WHEN CAST(n + m AS text) ~ '(a|b){20}(c|#){9}' THEN #", " ") +
			" END + n"),
		"patterns of constants": count("WHERE '" + long + "' ~ '((a?){10}){10}b' AND '" + long[:2000] + "' LIKE '" +
			strings.Repeat("%a", 120) + "b'"),
		"constants": "SELECT n, " + nest(50, "coalesce(#, 'a')", "left('"+long[:40000]+"', 30000)") + " FROM t GROUP BY n",
		"large keys": "SELECT " + listOf(700, "n + #", ", ") + " FROM t GROUP BY " +
			listOf(8, nest(8, doubling, "n")+" + #", ", "),
		"a long list":          count("WHERE n IN (" + listOf(1950, "#", ", ") + ") GROUP BY n, m"),
		"long lists over many": count("WHERE m * n IN (" + listOf(1950, "#", ", ") + ") GROUP BY m * n"),
		"a long OR":            count("WHERE " + listOf(600, "n + m = #", " OR ")),
		"sets": "SELECT " + listOf(30, "SUM(n + #)", ", ") + " FROM t GROUP BY CUBE (" + listOf(5, nest(7, doubling, "(n + m + #)"), ", ") +
			")",
		"aggregates": "SELECT " + listOf(60, "AVG(n * # + m)", ", ") + " FROM t GROUP BY s, b",
		"names":      "WITH " + listOf(400, "a# AS (SELECT n FROM t)", ", ") + " SELECT COUNT(*) FROM a0 GROUP BY n",
		"names of names": "WITH a0 AS (SELECT n, pid FROM t WHERE " + listOf(300, "n <> # + m", " AND ") + "), " +
			listOf(60, "b# AS (SELECT n, pid FROM a0)", ", ") + " SELECT COUNT(*) FROM b0 JOIN " +
			listOf(59, "b# AS c# USING (pid)", " JOIN "),
		"questions": "SELECT * FROM " + listOf(18, "(SELECT n % # AS k, COUNT(*) AS c FROM t WHERE "+listOf(15, "m <> #", " AND ")+
			" GROUP BY 1) AS q#", ", "),
		"joined answers": "SELECT COUNT(*) FROM " + answers + " WHERE true" + pairs,
		"nested": nest(14, "SELECT * FROM (#) AS q", "SELECT n, m, COUNT(*) FROM t WHERE "+listOf(300, "n <> m * #", " AND ")+
			" GROUP BY n, m"),
		"around": "SELECT " + listOf(40, nest(10, "CASE WHEN # > 1 THEN 2 ELSE c END", "c"), ", ") +
			" FROM (SELECT n, COUNT(*) AS c FROM t GROUP BY n) AS q",
		"unions": "SELECT COUNT(*) FROM (" + listOf(15, "SELECT pid, n + # AS k FROM t WHERE m <> #", " UNION ALL ") +
			") AS q GROUP BY k % 7",
		"persons": "SELECT COUNT(*) FROM (SELECT pid, " + listOf(300, "max(p + #) AS k#", ", ") + " FROM v GROUP BY pid) AS q",
		"windows": "SELECT COUNT(*) FROM (SELECT pid, " +
			listOf(48, "sum(p + #) OVER (PARTITION BY pid ORDER BY k, u) AS k#", ", ") + " FROM v) AS q",
		"times": count("GROUP BY " + listOf(12, "to_char(d + INTERVAL '# days', 'Day Month')", ", ")),
		"parts": "SELECT COUNT(*) FROM v GROUP BY " +
			listOf(12, "CAST(extract(hour from u) * # + extract(dow from u) * extract(month from u) AS text)", ", "),
		"categories":       "SELECT " + listOf(90, "left(CAST(n AS text) || CAST(m AS text), 1#) AS c#", ", ") + " FROM t",
		"wide expressions": count("WHERE " + listOf(18, nest(8, doubling, "(n + #)")+" > #", " AND ")),
		"CASE in CASE":     count("GROUP BY " + nest(30, "CASE WHEN # > 1 AND b THEN n ELSE m END", "n")),
		"NOT in NOT":       count("WHERE " + nest(55, "NOT (n > m AND #)", "b")),
		"chains":           count("WHERE " + listOf(14, listOf(110, "n", " + ")+" + m <> #", " AND ") + " GROUP BY n, m"),
		"chains of keys": "SELECT " + listOf(7, listOf(110, "n", " + ")+" + #", ", ") + " FROM t GROUP BY " +
			listOf(7, listOf(110, "n", " + ")+" + #", ", "),
		"garbage": "SELECT " + strings.Repeat("(", 60) + long[:30000],
	}
}

// TestExpensiveTexts: no text of 64 KB takes more than a moment to plan, at any door.
func TestExpensiveTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector things take more time and memory")
	}
	d := newDoors(t, searchedPolicy)
	for name, text := range expensive() {
		if len(text) > 64<<10 {
			t.Errorf("%s has %d bytes", name, len(text))
		}
		for _, door := range []string{"describe", "explain", "rows", "parameters", "holdout"} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := testcpu.Worked(t)
			err := d.plan(door, text)
			took := testcpu.Worked(t) - start
			runtime.ReadMemStats(&after)
			bytes := after.TotalAlloc - before.TotalAlloc
			t.Logf("%-22s %-10s %6d bytes %8v %4d MB %.90s", name, door, len(text), took.Round(1e6), bytes>>20, fmt.Sprint(err))
			if took > 2*mostTime || bytes > mostBytes { // a busy machine is slower
				t.Errorf("%s takes %v and %d MB at the door %s: %v", name, took, bytes>>20, door, err)
			}
		}
	}
}

// What is refused after much work is refused once for all who ask it in a while, in the same words,
// unless a part of the work was somebody else's.
func TestRefusedForWork(t *testing.T) {
	for _, name := range []string{"NOT in NOT", "padded and liked"} {
		d := newDoors(t, searchedPolicy)
		q := api.Question{Analyst: "ana", SQL: expensive()[name]}
		another := meter.With(ctx)
		meter.Of(another).Work(1, meter.MostTime/2)
		if _, err := d.Explain(another, q); err == nil || d.planner.cache.refused.Len() != 0 {
			t.Fatal(err)
		}
		_, first := d.Explain(ctx, q)
		if first == nil || d.planner.cache.refused.Len() != 1 {
			t.Fatal(first)
		}
		said, position := first.Error(), first.(*api.Refusal).Position
		first.(*api.Refusal).Position = 7000 // who gets it may
		start := testcpu.Worked(t)
		for range 20 {
			if _, err := d.Describe(ctx, q); err == nil || err.Error() != said || err.(*api.Refusal).Position != position {
				t.Fatal(err)
			}
		}
		if took := testcpu.Worked(t) - start; took > time.Second {
			t.Errorf("%s was planned again, for %v", name, took)
		}
	}
}

// Who is gone is not planned for, at any door: what would take a second ends at the first look at
// the context.
func TestGoneWhilePlanned(t *testing.T) {
	d := newDoors(t, searchedPolicy)
	gone, stop := context.WithCancel(ctx)
	stop()
	for _, name := range []string{"sets", "NOT in NOT", "wide expressions", "times", "names of names"} {
		q := api.Question{Analyst: "ana", SQL: expensive()[name]}
		for door, plan := range map[string]func(context.Context) error{
			"explain":  func(ctx context.Context) error { _, err := d.Explain(ctx, q); return err },
			"describe": func(ctx context.Context) error { _, err := d.Describe(ctx, q); return err },
		} {
			metered := meter.With(gone)
			err := plan(metered)
			if worked, _ := meter.Of(metered).Counted(); worked > 10*time.Millisecond || !errors.Is(err, context.Canceled) {
				t.Errorf("%s of %s counted %v: %v", door, name, worked, err)
			}
		}
		if d.planner.cache.refused.Len() > 0 {
			t.Errorf("%s is refused for all", name)
		}
	}
}
