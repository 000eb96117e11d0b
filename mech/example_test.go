package mech_test

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

// A histogram of people: adding or removing one person moves one count by one.
func Example() {
	epsilon, _ := dp.Parse("0.5")
	m, err := mech.NewLaplace(dp.NewL1(big.NewInt(1)), epsilon)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("scale", m.Parameter().RatString())
	fmt.Printf("epsilon %v, rho %.4f\n", m.Cost().Epsilon, m.Cost().Rho.Float())
	fmt.Println("95 % of the counts are within", m.HalfWidth(0.05))

	total, _ := mech.HalfWidthOfSum(0.05, mech.Term{Mechanism: m, Count: 3, Weight: 1})
	fmt.Println("95 % of the sums of three are within", total)

	histogram := mech.Exactly(120, 45, 0)
	fmt.Println("exact:", histogram)
	noisy := mech.NewReleaser(noise.NewSource()).Release(histogram, m)
	fmt.Println("released:", len(noisy), "noisy counts")

	// The mean of values from 0 to 100, out of a noisy sum and a noisy count.
	mean, half := mech.RatioInterval(mech.Noisy{Value: 6000, HalfWidth: 300}, mech.Noisy{Value: 120, HalfWidth: 6}, 0, 100)
	fmt.Printf("mean %.1f, give or take %.2f\n", mean, half)
	// Output:
	// scale 2
	// epsilon 0.5, rho 0.1225
	// 95 % of the counts are within 6
	// 95 % of the sums of three are within 10
	// exact: [exact]
	// released: 3 noisy counts
	// mean 50.0, give or take 5.26
}

// Pure noise for a vector that moves by at most 100 steps in the Euclidean norm, whichever
// way: ten trained weights, for example.
func ExampleNewRadial() {
	m, err := mech.NewRadial(dp.NewL2Squared(big.NewInt(10_000)), 10, dp.One)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("scale", m.Parameter().RatString())
	fmt.Printf("epsilon %v, rho %.4f\n", m.Cost().Epsilon, m.Cost().Rho.Float())
	fmt.Println("95 % of the weights are within", m.HalfWidth(0.05))
	noisy := mech.NewReleaser(noise.NewSource()).Release(mech.Exactly(make([]int64, 10)...), m)
	fmt.Println("released:", len(noisy), "noisy weights")
	// Output:
	// scale 100
	// epsilon 1, rho 0.4621
	// 95 % of the weights are within 691
	// released: 10 noisy weights
}
