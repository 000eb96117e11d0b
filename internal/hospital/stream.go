package hospital

import (
	"fmt"
	"strings"
)

// Stream returns the policy of a stream over the patients of a hospital of n people, to stand
// behind [Dataset].
func Stream(n int, alpha, budget string) string {
	return fmt.Sprintf(`    streams:
      patients:
        table: patients
        columns: {sex: , diagnosis: , smoker: , age: {width: 10}}
        size: %d
        alpha: %s
        budget: %s
`, n, alpha, budget)
}

// Workload makes up n questions to the stream: conditions on one to four of its columns, each met
// by any of some values. The same seed makes the same questions.
func Workload(n int, seed uint64) []string {
	r := &random{seed}
	out := make([]string, n)
	for i := range out {
		out[i] = r.condition()
	}
	return out
}

func (r *random) condition() string {
	parts := []func() string{
		func() string { return "sex IN (" + r.someOf([]string{"F", "M", "X"}) + ")" },
		func() string { return "diagnosis IN (" + r.someOf(diagnoses) + ")" },
		func() string { return "smoker = " + pickText(r, "true", "false") },
		func() string {
			lo := r.below(10)
			return fmt.Sprintf("age >= %d AND age < %d", 10*lo, 10*(lo+1+r.below(11-lo)))
		},
	}
	var chosen []string
	for len(chosen) == 0 {
		for _, part := range parts {
			if r.below(2) == 0 {
				chosen = append(chosen, part())
			}
		}
	}
	return strings.Join(chosen, " AND ")
}

// someOf picks some of a list, one at least, as constants of SQL.
func (r *random) someOf(from []string) string {
	var out []string
	for len(out) == 0 {
		for _, v := range from {
			if r.below(2) == 0 {
				out = append(out, "'"+v+"'")
			}
		}
	}
	return strings.Join(out, ", ")
}
