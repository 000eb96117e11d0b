package admission

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/api"
)

type longer struct{}

func (longer) Error() string   { return "ask the owner" }
func (longer) Explain() string { return "nobody listens there\nand more" }

// TestExplained: the log is the owner's, and says why data cannot be read.
func TestExplained(t *testing.T) {
	if got := explained(&api.DataError{Err: longer{}}); got != "nobody listens there" {
		t.Error(got)
	}
	if got := explained(&api.DataError{Err: errors.New("no file")}); got != "no file" {
		t.Error(got)
	}
}
