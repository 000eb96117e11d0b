package bound

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"
)

// manyRows are people with 1 to 200 rows each, most of them with few, and some of one group.
func manyRows(groups int) (rows []row) {
	for p := range 900 {
		h := mix(uint64(p))
		n := 1 + int(h%17)
		if p%40 == 0 {
			n = int(h % 201) // up to 200, with those around where the way changes
		}
		some := []uint64{uint64(groups), uint64(groups), 5, 9}[h>>20%4]
		for i := range n {
			x := mix(h + uint64(i))
			rows = append(rows, row{person(int64(h>>8) - 1<<54), int32(x % some), []int64{0, int64(x>>40%2001) - 1000, 0}})
		}
	}
	return rows
}

var slimMeasures = []Measure{{Kind: Rows, Lo: new(big.Int), Hi: big.NewInt(2)}, {Kind: Sum, Lo: big.NewInt(-900), Hi: big.NewInt(1500),
	Reach: 1000}, {Kind: People}}

// TestNamed has people with numbers, whose groups follow from their names: somebody who comes
// before all others changes every number and what nobody else keeps.
func TestNamed(t *testing.T) {
	for _, most := range []int{1, 5, 9} {
		for _, measures := range [][]Measure{slimMeasures, append(slices.Clone(slimMeasures), slimMeasures[1])} {
			s := Spec{Groups: 200, MaxGroups: most, Measures: measures}
			rows := manyRows(s.Groups)
			for i := range rows {
				rows[i].values = append(rows[i].values, rows[i].values[1])[:len(measures)]
			}
			slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.person, b.person) })
			var people []string
			for _, r := range rows {
				if len(people) == 0 || people[len(people)-1] != r.person {
					people = append(people, r.person)
				}
			}
			numbered := slices.Clone(rows)
			for i := range numbered {
				at, _ := slices.BinarySearch(people, numbered[i].person)
				numbered[i].person = person(int64(at))
			}
			want := fmt.Sprint(naive(s, rows, true))
			s.Names = func(n int64) []byte { return []byte(people[n]) }
			got, err := Run(context.Background(), s, source(s, numbered, false, 2048, 2))
			if err != nil || fmt.Sprint(got) != want {
				t.Errorf("%d groups, %d measures: not the definition (%v)", most, len(measures), err)
			}
		}
	}
}
