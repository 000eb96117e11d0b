package bound

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"
)

// TestSortSix tries all inputs of zeros and ones, which is enough for a network of comparisons.
func TestSortSix(t *testing.T) {
	for n := range 1 << handful {
		var x [handful]int64
		for i := range x {
			x[i] = int64(n >> i & 1)
		}
		a, b, c, d, e, f := sortSix(x[0], x[1], x[2], x[3], x[4], x[5])
		if got := []int64{a, b, c, d, e, f}; !slices.IsSorted(got) {
			t.Errorf("%v becomes %v", x, got)
		}
	}
}

// TestChoiceBetweenTies has hashes that differ in their lowest bits alone, which a person's groups
// have once in a long while: every way to choose keeps those that are smallest all the same.
func TestChoiceBetweenTies(t *testing.T) {
	for most := 1; most <= handful+2; most++ {
		for n := most + 1; n <= few+3; n++ {
			k := &kernel{layout: &layout{Spec: Spec{MaxGroups: most}}}
			for i := range n {
				k.hash = append(k.hash, 1<<63|uint64(i*7%n))
			}
			order := slices.Clone(k.hash)
			slices.Sort(order)
			if len(slices.Compact(slices.Clone(order))) != n {
				continue // no two groups of a person have one hash
			}
			k.choose(0, uint32(n))
			if len(k.kept) != most {
				t.Fatalf("%d of %d: keeps %d", most, n, len(k.kept))
			}
			for _, i := range k.kept {
				if k.hash[i] >= order[most] {
					t.Errorf("%d of %d: keeps hash %x", most, n, k.hash[i])
				}
			}
		}
	}
}

// TestManyGroups has as many groups as fit beside a person, and more.
func TestManyGroups(t *testing.T) {
	for _, groups := range []int{parts - 1, parts, parts + 1, 5 * parts} {
		s := Spec{Groups: groups, MaxGroups: 4, Measures: []Measure{{Kind: Rows, Lo: new(big.Int), Hi: big.NewInt(2)},
			{Kind: Sum, Lo: big.NewInt(-9), Hi: big.NewInt(9), Reach: 100}}}
		var rows []row
		for i := range 30_000 {
			h := mix(uint64(i))
			g := int32(h % uint64(groups))
			if i%3 == 0 {
				g = int32(groups) - 1 - int32(i%7)
			}
			rows = append(rows, row{person(int64(h >> 40 % 2000)), g, []int64{0, int64(h>>50%201) - 100}})
		}
		want := fmt.Sprint(naive(s, rows, false))
		for _, ordered := range []bool{false, true} {
			if ordered {
				slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.person, b.person) })
			}
			got, err := Run(context.Background(), s, source(s, rows, false, 2048, 2))
			if err != nil || fmt.Sprint(got) != want {
				t.Errorf("%d groups, ordered %v: not the definition (%v)", groups, ordered, err)
			}
		}
	}
}

// TestSortedBucket has people whose rows share a bucket and are so many that the bucket is sorted
// as a whole: two with hundreds of rows each, among each other.
func TestSortedBucket(t *testing.T) {
	l, err := newLayout(Spec{Groups: 50, MaxGroups: 5, Measures: []Measure{{Kind: Rows, Lo: new(big.Int), Hi: big.NewInt(10)}}})
	if err != nil {
		t.Fatal(err)
	}
	s := sorter{layout: l}
	b := block{form: intRows}
	for i := range 40 * far {
		// The highest bits are the same, so all are in one bucket.
		b.words = append(b.words, 5<<60|uint64(1000-i%3)<<partBits|uint64(i%50))
	}
	s.sort([]block{b}, true)
	if !slices.IsSortedFunc(s.keys, func(a, b uint64) int { return cmp.Compare(a>>partBits, b>>partBits) }) {
		t.Error("people are among each other")
	}
	slices.Sort(b.words)
	slices.Sort(s.keys)
	if !slices.Equal(b.words, s.keys) {
		t.Error("the rows are not the same")
	}
}

// TestSpill moves totals to 128 bits in the middle, as after 2^31 pairs.
func TestSpill(t *testing.T) {
	l, err := newLayout(Spec{Groups: 3, MaxGroups: 2, Measures: []Measure{{Kind: Rows, Lo: new(big.Int), Hi: big.NewInt(1)},
		{Kind: Sum, Lo: big.NewInt(-slimReach), Hi: big.NewInt(slimReach), Reach: 1 << 20}, {Kind: People}}})
	if err != nil || !l.slim {
		t.Fatal("not slim", err)
	}
	k := newKernel(l)
	for range 3 {
		k.slim.added = mostPairs // as if there had been so many
		k.runRows(&Batch{Ints: []int64{1, 1, 2}, Groups: []int32{0, 2, 2}, Values: [][]int64{nil, {-5, 7, 1}, nil}}, 0, 3)
	}
	k.spill()
	want := [][]wide{{{0, 3}, {}, {0, 6}}, {{-1, 1<<64 - 15}, {}, {0, 24}}, {{0, 3}, {}, {0, 6}}}
	if got := fmt.Sprint(k.totals); got != fmt.Sprint(want) {
		t.Error(got)
	}
}
