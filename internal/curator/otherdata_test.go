package curator

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/hospital"
)

// A model of other data than it was charged for is given for its request alone: nobody finds it
// under the version that it is not of, also where that is back.
func TestTrainedOnOtherData(t *testing.T) {
	for name, back := range map[string]bool{"there": false, "there and back": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, plenty)
			was := hospital.New(200, 1)
			moves := &loading{w.runner.engine, func() { w.write(hospital.New(300, 2)) }, nil}
			if back {
				moves.back = func() { w.write(was) }
			}
			w.runner.engine = moves
			q := smokers("0.5")
			first := w.mustTrain(q)
			w.write(was)
			if !contains(fmt.Sprint(first.Notes), "changed while this was computed") {
				t.Errorf("notes %q", first.Notes)
			}
			if other := w.mustTrain(smokers("0.5")); other.Receipt.Free || other.ID == first.ID || len(other.Notes) > 0 {
				t.Errorf("%+v is kept as a model of other data", other.Receipt)
			}
			again := w.mustTrain(q)
			if !again.Receipt.Free || again.ID != first.ID || w.written(again.Model) != w.written(first.Model) ||
				fmt.Sprint(again.Notes) != fmt.Sprint(first.Notes) {
				t.Errorf("the same request: %+v; want %+v", again, first)
			}
			for r, err := range w.books.Records(ctx, first.Receipt.Sequence) {
				w.check(err)
				if kept, err := w.Trainings.Model(ctx, r, time.Time{}); err != nil || kept.ID != first.ID {
					t.Errorf("by its name: %+v, %v", kept, err)
				}
				break
			}
		})
	}
}

// A holdout tells no score of data that was there for so long as it was read. The round that was
// paid for is there for the next try.
func TestScoredOnOtherData(t *testing.T) {
	w := newHoldouts(t, plenty, nil)
	was := hospital.New(200, 1)
	w.runner.engine = &loading{w.runner.engine, func() { w.write(hospital.New(300, 2)) }, func() { w.write(was) }}
	q := api.HoldoutQuestion{Holdout: "rows", SQL: "smoker", Training: "0.9"}
	if a, err := w.score(q); !errors.Is(err, api.ErrChanging) {
		t.Fatalf("%+v, %v", a, err)
	}
	spent := w.spent()
	if a := w.mustScore(q); a.Version.Number != 1 || w.spent() != spent {
		t.Errorf("%+v, and %v is spent after %v", a, w.spent(), spent)
	}
}

// How many people there are is not that of data that was there for so long as they were counted.
func TestPeopleOfOtherData(t *testing.T) {
	w := build(t, hospital.New(300, 1), replaced(plenty), 1)
	there := func() { w.write(hospital.New(301, 1)) }
	moves := &loading{w.runner.engine, there, func() { w.write(hospital.New(300, 1)) }}
	w.runner.engine = moves
	for range 2 {
		if a := w.mustAsk("SELECT COUNT(*) FROM patients"); fmt.Sprint(a.Rows) != "[[300]]" {
			t.Error(a.Rows)
		}
	}
	if moves.load != nil {
		t.Error("nobody was counted")
	}
}
