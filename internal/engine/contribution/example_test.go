package contribution_test

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/engine/contribution"
)

// Person 1 has four rows in group 0, of which two count, and person 2 has one.
func Example() {
	spec := contribution.Spec{Groups: 2, MaxGroups: 1, Measures: []contribution.Measure{
		{Kind: contribution.Rows, Lo: new(big.Int), Hi: big.NewInt(2)},
		{Kind: contribution.People},
	}}
	totals, err := contribution.Run(context.Background(), spec, func(take func(*contribution.Batch) error) error {
		return take(&contribution.Batch{Ints: []int64{1, 1, 2, 1, 1}, Groups: []int32{0, 0, 0, 0, 0}, Values: [][]int64{nil, nil}})
	})
	fmt.Println(totals, err)
	// Output: [[3 0] [2 0]] <nil>
}
