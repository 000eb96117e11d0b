package pgcatalog

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // rows of the catalog are made and dropped by the thousand
	os.Exit(m.Run())
}
