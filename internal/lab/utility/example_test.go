package utility_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/lab/utility"
)

// How accurate is a count at epsilon 0.1, alone and among twenty? And how many
// people must randomize their own answers for a percentage?
func Example() {
	count := utility.DiscreteLaplace{Scale: 1 / 0.1}
	alpha, _ := count.Alpha(0.05)
	fmt.Println("one count is within", alpha, "with probability 95 %")

	each, _ := utility.BetaOfEachIndependent(20, 0.05)
	alpha, _ = count.Alpha(each)
	fmt.Println("twenty counts are all within", alpha)

	people := utility.RandomizedResponse{Epsilon: 1, People: 10000}
	always, _ := people.Alpha(0.05)
	exact, _ := people.AlphaAt(3000, 0.05)
	fmt.Printf("10,000 people who randomize: within %.4f, exactly %.4f if 3,000 hold a one\n", always, exact)

	choose := utility.Selection{Epsilon: 1, Sensitivity: 1}
	worst, _ := choose.Bound(4, 1, 0.05)
	law, _ := choose.PermuteAndFlip([]float64{50, 48, 30, 10})
	fmt.Printf("the best of four: within %.2f, and on average %.2f here\n", worst, law.ExpectedError())
	// Output:
	// one count is within 30 with probability 95 %
	// twenty counts are all within 60
	// 10,000 people who randomize: within 0.0294, exactly 0.0188 if 3,000 hold a one
	// the best of four: within 8.76, and on average 0.37 here
}
