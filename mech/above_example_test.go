package mech_test

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

// Somebody predicts how many patients each ward has. The predictions that hold are confirmed for
// nothing; the first that is far off ends the round, and its true count is answered with noise of
// its own, which was paid for with the round. The process may end between two questions.
func ExampleReleaser_OpenAbove() {
	epsilon, _ := dp.Parse("0.5")
	one := dp.NewL1(big.NewInt(1))
	round, err := mech.NewAbove(mech.AboveConfig{Sensitivity: one, Threshold: epsilon, Question: epsilon, OneSided: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := mech.NewLaplace(one, epsilon)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("costs", round.Cost().Add(answer.Cost()).Epsilon)

	releaser := mech.NewReleaser(noise.NewSource())
	open := releaser.OpenAbove(round)
	aside := open.Secret() // into a journal, before the first comparison

	open, err = mech.NewReleaser(noise.NewSource()).ResumeAbove(round, aside)
	if err != nil {
		fmt.Println(err)
		return
	}
	for ward, patients := range []int64{403, 398, 395, 900, 401} {
		value := mech.Exactly(patients)
		far, err := open.AskDistance(value, 400, 200)
		switch {
		case err != nil:
			fmt.Println(err)
		case far:
			noisy := releaser.Release(value, answer)[0]
			fmt.Println("ward", ward, "is far from 400; within 100 of 900:", 800 < noisy && noisy < 1000)
		default:
			fmt.Println("ward", ward, "has about 400")
		}
	}
	// Output:
	// costs 1.5
	// ward 0 has about 400
	// ward 1 has about 400
	// ward 2 has about 400
	// ward 3 is far from 400; within 100 of 900: true
	// this round is over: it has answered "above"; open another, which costs as much again
}
