package exact

import (
	"fmt"
	"math"
	"testing"
)

func TestBetween(t *testing.T) {
	for _, c := range []struct {
		a, b []int64
		want string
	}{
		{nil, nil, "0 0 0 false false true"},
		{[]int64{1, 2}, []int64{1, 2}, "0 0 0 false false true"},
		{[]int64{1, 2}, []int64{4, -2}, "7 25 4 true true true"},
		{[]int64{0, 0, 5}, []int64{1, 2, 5}, "3 5 2 true false true"},
		{[]int64{3}, []int64{1}, "2 4 2 false true true"},
		{[]int64{1}, []int64{1, 2}, "0 0 0 false false false"},
		// The difference is no int64, and its square is no float64.
		{[]int64{math.MinInt64}, []int64{math.MaxInt64},
			"18446744073709551615 340282366920938463426481119284349108225 18446744073709551615 true false true"},
	} {
		m, ok := Between(Seal(c.a), Seal(c.b))
		if got := fmt.Sprint(m.L1, m.L2Squared, m.Largest, m.Up, m.Down, ok); got != c.want {
			t.Errorf("%v and %v: %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

func TestBetweenNamed(t *testing.T) {
	a, b := Seal([]int64{1, 2, 3, 4}), Seal([]int64{3, 5, 7, 7})
	m, ok := BetweenNamed(a, b, []string{"x", "y"}, []string{"y", "z"}, 2)
	// x: 1 and 2 are gone; y: 3, 4 against 3, 5; z: 7 and 7 are new.
	if !ok || m.L1.Int64() != 1+2+1+14 || m.Largest.Int64() != 7 || m.L2Squared.Int64() != 1+4+1+49+49 {
		t.Errorf("%v %+v", ok, m)
	}
	if _, ok := BetweenNamed(a, b, []string{"x"}, []string{"y", "z"}, 2); ok {
		t.Error("lengths that do not fit")
	}
	if n := Apart(Seal([]int64{1, 1, 2, 5}), Seal([]int64{5, 1, 3})); n != 3 {
		t.Error(n)
	}
}

func TestExchanged(t *testing.T) {
	for _, c := range []struct {
		a, b       []int64
		came, went int
	}{
		{nil, nil, 0, 0},
		{[]int64{3, 1, 2}, []int64{1, 2, 3}, 0, 0},
		{[]int64{1, 1, 2}, []int64{2, 1}, 0, 1},
		{[]int64{1}, []int64{2, 1, 1, 0}, 3, 0},
		{[]int64{5, 6}, []int64{7}, 1, 2},
	} {
		if came, went := Exchanged(Seal(c.a), Seal(c.b)); came != c.came || went != c.went {
			t.Errorf("%v and %v: %d came, %d went", c.a, c.b, came, went)
		}
	}
}
