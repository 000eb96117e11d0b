package mech_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

// Nobody knows how long patients stay. The range is estimated before a sum over
// it is asked for.
func ExampleReleaser_EstimateBounds() {
	epsilon, _ := dp.Parse("0.5")
	b, err := mech.NewBounds(mech.BoundsConfig{RowsPerUnit: 1, Epsilon: epsilon, Beta: 1e-9})
	if err != nil {
		fmt.Println(err)
		return
	}
	bins := make([]int64, mech.BoundsBins)
	for stay := int64(1); stay <= 90; stay++ { // 1000 patients for each length
		bins[mech.BoundsBin(stay)] += 1000
	}
	r, ok, err := mech.NewReleaser(noise.NewSource()).EstimateBounds(mech.Exactly(bins...), b)
	fmt.Println(r.Low, "to", r.High, ok, err)
	fmt.Println("costs", b.Cost().Epsilon)
	fmt.Println("a bin outside has fewer rows than", b.Missed(1e-9))
	// Output:
	// 1 to 128 true <nil>
	// costs 0.5
	// a bin outside has fewer rows than 101
}
