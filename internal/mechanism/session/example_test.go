package session_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
)

// A mechanism charges, writes down what it must not forget, and only then answers. After a restart
// it sends the same charge again, which costs nothing, and finds what it wrote.
func Example() {
	ctx := context.Background()
	host := session.NewMemory(account.PureFilter(dp.One))
	round := session.Charge{Name: "round 1", Mechanisms: "laplace b=2", Cost: dp.Cost{Epsilon: dp.One / 2}}
	for _, life := range []string{"first", "second"} {
		receipt, err := host.Charge(ctx, round)
		if err != nil {
			fmt.Println(err)
			return
		}
		written, err := host.Entries(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s life: charged before: %v, entries: %q, spent %v\n", life, receipt.Again, written, host.Spent().Epsilon)
		if len(written) == 0 {
			if err := host.Append(ctx, []byte("the threshold of round 1")); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	_, err := host.Charge(ctx, session.Charge{Name: "round 2", Cost: dp.Cost{Epsilon: dp.One}})
	fmt.Println(errors.Is(err, session.ErrBudget), host.Spent().Epsilon)
	// Output:
	// first life: charged before: false, entries: [], spent 0.5
	// second life: charged before: true, entries: ["the threshold of round 1"], spent 0.5
	// true 0.5
}
