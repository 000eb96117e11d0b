package workload

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets rapid try fewer workloads than it would, unless a number is asked for. They are
// others in every run.
func TestMain(m *testing.M) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "rapid.checks" })
	if !chosen {
		flag.Set("rapid.checks", "40")
	}
	os.Exit(m.Run())
}
