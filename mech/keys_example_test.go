package mech_test

import (
	"fmt"
	"sort"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

// Diagnoses come from the data. A diagnosis that one patient has must not show.
func ExampleReleaser_ReleaseKeys() {
	epsilon, _ := dp.Parse("1")
	delta, _ := dp.Parse("1e-9")
	k, err := mech.NewKeyThreshold(mech.KeyConfig{GroupsPerUnit: 1, Epsilon: epsilon, Delta: delta})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(k.Why())

	diagnoses := []string{"influenza", "kuru", "asthma"}
	patients := mech.Exactly(812, 1, 345)
	var released []string
	for _, key := range mech.NewReleaser(noise.NewSource()).ReleaseKeys(patients, k) {
		released = append(released, diagnoses[key.Index])
	}
	sort.Strings(released) // the order of the data is private
	fmt.Println(released)
	// Output:
	// laplace noise: threshold 22, against 38 with gaussian noise
	// [asthma influenza]
}

// Without counts, keys are cheaper: these probabilities are the largest there
// are.
func ExampleReleaser_SelectKeys() {
	epsilon, _ := dp.Parse("1")
	delta, _ := dp.Parse("1e-6")
	k, err := mech.NewKeySelection(mech.KeyConfig{GroupsPerUnit: 1, Epsilon: epsilon, Delta: delta})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range []int64{1, 10, 14, 20} {
		fmt.Println(n, "units are kept with", k.Probability(n).FloatString(6))
	}
	fmt.Println("kept:", mech.NewReleaser(noise.NewSource()).SelectKeys(mech.Exactly(812, 0, 345), k))
	// Output:
	// 1 units are kept with 0.000001
	// 10 units are kept with 0.012818
	// 14 units are kept with 0.699887
	// 20 units are kept with 0.999257
	// kept: [0 2]
}
