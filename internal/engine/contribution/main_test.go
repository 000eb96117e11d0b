package contribution

import (
	"os"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

func TestMain(m *testing.M) {
	daily.Checks("30")
	os.Exit(m.Run())
}
