package mech_test

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

// A ward is watched for a year. On which two days are there too many patients?
// All days together cost one epsilon, because all but two of the answers are
// "below".
func ExampleReleaser_OpenSparse() {
	epsilon, _ := dp.Parse("1")
	m, err := mech.NewSparse(mech.SparseConfig{
		Sensitivity: dp.NewL1(big.NewInt(1)),
		Above:       2,
		Epsilon:     epsilon,
		Monotone:    true, // one patient more is never one fewer on another day
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("costs", m.Cost().Epsilon, "and is right within", m.Accuracy(365, 0.05), "patients")

	session := mech.NewReleaser(noise.NewSource()).OpenSparse(m)
	for day := 1; day <= 365; day++ {
		patients := int64(20)
		if day == 50 || day == 300 {
			patients = 900
		}
		answer, err := session.Ask(mech.Exactly(patients), 400)
		if errors.Is(err, mech.ErrHalted) {
			fmt.Println(err)
			break
		}
		if answer.Above {
			fmt.Println("too many on day", day)
		}
	}
	// Output:
	// costs 1 and is right within 40 patients
	// too many on day 50
	// too many on day 300
	// the session has ended: it has given all its "above" answers; open another, which costs as much again
}
