package console

import (
	"errors"
	"testing"
)

// TestInterrupted: what was charged is what matters of a question that was interrupted; of a server
// that was told to end, what it could not do.
func TestInterrupted(t *testing.T) {
	broken := errors.New("the ledger could not be told")
	for _, c := range []struct {
		err     error
		charges bool
		want    string
	}{{broken, true, ErrInterrupted.Error()}, {broken, false, "interrupted"}, {NotInOrder(broken), true, broken.Error()}} {
		if got := Interrupted(c.err, c.charges); got.Error() != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
	if err := NotInOrder(nil); err != nil {
		t.Error(err)
	}
}
