package console

import (
	"bytes"
	"testing"
)

// On a terminal what is near its limit has a colour.
func TestBudgetColours(t *testing.T) {
	var out bytes.Buffer
	PrintColoured(&out, "account  part\n-------  ----\na        10 %\nb        96 %\n", []string{"", "\x1b[1;31m"})
	if got := out.String(); got != "account  part\n-------  ----\na        10 %\n\x1b[1;31mb        96 %\x1b[0m\n" {
		t.Errorf("got %q", got)
	}
}
