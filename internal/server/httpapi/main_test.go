package httpapi

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage lie longer: every test has a server of its own, which is soon dropped.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
