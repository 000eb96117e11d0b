package daily_test

import (
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

func TestSample(t *testing.T) {
	if daily.Full() {
		t.Skip("everything is chosen")
	}
	cases := make([]int, 100)
	for i := range cases {
		cases[i] = i
	}
	seen := map[int]bool{}
	var before []int
	for _, day := range []string{"2026-11-18", "2026-11-18", "2026-11-19", "2026-11-20"} {
		t.Setenv("DISCREET_DAY", day)
		got := daily.Sample(t, cases, 30)
		if len(got) != 30 || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != 30 {
			t.Errorf("%s: %v", day, got)
		}
		if same := slices.Equal(got, before); same != (day == "2026-11-18" && before != nil) {
			t.Errorf("%s: the same as before: %v", day, same)
		}
		for _, c := range got {
			seen[c] = true
		}
		before = got
	}
	if len(seen) < 50 {
		t.Errorf("three days chose only %d of 100", len(seen))
	}
	if got := daily.Sample(t, cases[:7], 30); len(got) != 7 {
		t.Errorf("%v", got)
	}
}

// TestSamplesOfOneTest: what one sample chooses does not decide what another one does, so that all
// pairs have their day.
func TestSamplesOfOneTest(t *testing.T) {
	if daily.Full() {
		t.Skip("everything is chosen")
	}
	met := map[[2]int]bool{}
	for day := range 60 {
		t.Setenv("DISCREET_DAY", time.Date(2026, 11, 18+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
		met[[2]int{daily.Sample(t, []int{0, 1, 2, 3}, 1)[0], daily.Sample(t, []int{0, 1}, 1)[0]}] = true
	}
	if len(met) != 8 {
		t.Errorf("in 60 days %d of 8 pairs were chosen", len(met))
	}
}

// TestTurn: in so many days everybody has a turn.
func TestTurn(t *testing.T) {
	seen := map[int]bool{}
	for _, day := range []string{"2026-11-28", "2026-11-29", "2026-11-30", "2026-12-01", "2026-12-01"} {
		t.Setenv("DISCREET_DAY", day)
		seen[daily.Turn(4)] = true
	}
	if len(seen) != 4 || seen[-1] || seen[4] {
		t.Errorf("%v", seen)
	}
}
