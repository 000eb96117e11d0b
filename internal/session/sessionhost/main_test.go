// Tests of all kinds of sessions on a real engine and a real ledger, with a whole curator between
// them. They are in one package, because each that links DuckDB takes seconds to link.
package sessionhost_test

import (
	"os"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

func TestMain(m *testing.M) { os.Exit(curatortest.RunTests(m)) }
