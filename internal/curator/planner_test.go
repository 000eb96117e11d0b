package curator_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/golden"
)

// What was described is planned once for all who ask it, and is the plan of the same text and
// settings and of no other.
func TestPlannedOnce(t *testing.T) {
	w := curatortest.New(t, curatortest.Wealthy)
	const text = "SELECT sex, COUNT(*) FROM patients GROUP BY sex"
	for range 2 {
		_, err := w.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
		w.Check(err)
	}
	kept := w.Cached
	if kept(text, 1) != nil || kept(text+" ", 0) != nil {
		t.Error("another question was taken for it")
	}
	first := kept(text, 0)
	if first == nil {
		t.Fatal("it is not there")
	}
	a, err := w.AskAs("ana", text, curatortest.Amount("0.1"))
	w.Check(err)
	if kept(text, 0) != first {
		t.Error("it was planned again")
	}
	b, err := w.AskAs("ana", text, curatortest.Amount("0.1"))
	w.Check(err)
	if fmt.Sprint(a.Columns, a.Rows) != fmt.Sprint(b.Columns, b.Rows) || !b.Receipt.Free {
		t.Error("with a draft and without it the answers differ")
	}
	// An analyst whom the policy does not list gets nothing, described or not.
	_, err = w.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
	w.Check(err)
	if _, err := w.AskAs("nobody", text, curatortest.Amount("0.1")); err == nil {
		t.Error("nobody was answered")
	}
	for i := range 3 * curator.MaxCachedStatements {
		w.KeepPlan(fmt.Sprint(i), &planner.Statement{})
	}
	if n := w.CachedPlans(); n > curator.MaxCachedStatements {
		t.Errorf("%d are kept", n)
	}
}

// A price is that of all settings, and of nothing else.
func TestPricedOnce(t *testing.T) {
	w := curatortest.New(t, curatortest.Wealthy)
	const text = "SELECT sex, COUNT(*) FROM patients GROUP BY sex"
	of := func(s api.Settings) (*pricing.Priced, bool) {
		p, shared, err := w.Prepared(ctx, api.Question{Analyst: "ana", SQL: text, Settings: s})
		w.Check(err)
		return p, shared
	}
	others := []api.Settings{{}, {Epsilon: curatortest.Amount("0.2")}, {Epsilon: curatortest.Amount("0.3")}, {Confidence: 0.9},
		{Mechanism: "laplace"},
		{MaxGroups: 1},
		{Error: big.NewRat(100, 1)}, {Error: big.NewRat(100, 3)}, {Counts: "nonnegative"}, {Errors: "columns"}, {Stream: "off"},
		{Delta: curatortest.Amount("1e-9")}}
	seen := map[any]int{}
	for i, s := range others {
		first, _ := of(s)
		if second, shared := of(s); first != second || !shared {
			t.Errorf("%+v was priced twice", s)
		}
		if j, ok := seen[first]; ok {
			t.Errorf("%+v has the price of %+v", s, others[j])
		}
		seen[first] = i
		if s.Error != nil {
			s.Error = new(big.Rat).Set(s.Error)
		}
		if again, _ := of(s); again != first {
			t.Errorf("%+v was priced again", s)
		}
	}
}

// A plan that somebody changed while others had it is not paid for.
func TestSharedPlanChanged(t *testing.T) {
	w := curatortest.New(t, curatortest.Wealthy)
	const text = "SELECT COUNT(*) FROM patients"
	q := api.Question{Analyst: "ana", SQL: text}
	for range 2 {
		_, _, err := w.Prepared(ctx, q)
		w.Check(err)
	}
	st := w.Cached(text, 0)
	st.Plans[0].Query.Measures = append(st.Plans[0].Query.Measures, st.Plans[0].Query.Measures[0])
	before, err := w.Remaining(ctx, "ana")
	w.Check(err)
	var dispute *api.Disagreement
	if _, err := w.AskAs("ana", text, 0); !errors.As(err, &dispute) {
		t.Errorf("it was asked: %v", err)
	}
	if after, err := w.Remaining(ctx, "ana"); err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("something was paid: %v %v, %v", before, after, err)
	}
}

