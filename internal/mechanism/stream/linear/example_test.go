package linear_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
)

func Example() {
	d, err := linear.NewDomain(
		linear.Attribute{Name: "sex", Values: []string{"f", "m"}},
		linear.Attribute{Name: "age", Values: []string{"0-29", "30-59", "60+"}},
	)
	if err != nil {
		panic(err)
	}
	q, err := d.Where(map[string][]string{"sex": {"f"}, "age": {"30-59", "60+"}})
	if err != nil {
		panic(err)
	}
	q.Runs(func(from, to int, weight int64) { fmt.Println("cells", from, "to", to-1, "weigh", weight) })

	// The same, as one table of all cells.
	same, err := d.Query(1, linear.Factor{Attributes: []int{0, 1}, Weights: []int64{0, 1, 1, 0, 0, 0}})
	if err != nil {
		panic(err)
	}
	fmt.Println(same.Key() == q.Key())
	_, err = d.Where(map[string][]string{"age": {"90+"}})
	fmt.Println(err)
	// Output:
	// cells 1 to 2 weigh 1
	// true
	// not a query of this domain: attribute "age" has no value "90+": outside the domain
}
