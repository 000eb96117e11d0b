package curator_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// TestMain lets garbage lie longer: plans of thousands of questions are made and dropped, and a
// fifth of the time went into looking for what is still used.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(curatortest.RunTests(m))
}
