package plan_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/testcpu"
)

// What is counted is about what planning takes, in time and in bytes, so that the limits of a meter
// mean something.
func TestWorkIsCounted(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector things take more time and memory")
	}
	ds := parsed(t, keyWork+"          d:   {type: date, bounds: [1900-01-01, 2024-12-31]}\n")
	for _, key := range []string{
		"n + m", "(n * 3 - m + n * 7) % 5", "to_char(d, 'Dy')", "extract(year from age(DATE '2024-12-31', d))", "extract(hour from at)",
		"to_char(at, 'Dy')", "left(CAST(n AS text) || CAST(m AS text), 3)", "floor(sqrt(n * m))", "coalesce(nullif(n, m), 3)",
		"left(rpad(CAST(n AS text), 900, 'abc'), 3)", "CASE WHEN n < 5 THEN m ELSE m % 5 END", "CAST(CAST(n AS text) AS integer)",
		"rpad(CAST(n AS text), 900, 'abc') LIKE '%a%b%c%d%e%f%'",
		"rpad(CAST(n AS text), 900, 'a') LIKE '%" + strings.Repeat("a", 60) + "b'",
		"rpad(CAST(n AS text), 900, 'abc') ~ '(a|b|c)*d.*e'", "rpad(CAST(n + m AS text), 900, 'aaa') ~ '((a?){10}){10}b'",
		"length(upper(rpad(CAST(n AS text), 900, 'é')))", "split_part(rpad(CAST(n AS text), 900, 'ab'), 'a', 3)",
	} {
		m := meter.New(context.Background())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := testcpu.Worked(t)
		if _, err := plan.Prepare(ds, "SELECT COUNT(*) FROM t GROUP BY "+key, plan.Options{Meter: m}); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		took := testcpu.Worked(t) - start
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
		{"", "left(" + padded + ", 900)", "it takes too much work to find the values of this key; list the values"},
		{"", "length(replace(" + padded + ", 'a', 'b')) + n % 2 + m", ""}, // it has ends
		{"left(" + padded + ", 900) IN ('a', 'b')", "left(" + padded + ", 900)", ""},
		{strings.Repeat("NOT (n > m AND ", 55) + "n = 1" + strings.Repeat(")", 55), "n",
			"it takes too much work to find out what this text asks for"},
	} {
		text := "SELECT COUNT(*) FROM t GROUP BY " + c.key
		if c.where != "" {
			text = "SELECT COUNT(*) FROM t WHERE " + c.where + " GROUP BY " + c.key
		}
		var refusal *api.Refusal
		for range 2 {
			start := testcpu.Worked(t)
			_, err := plan.Prepare(ds, text, plan.Options{})
			if took := testcpu.Worked(t) - start; took > 4*time.Second {
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
	_, err := plan.Prepare(ds, "SELECT "+show+", COUNT(*) FROM t GROUP BY n, m", plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "it takes too long to compute the columns of so many groups") {
		t.Error(err)
	}
	if _, err := plan.Prepare(ds, "SELECT n, m, n * m + 1, COUNT(*) FROM t GROUP BY n, m HAVING n > m", plan.Options{}); err != nil {
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
		_, err := plan.Prepare(ds, text, plan.Options{Meter: m})
		if time, _ := m.Counted(); !errors.Is(err, why) || time > 20e6 {
			t.Errorf("%.60s: %v after %v", text, err, time)
		}
	}
}
