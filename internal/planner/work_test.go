package planner_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/golden"
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
		pairs + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.cost = a.cost)":                       false,
		pairs + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.cost > 3)":                            false,
		pairs + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND a.cost <> 7)":                           true,
		pairs + "NOT EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.cost = a.cost AND a.cost <> 7)":   true,
		pairs + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND round(a.cost, -2) = round(b.cost, -2))": true,
		pairs + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND (a.cost > 5) = (b.cost > 5))":           true,
		pairs + "EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND EXISTS (SELECT 1 FROM patients c WHERE c.pid = a.pid AND " +
			"a.cost <> 7))": true,
		pairs + "round(a.cost) IN (SELECT b.cost FROM visits b WHERE b.pid = a.pid)": true,
		"SELECT COUNT(*) FROM visits a WHERE a.cost IN (" + list(1500, "%d") + ")":   true,
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
		s, err := planner.Prepare(ds, text, planner.Options{Public: sized{}})
		switch {
		case err != nil && !bounded:
			t.Errorf("%.200s: %v", text, err)
		case err == nil && (s.Plans[0].Query.Joined() > 0) != bounded:
			t.Errorf("%.300s: cut to %d", text, s.Plans[0].Query.Joined())
		}
	}
}

const counting = "SELECT COUNT(*) FROM patients WHERE "

