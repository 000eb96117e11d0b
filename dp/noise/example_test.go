package noise_test

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp/noise"
)

// A count that one person can change by one is released with epsilon = 1/2: the
// scale is 1/epsilon = 2.
func Example() {
	laplace, err := noise.NewLaplace(big.NewRat(2, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	src := noise.NewSource()

	const count = 1234
	released := count + laplace.Draw(src)
	fmt.Println("within 100 of the truth:", count-100 < released && released < count+100)
	fmt.Printf("standard deviation squared: %.4f\n", laplace.Variance())

	_, err = noise.NewLaplace(new(big.Rat))
	fmt.Println(err)

	// Output:
	// within 100 of the truth: true
	// standard deviation squared: 7.8354
	// noise: scale out of range: the scale of Laplace noise must be from 2^-20 to 2^40, and is 0; choose another granularity
}

// Vectors are filled at once.
func ExampleGaussian_Fill() {
	gaussian, err := noise.NewGaussian(big.NewRat(25, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	histogram := make([]int64, 1000)
	gaussian.Fill(noise.NewSource(), histogram)

	far := 0
	for _, k := range histogram {
		if k < -100 || k > 100 { // twenty times sigma
			far++
		}
	}
	fmt.Println(gaussian.Variance(), far)
	// Output: 25 0
}

// One of four in proportion to exp(-gap/20): the exponential mechanism with epsilon
// = 1/10 on counts of 500, 400, 60 and 40.
func ExamplePick() {
	src := noise.NewSource()
	rate := big.NewRat(1, 20)
	chosen := make([]int, 4)
	for range 10000 {
		chosen[noise.Pick(src, rate, []uint64{0, 100, 440, 460}, nil)]++
	}
	fmt.Println("the first comes in 99 of 100 draws:", chosen[0] > 9850 && chosen[0] < 9990)
	// Output:
	// the first comes in 99 of 100 draws: true
}

// Noise that is never negative: a noisy count that is never too small.
func ExampleGeometric() {
	geometric, err := noise.NewGeometric(big.NewRat(2, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	src := noise.NewSource()
	negative, zero := 0, 0
	for range 10000 {
		switch k := geometric.Draw(src); {
		case k < 0:
			negative++
		case k == 0:
			zero++
		}
	}
	// P(0) = 1 - exp(-1/2) = 0.393
	fmt.Println(negative, "negative; zero in 39 of 100 draws:", zero > 3600 && zero < 4300)
	// Output: 0 negative; zero in 39 of 100 draws: true
}

// A vector of real numbers with density ~ exp(-|x|). Asked for more digits, it has the same
// first ones.
func ExampleNewRadial() {
	x := noise.NewRadial(noise.NewSource(), 3)
	short, long := x.Approximate(20), x.Approximate(200)
	same := true
	for i := range short {
		d, _ := new(big.Float).Sub(short[i], long[i]).Float64()
		same = same && d < 2e-6 && d > -2e-6
	}
	fmt.Println(x, "of", x.Len(), "numbers; the same ones when asked again:", same)
	fmt.Println(len(x.Round(big.NewRat(1000, 1))), "whole numbers nearest to a thousand times each")
	// Output:
	// [noise] of 3 numbers; the same ones when asked again: true
	// 3 whole numbers nearest to a thousand times each
}
