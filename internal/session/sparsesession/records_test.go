package sparsesession

import (
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// TestSessionEndsAfterItsAnswers: what a session writes into the ledger is bounded when it is
// charged for. Refused questions write nothing, and do not count.
func TestSessionEndsAfterItsAnswers(t *testing.T) {
	w := build(t, hospital.New(50, 1), hospital.Dataset("hospital", "data", plenty), 1)
	s, err := w.Open(ctx, api.SparseQuestion{Analyst: "ana", Above: 2, Sensitivity: 1})
	w.check(err)
	if s.most != api.MostSparseAnswers {
		t.Errorf("a session answers %d questions", s.most)
	}
	s.most = 3
	const question = "SELECT COUNT(*) FROM patients"
	for range s.most {
		if _, err := s.Ask(ctx, "SELECT COUNT(*) FROM visits", "1000000"); err == nil || err == api.ErrSessionAsked {
			t.Errorf("what moves further than the session was calibrated to: %v", err)
		}
		_, err := s.Ask(ctx, question, "1000000")
		w.check(err)
	}
	for range 2 {
		if _, err := s.Ask(ctx, question, "1000000"); err != api.ErrSessionAsked {
			t.Errorf("one more than the most: %v", err)
		}
	}
	if want := 1 + s.most; w.notes != want { // that it was opened, and each answer
		t.Errorf("%d notes were written, and not %d", w.notes, want)
	}
}
