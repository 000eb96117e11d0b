package contribution

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

func TestMain(m *testing.M) {
	daily.Checks("30")
	debug.SetGCPercent(400) // rows are made and dropped by the million
	os.Exit(m.Run())
}
