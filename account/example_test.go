package account_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
)

// An owner writes (epsilon, delta); the filter adds rho; a refused question is
// free.
func Example() {
	epsilon, _ := dp.Parse("1")
	delta, _ := dp.Parse("1e-6")
	rho, err := account.Rho(epsilon, delta)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("epsilon %v at delta %v buys rho %.6f\n", epsilon, delta, rho.Float())

	filter := account.ZCDPFilter(rho, 0)
	spent := dp.Cost{}
	for _, text := range []string{"0.01", "0.02", "0.005"} {
		price, _ := dp.Parse(text)
		cost := dp.Cost{Epsilon: dp.Unbounded, Rho: price}
		if !filter.Admits(spent, cost) {
			fmt.Println("rho", text, "is refused")
			continue
		}
		spent = spent.Add(cost)
		fmt.Println("rho", text, "is admitted")
	}
	worth, _ := account.Epsilon(spent.Rho, delta)
	fmt.Printf("all answers together are worth epsilon %.4f\n", worth.Float())
	// Output:
	// epsilon 1 at delta 1e-06 buys rho 0.024356
	// rho 0.01 is admitted
	// rho 0.02 is refused
	// rho 0.005 is admitted
	// all answers together are worth epsilon 0.7717
}
