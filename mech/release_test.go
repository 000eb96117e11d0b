package mech

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

func TestReleaseKeepsItsInput(t *testing.T) {
	v := []int64{1, 2, 3}
	x := Exactly(v...)
	v[0] = 99
	out := seeded(1).Release(x, laplace(t, 1, "0.1"))
	if len(out) != 3 || x.Open()[0] != 1 || x.Open()[2] != 3 {
		t.Errorf("release changed its input: %v", x.Open())
	}
	if got := seeded(1).Release(Exactly(), laplace(t, 1, "1")); len(got) != 0 {
		t.Errorf("nothing became %v", got)
	}
}

// How many bytes a release reads depends on the length and the mechanism.
func TestReleaseDrawsFirst(t *testing.T) {
	read := func(v ...int64) int {
		s := newStream(5)
		NewReleaser(entropy.FromReader(s)).Release(Exactly(v...), gaussian(t, 4, "0.1"))
		return s.read
	}
	want := read(0, 0, 0, 0)
	for _, v := range [][]int64{{1, 2, 3, 4}, {math.MaxInt64, math.MinInt64, 0, -1}, {7, 7, 7, 7}} {
		if got := read(v...); got != want {
			t.Errorf("%v reads %d bytes, not %d", v, got, want)
		}
	}
}

func TestReleaseClamps(t *testing.T) {
	for _, c := range [][3]int64{
		{1, 2, 3}, {math.MaxInt64, 1, math.MaxInt64}, {math.MinInt64, -1, math.MinInt64},
		{math.MaxInt64, -1, math.MaxInt64 - 1}, {math.MinInt64, 1, math.MinInt64 + 1},
		{math.MaxInt64, math.MinInt64, -1}, {math.MinInt64, math.MinInt64, math.MinInt64},
	} {
		if got := addClamped(c[0], c[1]); got != c[2] {
			t.Errorf("%d + %d = %d, want %d", c[0], c[1], got, c[2])
		}
	}
	for range 100 {
		for _, v := range seeded(9).Release(Exactly(math.MaxInt64, math.MinInt64), laplace(t, 1000, "0.1")) {
			if abs(v/2) < math.MaxInt64/4 {
				t.Fatalf("a sum wrapped around to %d", v)
			}
		}
	}
}

// What is recorded stays sealed, and reads the same in every format.
func TestRecord(t *testing.T) {
	r := seeded(1)
	var calls []Call
	r.Record(func(c Call) { calls = append(calls, c) })
	r.Release(Exactly(123456), laplace(t, 2, "0.5"))
	r.Release(Exactly(123456, 7), gaussian(t, 2, "0.5"))
	r.Record(nil)
	r.Release(Exactly(1), laplace(t, 2, "0.5"))
	if len(calls) != 2 || calls[0].Mechanism != "laplace" || calls[1].Mechanism != "gaussian" {
		t.Fatalf("calls %v", calls)
	}
	if calls[0].Parameter.RatString() != "4" || calls[1].Parameter.RatString() != "2" {
		t.Errorf("parameters %v and %v", calls[0].Parameter, calls[1].Parameter)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s", "%x"} {
		if text := fmt.Sprintf(verb, calls[0]); strings.Contains(text, "123456") || strings.Contains(text, "1e240") {
			t.Errorf("%s shows the value: %s", verb, text)
		}
	}
	if _, err := json.Marshal(calls[0]); err == nil {
		t.Error("an exact value was encoded")
	}
}

func TestReleaserIsSafeForConcurrentUse(t *testing.T) {
	r := NewReleaser(noise.NewSource())
	m := laplace(t, 1, "1")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				r.Release(Exactly(1, 2, 3), m)
			}
		})
	}
	wg.Wait()
}
