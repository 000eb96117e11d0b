package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/verify"
	"github.com/discreet-dp/discreet/internal/testcpu"
)

const keyWork = `
datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: t.pid
    budget: {epsilon: 10, delta: 1e-6}
    analysts: {ana: {}}
    tables:
      t:
        unique: pid
        columns:
          pid: {type: integer}
          n:   {type: integer, bounds: [-120, 130]}
          m:   {type: integer, bounds: [0, 250]}
          at:  {type: timestamp, bounds: ["1970-01-01 00:00:00", "1979-01-01 00:00:00"]}
          u:   {type: timestamp}
          q:   {type: integer, keys: private}
          w:   {type: integer}
`

// TestKeyWork: to find the values of keys takes a moment, whatever the keys are. It is free.
func TestKeyWork(t *testing.T) {
	ds := parsed(t, keyWork)
	repeat := func(n int, text, between string) string {
		return strings.TrimSuffix(strings.Repeat(text+between, n), between)
	}
	keys := func(n int, key string) string {
		var all []string
		for i := range n {
			all = append(all, strings.ReplaceAll(key, "#", string(rune('2'+i%7))+strings.Repeat("0", i/7)))
		}
		return strings.Join(all, ", ")
	}
	fields := "extract(hour from at) + extract(minute from at) + extract(day from at) + extract(dow from at) * #"
	for _, list := range []string{
		keys(14, "("+repeat(40, "n * # - m", " + ")+") % 2"),
		keys(6, "("+repeat(10, fields, " + ")+") % 5"),
		keys(4, "left("+repeat(30, "to_char(at, 'YYYY-MM-DD HH24:MI')", " || ")+", #)"),
		keys(8, "CAST(("+repeat(4, "extract(hour from u) * # + extract(dow from u) * extract(month from u)", " + ")+") AS text)"),
	} {
		start := testcpu.Worked(t)
		_, err := plan.Prepare(ds, "SELECT COUNT(*) FROM t GROUP BY "+list, plan.Options{})
		if took := testcpu.Worked(t) - start; took > 15*time.Second {
			t.Errorf("%.60s took %v: %v", list, took, err)
		}
	}
}

// TestPrivateKeysInARange: a range does not list the values of a column whose values are private,
// and both checks think so.
func TestPrivateKeysInARange(t *testing.T) {
	ds := parsed(t, keyWork)
	for sql, private := range map[string]bool{
		"SELECT q, COUNT(*) FROM t WHERE q BETWEEN 1 AND 4 GROUP BY q":                                               true,
		"SELECT g, COUNT(*) FROM (SELECT pid, q AS g FROM t WHERE q BETWEEN 1 AND 4) AS s GROUP BY g":                true,
		"SELECT q, COUNT(*) FROM t WHERE q > 1 AND q IN (1, 4, 5) GROUP BY q":                                        false,
		"SELECT q % 3, COUNT(*) FROM t WHERE q BETWEEN 1 AND 4 GROUP BY 1":                                           false,
		"SELECT w, COUNT(*) FROM t WHERE w BETWEEN 1 AND 4 GROUP BY w":                                               false,
		"SELECT g, COUNT(*) FROM (SELECT pid, max(q) AS g FROM t WHERE q BETWEEN 1 AND 4 GROUP BY pid) s GROUP BY g": false,
	} {
		st, err := plan.Prepare(ds, sql, plan.Options{})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		q := &st.Plans[0].Query
		if q.Keys[0].Private != private {
			t.Errorf("%s: private is %v", sql, q.Keys[0].Private)
		}
		if err := verify.Query(ds, q); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