// Many ask the same at once, with a plan that they share, and get the same.
func TestSharedPlans(t *testing.T) {
	w := curatortest.New(t, curatortest.Wealthy)
	texts := []string{"SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex HAVING COUNT(*) > -100000 ORDER BY 2 DESC",
		"SELECT COUNT(*), SUM(cost) FROM patients WHERE age BETWEEN 20 AND 60", "SELECT MEDIAN(age) FROM patients",
		"SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY COUNT(*) DESC LIMIT 2",
		"SELECT sex, COUNT(*) FROM patients GROUP BY ROLLUP (sex)"}
	var all sync.WaitGroup
	var mu sync.Mutex
	said := map[string]string{}
	for i := range 40 {
		all.Go(func() {
			text := texts[i%len(texts)]
			q := api.Question{Analyst: "ana", SQL: text, Request: fmt.Sprint("shared ", i)}
			_, err := w.Explain(ctx, q)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				return
			}
			a, err := w.Ask(ctx, q)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			rows := fmt.Sprint(a.Columns, a.Rows)
			if before, ok := said[text]; ok && before != rows {
				t.Errorf("%s: %s and %s", text, before, rows)
			}
			said[text] = rows
		})
	}
	all.Wait()
}

// listOf writes something many times, with # in the place of the number.
func listOf(n int, text, between string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(text, "#", fmt.Sprint(i))
	}
	return strings.Join(all, between)
}

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

// TestExpensiveTexts: no text of 64 KB takes more than a moment to plan, at any entry.
func TestExpensiveTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector things take more time and memory")
	}
	d, texts := newPlanners(t, searchedPolicy), expensive()
	names := slices.Sorted(maps.Keys(texts))
	names = daily.Sample(t, names, len(names)/3)
	everywhere := daily.Sample(t, names, 2)
	for _, name := range names {
		text, entries := texts[name], []string{"explain"} // which does all that others do, and prices it
		if len(text) > 64<<10 {
			t.Errorf("%s has %d bytes", name, len(text))
		}
		if slices.Contains(everywhere, name) {
			entries = append(entries, "describe", "rows", "parameters", "holdout")
		}
		for _, entry := range entries {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := golden.CPUTime(t)
			err := d.plan(entry, text)
			took := golden.CPUTime(t) - start
			runtime.ReadMemStats(&after)
			bytes := after.TotalAlloc - before.TotalAlloc
			t.Logf("%-22s %-10s %6d bytes %8v %4d MB %.90s", name, entry, len(text), took.Round(1e6), bytes>>20, fmt.Sprint(err))
			if took > 2*mostTime || bytes > mostBytes { // a busy machine is slower
				t.Errorf("%s takes %v and %d MB at %s: %v", name, took, bytes>>20, entry, err)
			}
		}
	}
}

// What is refused after much work is refused once for all who ask it in a while, in the same words,
// unless a part of the work was somebody else's.
func TestRefusedForWork(t *testing.T) {
	for _, name := range daily.Sample(t, []string{"NOT in NOT", "padded and liked"}, 1) {
		d := newPlanners(t, searchedPolicy)
		q := api.Question{Analyst: "ana", SQL: expensive()[name]}
		another := meter.With(ctx)
		meter.Of(another).Work(1, meter.MostTime*7/8)
		if _, err := d.Explain(another, q); err == nil || d.CachedRefusals() != 0 {
			t.Fatal(err)
		}
		_, first := d.Explain(ctx, q)
		if first == nil || d.CachedRefusals() != 1 {
			t.Fatal(first)
		}
		said, position := first.Error(), first.(*api.Refusal).Position
		first.(*api.Refusal).Position = 7000 // who gets it may
		start := golden.CPUTime(t)
		for range 20 {
			if _, err := d.Describe(ctx, q); err == nil || err.Error() != said || err.(*api.Refusal).Position != position {
				t.Fatal(err)
			}
		}
		if took := golden.CPUTime(t) - start; took > time.Second {
			t.Errorf("%s was planned again, for %v", name, took)
		}
	}
}

// Who is gone is not planned for, at any entry: what would take a second ends at the first look at
// the context.
func TestGoneWhilePlanned(t *testing.T) {
	d := newPlanners(t, searchedPolicy)
	gone, stop := context.WithCancel(ctx)
	stop()
	for _, name := range []string{"sets", "NOT in NOT", "wide expressions", "times", "names of names"} {
		q := api.Question{Analyst: "ana", SQL: expensive()[name]}
		for entry, plan := range map[string]func(context.Context) error{
			"explain":  func(ctx context.Context) error { _, err := d.Explain(ctx, q); return err },
			"describe": func(ctx context.Context) error { _, err := d.Describe(ctx, q); return err },
		} {
			metered := meter.With(gone)
			err := plan(metered)
			if worked, _ := meter.Of(metered).Counted(); worked > 10*time.Millisecond || !errors.Is(err, context.Canceled) {
				t.Errorf("%s of %s counted %v: %v", entry, name, worked, err)
			}
		}
		if d.CachedRefusals() > 0 {
			t.Errorf("%s is refused for all", name)
		}
	}
}
