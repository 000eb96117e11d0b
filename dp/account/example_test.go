package account_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
)

// An owner writes (epsilon, delta); the filter adds rho; a refused question is free.
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

// A hundred mechanisms of which nothing is known but that each has epsilon 0.1.
func ExampleOptimalEpsilon() {
	claims := []account.Repeated{{Approx: account.Approx{Epsilon: 0.1}, Times: 100}}
	basic, _ := account.Basic(claims)
	advanced, _ := account.AdvancedEpsilon(claims, 1e-6)
	optimal, _ := account.OptimalEpsilon(claims, 1e-6)
	fmt.Printf("basic %.4f, advanced %.4f, optimal %.4f\n", basic.Epsilon, advanced.Upper, optimal.Upper)
	// Output:
	// basic 10.0000, advanced 6.3082, optimal 4.7746
}

// A Spending refuses what does not fit, for free, and says what to do; a session
// is charged when it is opened.
func ExampleSpending() {
	epsilon, _ := dp.Parse("1")
	delta, _ := dp.Parse("1e-6")
	spending := account.NewSpending(account.BasicFilter(epsilon, delta))

	fmt.Println("count:", spending.Spend(account.Pure{Epsilon: 0.5}))
	fmt.Println("session:", spending.Open(account.Pure{Epsilon: 0.25}))
	fmt.Println("mean:", spending.Spend(account.Approx{Epsilon: 0.5, Delta: 5e-7}))
	fmt.Println("mean, with more noise:", spending.Spend(account.Approx{Epsilon: 0.25, Delta: 5e-7}))
	fmt.Println("left: epsilon", spending.Left().Epsilon, "and delta", spending.Left().Delta.Short())
	// Output:
	// count: <nil>
	// session: <nil>
	// mean: wanted epsilon 0.5, delta 5e-07, left epsilon 0.25, delta 1e-06, so it is refused and nothing was spent: ask for at most the epsilon that is left, or stop here
	// mean, with more noise: <nil>
	// left: epsilon 0 and delta 5e-07
}

// An Odometer can be read after every answer, and the analyst may stop whenever
// the reading or the answers suggest it. The conversion of the same rho is
// smaller, and is right only for a moment that was fixed beforehand.
func ExampleOdometer() {
	first, _ := dp.Parse("0.01")
	delta, _ := dp.Parse("1e-6")
	odometer, err := account.ZCDPOdometer(first, delta, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for answers := 1; answers <= 100; answers++ {
		if err := odometer.Spend(account.ZCDP{Rho: 0.01}); err != nil {
			fmt.Println(err)
			return
		}
		if answers == 1 || answers == 10 || answers == 100 {
			now, _ := odometer.Read()
			rho, _ := dp.FloorFloat(0.01 * float64(answers))
			fixed, _ := account.Epsilon(rho, delta)
			fmt.Printf("after %3d answers epsilon %.3f at any time, %.3f at a fixed time\n", answers, now.Epsilon.Float(), fixed.Float())
		}
	}
	// Output:
	// after   1 answers epsilon 0.772 at any time, 0.622 at a fixed time
	// after  10 answers epsilon 2.709 at any time, 2.142 at a fixed time
	// after 100 answers epsilon 9.572 at any time, 7.766 at a fixed time
}