// TestHostileSizes sends texts that are built to exhaust a parser or a stack.
// Each must be refused, quickly.
func TestHostileSizes(t *testing.T) {
	ds := hospital(t)
	many := func(part string, n int) string { return strings.Repeat(part, n) }
	equal := "age = cost"
	for i := range 24 {
		equal += " AND age = cost + " + strconv.Itoa(i+1)
	}
	for name, text := range map[string]string{
		"parentheses":       counting + many("(", 100_000) + "1=1" + many(")", 100_000),
		"few parentheses":   counting + many("(", 65) + "1=1" + many(")", 65),
		"megabyte":          counting + "zip = '" + many("x", 1<<20) + "'",
		"megabyte of space": many(" ", 1<<20) + "SELECT COUNT(*) FROM patients",
		"comment":           "SELECT COUNT(*) /*" + many("x", 1<<20) + "*/ FROM patients",
		"nested comments":   "SELECT " + many("/*", 30_000) + many("*/", 30_000) + " FROM patients WHERE (",
		"ors":               counting + "age=1" + many(" OR age=1", 50_000),
		"ors below 64 KiB":  counting + "a" + many(" OR a", 8_000),
		"minus":             counting + "age = " + many("- ", 50_000) + "1",
		"few minus":         counting + "age = " + many("- ", 1_000) + "1",
		"plus and minus":    counting + "age = " + many("- + ", 100) + "1",
		"nots":              counting + many("NOT ", 50_000) + "true",
		"few nots":          counting + many("NOT ", 1_000) + "true",
		"operators":         counting + many("~ ", 1_000) + "age = 1",
		"named operators":   counting + many("OPERATOR(-) ", 900) + "age = 1",
		"cases":             counting + many("CASE WHEN true THEN ", 1_000) + "1" + many(" END", 1_000),
		"brackets":          counting + "age" + many("[1", 1_000) + many("]", 1_000),
		"subscripts":        counting + "age" + many("[1]", 1_000) + " = 1",
		"casts":             counting + "age" + many("::text::int", 900) + " = 1",
		"functions":         counting + many("abs(-", 64) + "age" + many(")", 64) + many("+1", 70) + " = 1",
		"roundings":         counting + many("round(1.5/", 20) + "age" + many(")", 20) + " = 1",
		"texts":             counting + "zip = 'a'" + many(" || 'a'", 900),
		"simple cases":      counting + many("CASE ", 30) + "age" + many(" WHEN 1 THEN 1 WHEN 2 THEN 2 END", 30) + " = 1",
		"long texts":        counting + many("lower(", 33) + "zip" + many(")", 33) + " = 'a'",
		"pattern":           counting + "zip LIKE '" + many("a_", 200) + "'",
		"collations":        counting + "zip" + many(` COLLATE "C"`, 1_900) + " = 'a'",
		"is null":           counting + "age" + many(" IS NULL", 1_900),
		"sum of ones":       counting + "age = 1" + many("+1", 1_900),
		"sum of columns":    counting + "1 = age" + many("+age", 1_900),
		"products":          counting + "1 = age" + many("*1", 1_900),
		"fine products":     counting + "weight < age" + many("*1e-30", 100),
		"joins":             "SELECT COUNT(*) FROM patients" + many(" NATURAL JOIN patients", 1_000),
		"unions":            "SELECT 1" + many(" UNION SELECT 1", 1_000),
		"subqueries":        "SELECT COUNT(*) FROM " + many("(SELECT * FROM ", 60) + "patients" + many(") x", 60),
		"statements":        many("SELECT COUNT(*) FROM patients;", 500),
		"equalities":        counting + equal,
		"semicolons":        many(";", 3_000),
		"names":             counting + many("a.", 1_900) + "b = 1",
		"aggregate levels":  "SELECT SUM(age" + many("+1", 200) + ") FROM patients",
		"windows": "SELECT COUNT(*) FROM (SELECT pid" + many(", lag(cost) OVER (PARTITION BY pid ORDER BY day)", 51) +
			" FROM visits) t",
		"window levels": "SELECT COUNT(*) FROM (SELECT lag(cost" + many("+1", 200) + ") OVER (PARTITION BY pid) FROM visits) t",
		"window in window": "SELECT COUNT(*) FROM (SELECT " + many("max(", 30) + "cost" + many(") OVER (PARTITION BY pid)", 30) +
			" AS m FROM visits) t WHERE m > 3",
		"order of a window": "SELECT COUNT(*) FROM (SELECT lag(cost) OVER (PARTITION BY pid ORDER BY " + many("day, cost + 1, ", 20) +
			"cost" + many(", cost + 2 * cost", 17) + ", cost * 3, cost * 4, cost * 5, cost * 6, cost * 7, cost * 8, cost * 9, cost * 10, " +
			"cost * 11, cost * 12, cost * 13, cost * 14, cost * 15, cost * 16) AS m FROM visits) t WHERE m > 3",
		"having levels":    "SELECT COUNT(*) FROM patients HAVING COUNT(*)" + many("+1", 200) + " > 1",
		"order levels":     "SELECT COUNT(*) FROM patients ORDER BY COUNT(*)" + many("+1", 200),
		"zero byte":        counting + "zip = 'a\x00b'",
		"zero bytes":       many("\x00", 1_000),
		"not UTF-8":        counting + "zip = '\xff\xfe'",
		"half a character": counting + "zip = '\xe2\x82'",
		"surrogate":        counting + "zip = '\xed\xa0\x80'",
		"long name":        "SELECT COUNT(*) FROM " + many("p", 60_000),
		"long number":      counting + "age = " + many("9", 60_000),
		"long exponent":    counting + "age = 1e" + many("9", 60),
		"quotes":           counting + "zip = " + many("'", 30_001),
		"dollars":          counting + "zip = " + many("$a$", 301),
		"byte order mark":  "\ufeffSELECT COUNT(*) FROM patients WHERE zip = ",
	} {
		t.Run(name, func(t *testing.T) {
			start := golden.CPUTime(t)
			_, err := planner.Prepare(ds, text, planner.Options{})
			var r *api.Refusal
			switch {
			case !errors.As(err, &r):
				t.Fatalf("not refused: %v", err)
			case r.Reason == "" || r.Instead == "" || len(r.Error()) > 1_000:
				t.Errorf("a refusal of %d bytes: %.100s", len(r.Reason), r)
			case r.Position < -1 || r.Position > len(text):
				t.Errorf("position %d is outside the text", r.Position)
			}
			// Slow machines differ by a factor of ten, not of a hundred.
			if took := golden.CPUTime(t) - start; took > 2*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestLargeQuestions keeps the limits from refusing what people ask.
func TestLargeQuestions(t *testing.T) {
	ds := hospital(t)
	for name, text := range map[string]string{
		"long list":   counting + "age IN (1" + strings.Repeat(", 2", 1_500) + ")",
		"many ors":    counting + "age = 1" + strings.Repeat(" OR cost = 2", 900),
		"long sum":    "SELECT SUM(age" + strings.Repeat(" + age", 100) + ") FROM patients",
		"parentheses": counting + strings.Repeat("(", 60) + "age = 1" + strings.Repeat(")", 60),
		"text":        counting + "zip = '" + strings.Repeat("é", 30_000) + "'",
		"many sums":   "SELECT COUNT(*)" + strings.Repeat(", SUM(age), AVG(cost)", 300) + " FROM patients",
	} {
		if _, err := planner.Prepare(ds, text, planner.Options{}); err != nil {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

// What is counted is about what planning takes, in time and in bytes, so that the limits of a meter
// mean something.
func TestWorkIsCounted(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector things take more time and memory")
	}
	ds := parsed(t, keyWork+"          d:   {type: date, bounds: [1900-01-01, 2024-12-31]}\n")
	for _, key := range daily.Sample(t, []string{
		"n + m", "(n * 3 - m + n * 7) % 5", "to_char(d, 'Dy')", "extract(year from age(DATE '2024-12-31', d))", "extract(hour from at)",
		"to_char(at, 'Dy')", "left(CAST(n AS text) || CAST(m AS text), 3)", "floor(sqrt(n * m))", "coalesce(nullif(n, m), 3)",
		"left(rpad(CAST(n AS text), 900, 'abc'), 3)", "CASE WHEN n < 5 THEN m ELSE m % 5 END", "CAST(CAST(n AS text) AS integer)",
		"rpad(CAST(n AS text), 900, 'abc') LIKE '%a%b%c%d%e%f%'",
		"rpad(CAST(n AS text), 900, 'a') LIKE '%" + strings.Repeat("a", 60) + "b'",
		"rpad(CAST(n AS text), 900, 'abc') ~ '(a|b|c)*d.*e'", "rpad(CAST(n + m AS text), 900, 'aaa') ~ '((a?){10}){10}b'",
		"length(upper(rpad(CAST(n AS text), 900, 'é')))", "split_part(rpad(CAST(n AS text), 900, 'ab'), 'a', 3)",
	}, 5) {
		m := meter.New(context.Background())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := golden.CPUTime(t)
		if _, err := planner.Prepare(ds, "SELECT COUNT(*) FROM t GROUP BY "+key, planner.Options{Meter: m}); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		took := golden.CPUTime(t) - start
		runtime.ReadMemStats(&after)
		built := int(after.TotalAlloc - before.TotalAlloc)
		time, bytes := m.Counted()
		t.Logf("%v, and counted %v; %d KB, and counted %d KB: %.60s", took, time, built>>10, bytes>>10, key)
		if took > 4*time+50e6 || built > 2*bytes+4<<20 { // other processes make it slower
			t.Errorf("%v and %d KB are counted as %v and %d KB: %.60s", took, built>>10, time, bytes>>10, key)
		}
	}
}

// A text that takes too much is refused, and says what to do. With the values that it wants it can
// be asked.
func TestTooMuchWork(t *testing.T) {
	ds := parsed(t, keyWork)
	padded := "rpad(CAST(n * m AS text), 1000, '" + strings.Repeat("aé", 330) + "')"
	for _, c := range []struct{ where, key, want string }{
		{"", "left(" + padded + ", 900)", "finding the values of this key takes too much work; list the values"},
		{"", "length(replace(" + padded + ", 'a', 'b')) + n % 2 + m", ""}, // it has ends
		{"left(" + padded + ", 900) IN ('a', 'b')", "left(" + padded + ", 900)", ""},
		{strings.Repeat("NOT (n > m AND ", 55) + "n = 1" + strings.Repeat(")", 55), "n",
			"working out what this text asks for takes too much work"},
	} {
		text := "SELECT COUNT(*) FROM t GROUP BY " + c.key
		if c.where != "" {
			text = "SELECT COUNT(*) FROM t WHERE " + c.where + " GROUP BY " + c.key
		}
		var refusal *api.Refusal
		for range daily.Rounds(1, 2) {
			start := golden.CPUTime(t)
			_, err := planner.Prepare(ds, text, planner.Options{})
			if took := golden.CPUTime(t) - start; took > 4*time.Second {
				t.Errorf("%.80s took %v", text, took)
			}
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%.80s: %v", text, err)
			case c.want != "" && (!errors.As(err, &refusal) || !strings.HasPrefix(err.Error(), c.want)):
				t.Errorf("%.80s: %v", text, err)
			}
		}
	}
}

// Computing what is shown is bounded before it is paid for.
func TestTooMuchShown(t *testing.T) {
	ds := parsed(t, keyWork)
	show := "rpad(CAST(n * m AS text), 1000, 'a') ~ '((a?){10}){10}b'"
	_, err := planner.Prepare(ds, "SELECT "+show+", COUNT(*) FROM t GROUP BY n, m", planner.Options{})
	if err == nil || !strings.Contains(err.Error(), "computing the columns of this many groups takes too long") {
		t.Error(err)
	}
	if _, err := planner.Prepare(ds, "SELECT n, m, n * m + 1, COUNT(*) FROM t GROUP BY n, m HAVING n > m", planner.Options{}); err != nil {
		t.Error(err)
	}
}

// Planning ends with its context, wherever it is.
func TestPlanningIsStopped(t *testing.T) {
	ds := parsed(t, keyWork)
	gone, stop := context.WithCancelCause(context.Background())
	why := errors.New("hung up")
	stop(why)
	for _, text := range []string{
		"SELECT COUNT(*) FROM t GROUP BY left(CAST(n AS text) || CAST(m AS text), 3)",
		"SELECT COUNT(*) FROM t WHERE " + strings.Repeat("NOT (n > m AND ", 40) + "n = 1" + strings.Repeat(")", 40),
	} {
		m := meter.New(gone)
		_, err := planner.Prepare(ds, text, planner.Options{Meter: m})
		if time, _ := m.Counted(); !errors.Is(err, why) || time > 20e6 {
			t.Errorf("%.60s: %v after %v", text, err, time)
		}
	}
}
