package policy_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/policy"
)

// A policy with three slips of the pen is refused with all three of them.
func Example() {
	_, err := policy.Parse("clinic.yaml", []byte(`
datasets:
  clinic:
    engine: duckdb
    source: patients.csv
    unit: row
    neighbors: substitute
    budget: {epsilon: 1000}
    analysts: {ana: {share: 0.5}}
    tables:
      patients:
        columns:
          age: {type: integer, bounds: [110, 0]}
`))
	fmt.Println(err)

	p, err := policy.Load("testdata/hospital.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	d := p.Datasets["hospital"]
	quota, _ := d.Quota("ana")
	fmt.Println("all may use", d.Filter().Limit())
	fmt.Println("ana may use", quota.Limit())
	visits := d.Tables["visits"]
	fmt.Printf("one %s counts with %d visits in a group, in %d groups\n", visits.UnitColumn, visits.MaxRows, visits.MaxGroups)
	// Output:
	// clinic.yaml:7:5: clinic: a dataset has no key 'neighbors'; did you mean 'neighbours'?
	// clinic.yaml:8:23: clinic: epsilon 1000 is above 100; at 100 the odds of what an attacker believes may grow by e^100, about 10^43, which protects nobody; common budgets lie between 0.1 and 10. To try things out you need none: 'discreet rehearse' shows the owner exact answers, and the sandbox answers free on made-up rows; for tests of programs, 'discreet demo' makes data about nobody, whose ledger you may delete
	// clinic.yaml:13:40: clinic.patients.age: bounds the wrong way: [110, 0]; write [0, 110]
	// all may use epsilon unbounded, rho 1.478441947, delta 5e-07
	// ana may use epsilon unbounded, rho 0.7392209733, delta 2.5e-07
	// one pid counts with 50 visits in a group, in 5 groups
}

func ExampleDraft() {
	text, err := policy.Draft([]policy.Schema{{
		Table:  "patients",
		Source: "patients.csv",
		Columns: []policy.SchemaColumn{
			{Name: "age", Type: policy.Integer, Nullable: true},
			{Name: "zip code", Type: policy.Text, Nullable: true},
		},
	}}, policy.DraftOptions{Analyst: "ana"})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := policy.Parse("patients.yaml", []byte(text))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", p.Datasets["patients"].Tables["patients"].ColumnNames())
	// Output: ["age" "zip code"]
}
