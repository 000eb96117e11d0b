// Tests of all kinds of sessions on a real engine and a real ledger, with a whole curator between
// them. They are in one package, because each that links DuckDB takes seconds to link.
package sessionhost_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// TestMain lets garbage lie longer, as in package curator.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(curatortest.RunTests(m))
}
