package verify_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/verify"
	"github.com/discreet-dp/discreet/policy"
)

func Example() {
	p, err := policy.Load("../testdata/hospital.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	ds := p.Datasets["hospital"]
	st, err := planner.Prepare(ds, "SELECT sex, SUM(cost) FROM patients GROUP BY sex", planner.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	q := st.Plans[0].Query
	fmt.Println(verify.Query(ds, &q))
	q.Keys[0].Values = append(q.Keys[0].Values, q.Keys[0].Values[0])
	fmt.Println(verify.Query(ds, &q))
	// Output:
	// <nil>
	// the query, a key: a value that is there twice
}
