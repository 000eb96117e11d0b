package curator

import (
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// A door that closes between the look at it and the note closes in time: the verdict is neither
// noted nor told, and the session is there after the release.
func TestSparseNoteBehindDoor(t *testing.T) {
	w := newWorld(t, plenty)
	r := w.record()
	s := w.sparse(nil)
	r.before["note"] = func() error {
		delete(r.before, "note")
		_, err := w.books.Fail(ctx,
			ledger.Incident{Analyst: "ana", Dataset: "hospital", Failure: ledger.FailedError, ByAnalyst: 1, ByDataset: 3})
		return err
	}
	if v, err := s.Ask(ctx, patients, "100000"); !isShut(err) || v != nil {
		t.Errorf("told behind a closed door: %+v, %v", v, err)
	}
	if differs, _ := w.replayed(); len(differs) > 0 {
		t.Error(differs)
	}
	w.open("ana")
	if v, err := s.Ask(ctx, patients, "100000"); err != nil || v.Above {
		t.Errorf("after the release: %+v, %v", v, err)
	}
}
