package noise

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage lie longer: a third of the time went into small numbers that are dropped at
// once.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
