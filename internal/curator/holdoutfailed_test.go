package curator

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/api"
)

// A question of a holdout that failed ends it for who asked, until the release, and for nobody
// else.
func TestHoldoutFailedForOne(t *testing.T) {
	w := newHoldouts(t, plenty, nil)
	w.bear()
	working := w.Curator.runner.engine
	w.Curator.runner.engine = failing{working}
	ask := func(analyst, sql string) error {
		_, err := w.score(api.HoldoutQuestion{Analyst: analyst, Holdout: "rows", SQL: sql, Training: "1"})
		return err
	}
	if err := ask("ana", "smoker"); !errors.Is(err, api.ErrHoldoutRun) {
		t.Fatal(err)
	}
	w.Curator.runner.engine = working
	if err := ask("ana", "age > 2"); !errors.Is(err, api.ErrHoldoutRun) {
		t.Errorf("before the release: %v", err)
	}
	if err := ask("ben", "age > 3"); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	w.open("ana")
	if err := ask("ana", "age > 4"); err != nil {
		t.Errorf("after the release: %v", err)
	}
}
