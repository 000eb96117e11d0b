package histogram_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/histogram"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/sealed"
)

func Example() {
	d, err := linear.NewDomain(linear.Attribute{Name: "sex", Values: []string{"f", "m"}})
	if err != nil {
		panic(err)
	}
	// An engine counted, and sealed.
	table, err := histogram.Dense(d, sealed.Seal([]int64{3, 4}))
	if err != nil {
		panic(err)
	}
	q, err := d.Where(map[string][]string{"sex": {"f"}})
	if err != nil {
		panic(err)
	}
	// The count is sealed too: it is for a mechanism, which adds noise.
	fmt.Println(table, table.Answer(q))
	// Output: [exact] [exact]
}
