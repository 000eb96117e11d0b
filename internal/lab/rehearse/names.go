package rehearse

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// labels name the columns of an answer: by their own names and, where several have the same, by
// what is computed. Of those that are alike even so, their places tell them apart.
func labels(p *tree.Plan, names []string) []string {
	out := make([]string, len(names))
	seen := map[string]int{}
	for _, name := range names {
		seen[name]++
	}
	again := map[string]int{}
	for i, name := range names {
		if out[i] = name; seen[name] > 1 {
			out[i] = describe(p, p.Columns[i].Expr, name)
		}
		again[out[i]]++
	}
	for i, name := range out {
		if again[name] > 1 {
			out[i] = fmt.Sprintf("%s (column %d)", name, i+1)
		}
	}
	return out
}

// describe is what a column shows, or its name where that is no single statistic.
func describe(p *tree.Plan, e tree.Expr, name string) string {
	r, ok := e.(*tree.Released)
	if !ok {
		return name
	}
	switch s := p.Stats[r.Stat]; {
	case s.Kind == tree.MeasureStat:
		return p.Query.Measures[s.Measure].Describe()
	case s.Of != nil:
		return name + "(" + tree.Describe(s.Of) + ")"
	}
	return name
}
