package pgwire

import (
	"os"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/userstest"
)

func TestMain(m *testing.M) {
	daily.Together("8")
	userstest.Rounds = 64 // no driver here asks for more
	os.Exit(m.Run())
}
