package budgets

import (
	"testing"

	"github.com/discreet-dp/discreet/policy"
)

// TestWhose: every step of a path says whose a row is, so a policy that changes any of them
// protects others.
func TestWhose(t *testing.T) {
	path := []policy.Step{{Column: "order_id", Table: "orders", Key: "id"}, {Column: "customer", Table: "people", Key: "id"}}
	was := whose(&policy.Table{Path: path})
	for i := range path {
		other := []policy.Step{path[0], path[1]}
		other[i].Column = "another"
		if is := whose(&policy.Table{Path: other}); is == was {
			t.Errorf("with another step %d it is still %s", i+1, is)
		}
	}
}
