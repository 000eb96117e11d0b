package bound

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestHandful compares with the definition where people keep few groups of many.
func TestHandful(t *testing.T) {
	for _, groups := range []int{enough - 1, enough, 1000} {
		rows := manyRows(groups)
		for most := 1; most <= palm+2; most++ {
			for first := range slimMeasures {
				s := Spec{Groups: groups, MaxGroups: most, Salt: [32]byte{1, 8: 2, 31: 3}, Measures: slimMeasures[first:]}
				own := slices.Clone(rows)
				for i := range own {
					own[i].values = own[i].values[first:]
				}
				want := fmt.Sprint(naive(s, own, false))
				for _, ordered := range []bool{false, true} {
					if ordered {
						slices.SortStableFunc(own, func(a, b row) int { return cmp.Compare(a.person, b.person) })
					} else {
						slices.SortFunc(own, func(a, b row) int { return cmp.Compare(mix(uint64(a.values[0])), mix(uint64(b.values[0]))) })
					}
					got, err := Run(context.Background(), s, source(s, own, false, 2048, 2))
					if err != nil || fmt.Sprint(got) != want {
						t.Fatalf("%d of %d groups, measures from %d on, ordered %v: not the definition (%v)", most, groups, first,
							ordered, err)
					}
				}
			}
		}
	}
}

// TestLeast finds the smallest that differ, where they are few and where one is the largest of all.
func TestLeast(t *testing.T) {
	for n := range 40 {
		for _, distinct := range []int{1, 3, palm, 30} {
			var hash []uint64
			for i := range n {
				x := mix(uint64(i % distinct))
				if i%distinct == 1 {
					x = math.MaxInt64
				}
				hash = append(hash, x)
			}
			want := make([]int64, 0, n)
			for _, h := range hash {
				want = append(want, int64(h))
			}
			slices.Sort(want)
			want = slices.Compact(want)
			for len(want) < palm {
				want = append(want, math.MaxInt64)
			}
			if got := least(hash); fmt.Sprint(got) != fmt.Sprint(want[:palm]) {
				t.Errorf("%d of %d: %v, not %v", n, distinct, got, want[:palm])
			}
		}
	}
}
