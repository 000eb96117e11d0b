package privacyloss

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage lie longer: numbers are made and dropped by the million.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
