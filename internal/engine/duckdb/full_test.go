package duckdb

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

var full = flag.Bool("full", false, "ask all questions, also those that take long")

// TestMain lets rapid try fewer tables than it would, unless all are asked for. They are others in
// every run.
func TestMain(m *testing.M) {
	flag.Parse()
	chosen := *full
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "rapid.checks" })
	if !chosen {
		flag.Set("rapid.checks", "20")
	}
	debug.SetGCPercent(400) // plans are made and dropped by the thousand
	os.Exit(m.Run())
}

// usually returns how many rounds a test has: fewer than all, unless all are asked for.
func usually[T int | uint64](fewer, all T) T {
	if *full {
		return all
	}
	return fewer
}
