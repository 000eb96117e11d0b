package verify_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/verify"
	"github.com/discreet-dp/discreet/policy"
)

func Example() {
	p, err := policy.Load("../testdata/hospital.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	ds := p.Datasets["hospital"]
	st, err := plan.Prepare(ds, "SELECT sex, SUM(cost) FROM patients GROUP BY sex", plan.Options{})
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
