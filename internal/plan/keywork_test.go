package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/policy"
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

func keyWorkDataset(t *testing.T) *policy.Dataset {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte(keyWork))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets["d"]
}

// TestKeyWork: to find the values of keys takes a moment, whatever the keys are. It is free, and
// nothing stops it.
func TestKeyWork(t *testing.T) {
	ds := keyWorkDataset(t)
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
		start := time.Now()
		_, err := plan.Prepare(ds, "SELECT COUNT(*) FROM t GROUP BY "+list, plan.Options{})
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("%.60s took %v: %v", list, took, err)
		}
	}
}
