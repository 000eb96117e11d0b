package policywords

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/policy"
)

// A quota that pays for no question is allowed, and said: an epsilon of 0.2 is a 20th of the rho
// of 1 at a delta, and less than a question takes by default.
func TestEmptyQuotas(t *testing.T) {
	for budget, want := range map[string][]string{
		"{epsilon: 1, delta: 1e-6}":                             {"analyst ben", "group students"},
		"{epsilon: 1, delta: 1e-6, per_query: {default: 0.01}}": {},
		"{epsilon: 1}": {},
		"{epsilon: 1, per_query: {default: 0.25}}":                     {"analyst ben", "group students"},
		"{epsilon: 1, renewal: {every: month, windows: 12}}":           {},
		"{epsilon: 1, delta: 1e-6, renewal: {every: day, windows: 2}}": {"analyst ben", "group students"},
	} {
		p, err := policy.Parse("p.yaml", []byte("datasets: {d: {engine: duckdb, source: d.csv, unit: row, budget: "+budget+
			", analysts: {ana: {share: 0.5}, ben: {epsilon: 0.2}}, groups: {all: {share: 1, analysts: [ana, ben]}, "+
			"students: {epsilon: 0.2, analysts: [ben]}}, tables: {d: {columns: {}}}}}"))
		if err != nil {
			t.Fatal(err)
		}
		got := Warnings(p.Datasets["d"])
		if len(got) != len(want) || slices.ContainsFunc(want, func(w string) bool {
			return !slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, "the quota of the "+w+" does not pay") })
		}) {
			t.Errorf("%s: %q", budget, got)
		}
	}
}
