package account

import (
	"os"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

func TestMain(m *testing.M) {
	daily.Checks("40")
	os.Exit(m.Run())
}
