package bound

import (
	"context"
	"math"
	"math/big"
	"testing"
)

// TestSingles: each row is clamped by itself, whatever it holds, and sums are exact beyond 64 bits,
// below zero too. Rows of no group are left out.
func TestSingles(t *testing.T) {
	for _, groups := range []int{1, 3} {
		big53 := big.NewInt(1 << 53)
		s := Spec{Groups: groups, MaxGroups: 1, Measures: []Measure{
			{Kind: Rows, Lo: new(big.Int), Hi: big.NewInt(1)},
			{Kind: Sum, Lo: new(big.Int), Hi: big.NewInt(10), Reach: 10},
			{Kind: Sum, Lo: new(big.Int).Neg(big53), Hi: big53, Reach: 1 << 53},
		}}
		const n = 5000
		batch := &Batch{Groups: make([]int32, n), Values: [][]int64{nil, make([]int64, n), make([]int64, n)}}
		var want [3]*big.Int
		for i := range want {
			want[i] = new(big.Int)
		}
		for i := range n {
			batch.Groups[i] = int32(i%2) - 1 // every other row is left out
			batch.Values[1][i] = []int64{math.MaxInt64, -5, 7}[i%3]
			batch.Values[2][i] = []int64{math.MinInt64, math.MaxInt64, -3, 1<<53 - 1}[i%4]
			if batch.Groups[i] < 0 {
				continue
			}
			want[0].Add(want[0], big.NewInt(1))
			want[1].Add(want[1], big.NewInt(min(max(batch.Values[1][i], 0), 10)))
			want[2].Add(want[2], big.NewInt(min(max(batch.Values[2][i], -1<<53), 1<<53)))
		}
		got, err := Singles(context.Background(), s, func(take func(*Batch) error) error { return take(batch) })
		if err != nil {
			t.Fatal(err)
		}
		for m := range want {
			if limit := big.NewInt(Limit); want[m].Cmp(limit) > 0 {
				want[m] = limit
			}
			if got[m][0] != want[m].Int64() {
				t.Errorf("%d groups, measure %d: %d, and not %v", groups, m, got[m][0], want[m])
			}
		}
		for _, bad := range []int32{int32(groups), -2} {
			batch.Groups[7] = bad
			if _, err := Singles(context.Background(), s, func(take func(*Batch) error) error { return take(batch) }); err == nil {
				t.Errorf("group %d of %d was taken", bad, groups)
			}
		}
	}
}
