package dp_test

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
)

// A budget of 1 is spent in tenths, exactly.
func Example() {
	budget, _ := dp.Parse("1")
	price, _ := dp.Parse("0.1")
	spent, questions := dp.Amount(0), 0
	for spent.Add(price) <= budget {
		spent = spent.Add(price)
		questions++
	}
	fmt.Println(questions, "questions at", price)

	_, err := dp.Parse("NaN")
	fmt.Println(err)

	// Two counts that one person moves by one each.
	fmt.Println(dp.NewL1(big.NewInt(2)), "or", dp.NewL2Squared(big.NewInt(2)))
	// Output:
	// 10 questions at 0.1
	// "NaN" is not an amount of privacy: write a positive decimal number such as 0.5 or 1e-6
	// 2 (l1) or sqrt 2 (l2)
}
