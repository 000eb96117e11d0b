// Package daily chooses what a short run tests of what a long one tests whole: other cases every
// day, the same all day, so that what fails can be run again and a month of short runs is a long
// one.
//
// A test that chose says so: it logs the day, which stands beside what failed. To choose the same
// again, and to run everything:
//
//	DISCREET_DAY=2026-11-18 go test ./internal/planner
//	go test ./internal/planner -full
//	DISCREET_FULL=1 go test ./...
package daily

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/detrand"
)

var full = flag.Bool("full", false, "run everything, for as long as it takes; DISCREET_FULL=1 is the same for all packages")

// Full reports whether everything is to be run.
func Full() bool { return *full || os.Getenv("DISCREET_FULL") != "" }

// Rounds returns how often to do something: a few times, or many where everything is to be run.
func Rounds(few, many int) int {
	if Full() {
		return many
	}
	return few
}

// Choices returns choices that are the same for one test on one day.
func Choices(t testing.TB) detrand.Choices {
	t.Helper()
	return choices(t, "")
}

func choices(t testing.TB, of string) detrand.Choices {
	t.Helper()
	at, err := today()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("chosen by the day; the same again: DISCREET_DAY=%s", at.Format(time.DateOnly))
	return detrand.New(t.Name()+of, uint64(at.Unix()))
}

// Turn returns whose turn of n it is today, from 0, where there is no test to log it: in n days
// everybody has one.
func Turn(n int) int {
	at, err := today()
	if err != nil {
		panic(err)
	}
	return int(at.Unix()/(24*60*60)) % n
}

func today() (time.Time, error) {
	day := os.Getenv("DISCREET_DAY")
	if day == "" {
		return time.Now().UTC().Truncate(24 * time.Hour), nil
	}
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return at, fmt.Errorf("DISCREET_DAY is %q; write it like 2026-11-18", day)
	}
	return at, nil
}

// Sample returns n of some cases, in their order, or all where everything is to be run. Two samples
// of one test, of other cases or as many others, are chosen apart: in time every case meets every
// other one.
func Sample[T any](t testing.TB, cases []T, n int) []T {
	t.Helper()
	if Full() || n >= len(cases) {
		return cases
	}
	if n <= 0 {
		t.Fatalf("none of %d cases would be tried, whatever the day", len(cases))
	}
	c, left := choices(t, fmt.Sprintf(" %T %d of %d", cases, n, len(cases))), make([]int, len(cases))
	for i := range left {
		left[i] = i
	}
	for i := range n {
		j := i + c.Below(len(left)-i)
		left[i], left[j] = left[j], left[i]
	}
	chosen := left[:n]
	slices.Sort(chosen)
	out := make([]T, n)
	for i, at := range chosen {
		out[i] = cases[at]
	}
	return out
}
