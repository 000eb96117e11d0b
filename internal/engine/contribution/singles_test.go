package contribution

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
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

// TestStored: columns as they are stored give what copies of them give that were clamped before, in
// any order of measures, for one group and for several, below zero too; and a value beyond the
// measure's interval adds no more than its end.
func TestStored(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	extremes := []int64{math.MinInt64, math.MinInt32, -100, -7, -1, 0, 1, 5, 9, 100, math.MaxInt32, math.MaxUint32, math.MaxInt64}
	for range 3000 {
		s := Spec{Groups: 1 + r.IntN(3), MaxGroups: 1}
		n := r.IntN(50)
		stored := &Batch{Groups: make([]int32, n)}
		copied := &Batch{Groups: stored.Groups}
		for i := range n {
			stored.Groups[i] = int32(r.IntN(s.Groups+1)) - 1
		}
		for range 1 + r.IntN(4) {
			hi := big.NewInt(max(0, extremes[r.IntN(len(extremes))]))
			m := Measure{Kind: Kind(r.IntN(4)), Lo: big.NewInt(min(0, extremes[r.IntN(len(extremes))])), Hi: hi, Reach: 1 << 40}
			s.Measures = append(s.Measures, m)
			one, values := storedColumn(r, m, n, extremes)
			stored.Stored, stored.Values = append(stored.Stored, one), append(stored.Values, nil)
			copied.Values = append(copied.Values, values)
		}
		want := totalsOf(t, s, copied)
		if got := totalsOf(t, s, stored); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\nstored  %v\ncopied %v", s.Measures, got, want)
		}
		for m, spec := range s.Measures {
			for g, total := range want[m] {
				if most := spec.Hi.Int64(); spec.Kind != People && most < Limit/50 && total > int64(n)*most {
					t.Fatalf("group %d of %+v adds up to %d", g, spec, total)
				}
			}
		}
	}
}

// storedColumn makes up a column, and a copy that is clamped.
func storedColumn(r *rand.Rand, m Measure, n int, extremes []int64) (s Stored, values []int64) {
	if m.Kind != Values && m.Kind != Sum {
		return s, nil
	}
	values = make([]int64, n)
	s.Lo, s.Hi = extremes[r.IntN(len(extremes))], extremes[r.IntN(len(extremes))]
	s.Lo, s.Hi = min(s.Lo, s.Hi), max(s.Lo, s.Hi)
	if m.Kind == Values {
		s.Ones = true
		for i := range values {
			values[i] = 1
		}
		return s, values
	}
	half := r.IntN(2) == 0
	if s.Full = make([]int64, n); half {
		s.Half, s.Full = make([]int32, n), nil
	}
	for i := range values {
		x := extremes[r.IntN(len(extremes))]
		if half {
			s.Half[i] = int32(x)
			x = int64(s.Half[i])
		} else {
			s.Full[i] = x
		}
		values[i] = min(max(x, s.Lo), s.Hi)
	}
	return s, values
}

func totalsOf(t *testing.T, s Spec, b *Batch) [][]int64 {
	t.Helper()
	out, err := Singles(context.Background(), s, func(take func(*Batch) error) error { return take(b) })
	if err != nil {
		t.Fatalf("%+v: %v", s.Measures, err)
	}
	return out
}

// TestStoredTwice: a measure with two columns, with none, or with one of another length is refused.
func TestStoredTwice(t *testing.T) {
	s := Spec{Groups: 2, MaxGroups: 1, Measures: []Measure{{Kind: Sum, Lo: new(big.Int), Hi: big.NewInt(10), Reach: 10}}}
	groups, three, full := []int32{0, 1, 1}, []int32{1, 2, 3}, []int64{1, 2, 3}
	for name, b := range map[string]*Batch{
		"two":            {Values: [][]int64{nil}, Stored: []Stored{{Half: three, Full: full, Hi: 9}}},
		"beside a copy":  {Values: [][]int64{full}, Stored: []Stored{{Half: three, Hi: 9}}},
		"ones and more":  {Values: [][]int64{nil}, Stored: []Stored{{Half: three, Ones: true, Hi: 9}}},
		"none":           {Values: [][]int64{nil}, Stored: []Stored{{}}},
		"short":          {Values: [][]int64{nil}, Stored: []Stored{{Half: three[:2], Hi: 9}}},
		"another number": {Values: [][]int64{nil}, Stored: []Stored{{Half: three, Hi: 9}, {}}},
		"turned around":  {Values: [][]int64{nil}, Stored: []Stored{{Half: three, Lo: 5, Hi: 4}}},
	} {
		b.Groups = groups
		if _, err := Singles(context.Background(), s, func(take func(*Batch) error) error { return take(b) }); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
