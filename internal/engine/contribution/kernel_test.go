package contribution

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

// TestSortSix tries all inputs of zeros and ones, which is enough for a network of comparisons.
func TestSortSix(t *testing.T) {
	for n := range 1 << maxRegisterGroups {
		var x [maxRegisterGroups]int64
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
	for most := 1; most <= maxRegisterGroups+2; most++ {
		for n := most + 1; n <= maxRankedPairs+3; n++ {
			k := &pairTable{layout: &layout{Spec: Spec{MaxGroups: most}}}
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
	for _, groups := range daily.Sample(t, []int{partCount - 1, partCount, partCount + 1, 5 * partCount}, 2) {
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
	for i := range 40 * maxMove {
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
		k.slim.out.added = maxSlimPairs // as if there had been so many
		k.slim.runRows(&Batch{Ints: []int64{1, 1, 2}, Groups: []int32{0, 2, 2}, Values: [][]int64{nil, {-5, 7, 1}, nil}}, 0, 3)
	}
	k.slim.out.spill()
	want := [][]wide{{{0, 3}, {}, {0, 6}}, {{-1, 1<<64 - 15}, {}, {0, 24}}, {{0, 3}, {}, {0, 6}}}
	if got := fmt.Sprint(k.totals.sums); got != fmt.Sprint(want) {
		t.Error(got)
	}
}

// TestHandful compares with the definition where people keep few groups of many.
func TestHandful(t *testing.T) {
	for _, groups := range daily.Sample(t, []int{minManyGroups - 1, minManyGroups, 1000}, 1) {
		rows := manyRows(groups)
		for most := 1; most <= maxFewGroups+2; most++ {
			for first, measures := range [][]Measure{slimMeasures, slimMeasures[1:], slimMeasures[2:], scaledMeasures} {
				first %= len(slimMeasures)
				s := Spec{Groups: groups, MaxGroups: most, Salt: [32]byte{1, 8: 2, 31: 3}, Measures: measures}
				own := slices.Clone(rows)
				for i := range own {
					own[i].values = own[i].values[first:][:len(measures)]
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
						t.Fatalf("%d of %d groups, measures %v, ordered %v: not the definition (%v)", most, groups, measures,
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
		for _, distinct := range []int{1, 3, maxFewGroups, 30} {
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
			for len(want) < maxFewGroups {
				want = append(want, math.MaxInt64)
			}
			if got := smallestHashes(hash); fmt.Sprint(got) != fmt.Sprint(want[:maxFewGroups]) {
				t.Errorf("%d of %d: %v, not %v", n, distinct, got, want[:maxFewGroups])
			}
		}
	}
}

// unmix is the inverse of mix, with which people can be made whose groups have chosen hashes: what
// happens to nobody by chance can happen to who knows the salt.
func unmix(x uint64) uint64 {
	inverse := func(m uint64) uint64 { // by Newton, who doubles the bits that are right
		r := m
		for range 5 {
			r *= 2 - m*r
		}
		return r
	}
	x ^= x>>31 ^ x>>62
	x *= inverse(0x94d049bb133111eb)
	x ^= x>>27 ^ x>>54
	x *= inverse(0xbf58476d1ce4e5b9)
	return x ^ x>>30 ^ x>>60
}

func TestUnmix(t *testing.T) {
	for i := range uint64(1000) {
		if x := mix(i); unmix(mix(x)) != x || mix(unmix(x)) != x {
			t.Fatal(x)
		}
	}
}

// TestLastHashes has people with a hash among the last there are, where places of nobody's rows
// are: they keep their own rows, and no other's.
func TestLastHashes(t *testing.T) {
	for _, measures := range [][]Measure{slimMeasures, scaledMeasures, {{Kind: Rows, Lo: new(big.Int), Hi: new(big.Int)}, {Kind: People}}} {
		s := Spec{Groups: minManyGroups, MaxGroups: maxFewGroups, Salt: [32]byte{7}, Measures: measures}
		l, err := newLayout(s)
		if err != nil || !l.keepsFewGroups() {
			t.Fatal(err)
		}
		var rows []row
		for below := range uint64(2 * (maxFewGroups + 2) << (rowBits + 1)) {
			first := int32(below % minManyGroups)
			seed := unmix(math.MaxUint64-below) - uint64(first)*phi - l.s1
			who := person(int64(unmix(seed) ^ l.s0))
			if l.order(l.seedInt(intOf(who)), first) != math.MaxUint64-below {
				t.Fatal("this is not the hash that was chosen")
			}
			n := int32(below % 9)
			for i := range n { // the chosen one is the last
				rows = append(rows, row{who, (first + 5*(n-1-i)) % minManyGroups, []int64{0, int64(below%201) - 100, 0}})
			}
		}
		slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.person, b.person) })
		for _, s.Unordered = range []bool{false, true} {
			got, err := Run(context.Background(), s, source(s, rows, false, 2048, 1))
			if err != nil || fmt.Sprint(got) != fmt.Sprint(naive(s, rows, false)) {
				t.Errorf("unordered %v: not the definition (%v)", s.Unordered, err)
			}
		}
	}
}

// TestHandfulSpills: where people keep a handful, too, totals are moved to 128 bits before they
// overflow.
func TestHandfulSpills(t *testing.T) {
	l, err := newLayout(Spec{Groups: minManyGroups, MaxGroups: 1, Measures: []Measure{{Kind: Rows, Lo: new(big.Int), Hi: big.NewInt(1)}}})
	if err != nil || !l.keepsFewGroups() {
		t.Fatal(err)
	}
	k := newKernel(l)
	k.slim.out.sums[3].rows, k.slim.out.added = math.MaxInt64, maxSlimPairs
	k.slim.runRows(&Batch{Ints: []int64{1, 2}, Groups: []int32{3, 3}, Values: [][]int64{nil}}, 0, 2)
	k.slim.out.spill()
	if got := k.totals.sums[0][3]; got != (wide{0, math.MaxInt64 + 2}) {
		t.Error(got)
	}
}

// TestPickCollisions has rows of one person that share a hash: their values decide which of them
// count, and each of them is a value of its own.
func TestPickCollisions(t *testing.T) {
	s := Spec{Groups: 1, MaxGroups: 1, Unordered: true,
		Measures: []Measure{{Kind: Carried, Reach: 9}, {Kind: Carried, Reach: math.MaxInt64}},
		Pick:     &Pick{MaxRows: 1, Flag: -1, Sink: func() Sink { return nil }}}
	l, err := newLayout(s)
	if err != nil {
		t.Fatal(err)
	}
	const me = 7
	seed := l.first(l.seedInt(me))
	one := []int64{1, 5}
	other := []int64{2, int64(5 ^ mix(seed^1) ^ mix(seed^2))}
	if l.next(l.next(seed, 1), uint64(one[1])) != l.next(l.next(seed, 2), uint64(other[1])) {
		t.Fatal("this is no collision")
	}
	for _, c := range []struct {
		most     int64
		distinct bool
		before   int // how many of the other come before
		want     string
	}{
		{1, false, 1, fmt.Sprint([][]int64{one})},
		{1, false, 100, fmt.Sprint([][]int64{one})},
		{1, true, 100, fmt.Sprint([][]int64{one})},
		{2, true, 3, fmt.Sprint([][]int64{one, other})},
		{2, true, 100, fmt.Sprint([][]int64{one, other})},
	} {
		rows := append(slices.Repeat([]row{{person(me), 0, other}}, c.before), row{person(me), 0, one})
		if got := pickedOf(t, s, c.most, c.distinct, rows); got != c.want {
			t.Errorf("%d of %d: %s, and not %s", c.most, len(rows), got, c.want)
		}
	}
	// One value a hundred times is one of those that count, and leaves room for others.
	rows := slices.Repeat([]row{{person(me), 0, one}}, 200)
	for i := range int64(5) {
		rows = append(rows, row{person(me), 0, []int64{3, i}})
	}
	s.Pick.MaxRows, s.Pick.Distinct = 6, true
	if got, want := pickedOf(t, s, 6, true, rows), fmt.Sprint(naivePick(s, rows, false)[0]); got != want {
		t.Errorf("%s, and not %s", got, want)
	}
}

// pickedOf returns the rows of the first group that are picked.
func pickedOf(t *testing.T, s Spec, most int64, distinct bool, rows []row) string {
	t.Helper()
	var last *gathered
	s.Pick = &Pick{MaxRows: most, Distinct: distinct, Flag: s.Pick.Flag,
		Sink: func() Sink { last = &gathered{rows: map[int32][][]int64{}}; return last }}
	if _, err := Run(context.Background(), s, source(s, rows, false, 50, 1)); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(last.rows[0], slices.Compare)
	return fmt.Sprint(last.rows[0])
}

// TestSharedNames has a person with many groups of one name: their keys decide, whichever comes
// first.
func TestSharedNames(t *testing.T) {
	const groups, most = 300, 3
	s := Spec{Groups: groups, MaxGroups: most, Measures: []Measure{{Kind: People}}, Unordered: true,
		Private: &Private{Names: make([]uint64, groups), Of: make([]int32, groups), Combos: 1,
			Compare: func(a, b int32) int { return cmp.Compare(b, a) }}}
	var rows []row
	for g := range int32(groups) {
		rows = append(rows, row{person(1), g, []int64{0}})
	}
	got, err := Run(context.Background(), s, source(s, rows, false, 50, 1))
	if err != nil {
		t.Fatal(err)
	}
	for g, n := range got[0] {
		if (n == 1) != (g >= groups-most) {
			t.Errorf("group %d is kept %d times", g, n)
		}
	}
	if got[1][0] != 1 {
		t.Errorf("one person is %d", got[1][0])
	}
}

// TestPlaceOfNoValue: a group in which somebody has no value takes one of their places, also where
// its rows were compacted before others came.
func TestPlaceOfNoValue(t *testing.T) {
	var last *gathered
	l, err := newLayout(Spec{Groups: 2, MaxGroups: 1, Measures: []Measure{{Kind: Carried, Reach: 9}},
		Pick: &Pick{MaxRows: 1, Sink: func() Sink { return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	for who := range int64(50) {
		last = &gathered{rows: map[int32][][]int64{}}
		p := newPool(l.lanes)
		s, r := newScatter(l, p), newReducer(l, p)
		r.kernel.picker.sink = last
		seed := l.seedInt(who)
		first, second := int32(0), int32(1) // in the person's own order
		if l.order(seed, 1) < l.order(seed, 0) {
			first, second = 1, 0
		}
		at := partitionOf(seed)
		s.add(&Batch{Ints: []int64{who}, Groups: []int32{first}, Values: [][]int64{{0}}}, 0, 1, 0, partCount)
		blocks := r.compact(at, s.take(at), false)
		s.add(&Batch{Ints: []int64{who}, Groups: []int32{second}, Values: [][]int64{{5}}}, 0, 1, 0, partCount)
		r.finish(at, append(blocks, s.take(at)...), false)
		if len(last.rows) > 0 {
			t.Fatalf("person %d has %v of a second group", who, last.rows)
		}
	}
}
