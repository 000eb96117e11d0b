package enumerate_test

import (
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/internal/lab/enumerate"
)

func Example_finding() {
	f := enumerate.Finding{Subject: "laplace", Check: "statistical", Claim: 1, Unit: "epsilon", Lower: 0.984,
		Samples: 2000000, Stands: true}
	text, err := json.Marshal(f)
	fmt.Println(string(text), err)
	// Output: {"subject":"laplace","check":"statistical","claim":1,"unit":"epsilon","lower":0.984,"samples":2000000,"stands":true} <nil>
}
