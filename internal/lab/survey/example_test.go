package survey_test

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/survey"
)

// The survey of the textbook: toss a coin; on heads tell the truth, and on tails toss a
// second coin and let it answer. The truth is told with probability 3/4. Of 1000 people
// 400 say yes. A quarter of all, 250, say so because of their coins alone; that leaves
// 150 of the 500 who told the truth, three of ten.
func ExampleNewBiased() {
	coins, err := survey.NewBiased(big.NewRat(1, 4))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("epsilon %.4f, which is ln 3\n", coins.Cost().Epsilon.Float())
	said := coins.Randomize(noise.NewSource(), true)
	fmt.Println("a person answers yes or no:", said || !said)

	asked, _ := coins.Estimate(400, 1000, 0.95, survey.Fixed)
	fmt.Printf("of these people   %.3f, from %.3f to %.3f\n", asked.Proportion, asked.Low, asked.High)
	all, _ := coins.Estimate(400, 1000, 0.95, survey.Sample)
	fmt.Printf("of all they stand for   %.3f, from %.3f to %.3f\n", all.Proportion, all.Low, all.High)
	// Output:
	// epsilon 1.0986, which is ln 3
	// a person answers yes or no: true
	// of these people   0.300, from 0.246 to 0.354
	// of all they stand for   0.300, from 0.239 to 0.362
}

// Forty answers to choose from, and ten thousand people.
func Example() {
	oracle, why, err := survey.ChooseOracle(40, dp.One)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(oracle.Name()+":", why)
	fmt.Println("a report has", oracle.Bits(), "bits and costs", oracle.Cost().Epsilon)

	src := noise.NewSource() // every person has one of their own
	collector := survey.NewCollector(oracle)
	for person := range 10_000 {
		report, err := oracle.Randomize(src, person%2) // half hold 0, half hold 1
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := collector.Add(report); err != nil {
			fmt.Println(err)
			return
		}
	}
	estimates, _ := collector.Estimates(0.999999, survey.Fixed)
	fmt.Println("0 is held by more than a third:", estimates[0].Low > 1.0/3)
	fmt.Println("2 may be held by nobody:", estimates[2].Low == 0)
	// Output:
	// oue: 40 values are more than 3 exp(epsilon) + 2 = 10.15, and few enough to send a bit for each
	// a report has 40 bits and costs 1
	// 0 is held by more than a third: true
	// 2 may be held by nobody: true
}

// The most frequent of a million values, each person being asked for one bit.
func ExampleHeavyHitters() {
	heavy, err := survey.NewHeavyHitters(1_000_000, dp.One)
	if err != nil {
		fmt.Println(err)
		return
	}
	floor, _ := heavy.Floor(50_000, 0.95)
	fmt.Printf("a report has %d bits; what %.2f hold is found\n", heavy.Bits(), floor)
	src := noise.NewSource()
	collector := survey.NewHeavyCollector(heavy)
	for person := range uint64(50_000) {
		value := person * 17
		if person%4 == 0 {
			value = 271_828
		}
		report, err := heavy.Randomize(src, value)
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := collector.Add(report); err != nil {
			fmt.Println(err)
			return
		}
	}
	found, _ := collector.Find(0.999999)
	for _, f := range found {
		fmt.Println(f.Value, "is held by a quarter, and not by a tenth or by all:", f.Low > 0.1 && f.High < 1)
	}
	// Output:
	// a report has 21 bits; what 0.07 hold is found
	// 271828 is held by a quarter, and not by a tenth or by all: true
}
