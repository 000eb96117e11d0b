package finding_test

import (
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/audit/finding"
)

// A finding says what was claimed, what was found, and whether the claim stands.
func Example() {
	text, err := json.Marshal(finding.Finding{Subject: "SELECT COUNT(*) FROM patients", Check: "replay", Claim: 1, Lower: 1, Samples: 10, Stands: true})
	fmt.Println(string(text), err)
	// Output:
	// {"subject":"SELECT COUNT(*) FROM patients","check":"replay","claim":1,"unit":"","lower":1,"samples":10,"stands":true} <nil>
}
