package planner_test

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/policy"
)

// A question becomes integers with a known sensitivity, or a refusal that says
// what to write instead.
func Example() {
	p, err := policy.Parse("policy.yaml", []byte(`
datasets:
  hospital:
    engine: duckdb
    source: patients.csv
    unit: row
    budget: {epsilon: 1}
    analysts: {ana: {}}
    tables:
      patients:
        columns:
          age:  {type: integer, bounds: [0, 110]}
          sex:  {type: text, keys: [F, M, X]}
          cost: {type: decimal, bounds: [0, 50000], granularity: 0.01}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	hospital := p.Datasets["hospital"]

	st, err := planner.Prepare(hospital, "SELECT sex, COUNT(*), SUM(cost) FROM patients WHERE age >= 65 GROUP BY sex "+
		"ORDER BY 2 DESC", planner.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	q := st.Plans[0]
	for _, m := range q.Query.Measures {
		fmt.Println(m.Describe(), "in", q.Query.Groups(), "groups; one person moves it by at most", q.Query.Sensitivity(m, dp.L1),
			"steps of", m.Step().RatString())
	}

	_, err = planner.Prepare(hospital, "SELECT * FROM patients", planner.Options{})
	var r *api.Refusal
	if errors.As(err, &r) {
		fmt.Printf("at %d: %s\n", r.Position, r.Reason)
		fmt.Println("instead:", r.Instead)
	}
	// Output:
	// count(*) in 3 groups; one person moves it by at most 1 (l1) steps of 1
	// sum(cost) in 3 groups; one person moves it by at most 5000000 (l1) steps of 1/100
	// at 7: * would show rows of the data
	// instead: name aggregates and keys, as in SELECT sex, COUNT(*) ... GROUP BY sex
}
