package curator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/ledger"
)

// chain lists the kinds of all records, which is what numbers of receipts tell of.
func (w *world) chain() string {
	w.t.Helper()
	var kinds []string
	for r, err := range w.books.Records(ctx, 0) {
		w.check(err)
		kinds = append(kinds, string(r.Kind))
	}
	return strings.Join(kinds, " ")
}

// shutOut closes the door to ana, as a question of hers does that fails.
func (w *world) shutOut() {
	w.t.Helper()
	_, err := w.books.Fail(ctx,
		ledger.Incident{Analyst: "ana", Dataset: "hospital", Failure: ledger.FailedError, ByAnalyst: 1, ByDataset: 3})
	w.check(err)
}

// failBehindDoor asks some questions, closes the door when all of them are with the engine, and
// lets so many fail. It returns the errors, what the owner was told, and the number of the next
// receipt of somebody else.
func failBehindDoor(w *world, ask []func() error, fails int) (errs []error, told int, next uint64) {
	r := w.wire
	var mu sync.Mutex
	w.OnIncident(func(api.Incident) {
		mu.Lock()
		defer mu.Unlock()
		told++
	})
	there, closed, turn := make(chan struct{}, len(ask)), make(chan struct{}), make(chan int, len(ask))
	for i := range ask {
		turn <- i
	}
	run := func() error {
		i := <-turn
		there <- struct{}{}
		<-closed
		if i < fails {
			return errors.New("a cause")
		}
		return nil
	}
	r.before = map[string]func() error{"run": run, "fetch": run}
	errs = make([]error, len(ask))
	var all sync.WaitGroup
	for i, one := range ask {
		all.Go(func() { errs[i] = one() })
	}
	for range ask {
		<-there
	}
	w.shutOut()
	close(closed)
	all.Wait()
	r.before = map[string]func() error{}
	a, err := w.askAs("ben", byAge(100), 0)
	w.check(err)
	return errs, told, a.Receipt.Sequence
}

// Behind a closed door what fails and what does not leave the same records, so that the number of
// nobody's next receipt tells how many failed. The owner is told of each.
func TestBehindDoorChain(t *testing.T) {
	const n = 9
	var chains []string
	var nexts []uint64
	for _, fails := range []int{0, 1, 4, n} {
		w := newWorld(t, plenty)
		var ask []func() error
		for i := range n {
			ask = append(ask, func() error { _, err := w.ask(byAge(i)); return err })
		}
		errs, told, next := failBehindDoor(w, ask, fails)
		for _, err := range errs {
			if !isShut(err) {
				t.Errorf("%d of %d fail: %v", fails, n, err)
			}
		}
		if told != fails {
			t.Errorf("%d of %d fail, and the owner was told of %d", fails, n, told)
		}
		if differs, _ := w.replayed(); len(differs) > 0 {
			t.Error(differs)
		}
		chains, nexts = append(chains, w.chain()), append(nexts, next)
	}
	if len(slices.Compact(slices.Clone(chains))) != 1 || len(slices.Compact(slices.Clone(nexts))) != 1 {
		t.Errorf("somebody else's next receipts are %v:\n%s", nexts, strings.Join(chains, "\n"))
	}
}

// The same for every kind of session.
func TestBehindDoorSessions(t *testing.T) {
	for name, begin := range map[string]func(*testing.T) (*world, func() error){
		"sparse": func(t *testing.T) (*world, func() error) {
			w := newWorld(t, plenty)
			s := w.sparse(nil)
			return w, func() error { _, err := s.Ask(ctx, patients, "1"); return err }
		},
		"stream": func(t *testing.T) (*world, func() error) {
			w := streamWorld(t, plenty, "")
			return w, func() error {
				_, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
				return err
			}
		},
		"holdout": func(t *testing.T) (*world, func() error) {
			w := newHoldouts(t, plenty, nil)
			return w, func() error {
				_, err := w.score(api.HoldoutQuestion{Holdout: "rows", SQL: "smoker", Training: "1"})
				return err
			}
		},
		"training": func(t *testing.T) (*world, func() error) {
			w := newWorld(t, plenty)
			return w, func() error { _, err := w.Trainings.Train(ctx, smokers("0.4"), nil); return err }
		},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			for fails := range 2 {
				w, ask := begin(t)
				errs, told, next := failBehindDoor(w, []func() error{ask}, fails)
				if told != fails {
					t.Errorf("the owner was told of %d", told)
				}
				w.letIn("ana")
				seen = append(seen, fmt.Sprint(errs, next, w.chain(), ask()))
			}
			if seen[0] != seen[1] {
				t.Errorf("told apart:\n%s\n%s", seen[0], seen[1])
			}
		})
	}
}

// A door that closes when a session has drawn an answer leaves the session as one that drew none:
// afterwards nothing tells whether the question failed.
func TestBehindDoorSparseDrawn(t *testing.T) {
	var seen []string
	for _, threshold := range []string{"-100000", "100000"} { // above, and not
		w := newWorld(t, plenty)
		r := w.record()
		s := w.sparse(nil)
		_, err := s.Ask(ctx, patients, "100000") // which notes that sessions run, too
		w.check(err)
		r.before["note"] = func() error {
			delete(r.before, "note")
			w.shutOut()
			return nil
		}
		if v, err := s.Ask(ctx, patients, threshold); !isShut(err) || v != nil {
			t.Errorf("told behind a closed door: %+v, %v", v, err)
		}
		w.letIn("ana")
		v, err := s.Ask(ctx, patients, "100000")
		w.check(err)
		seen = append(seen, fmt.Sprintf("%+v, %d left", *v, s.Left()))
	}
	if seen[0] != seen[1] {
		t.Errorf("told apart: %q", seen)
	}
}

// What streams and holdouts note is decided with the door: one that closes after the last look at
// it lets nothing through, and the session goes on after the release.
func TestBehindDoorNotes(t *testing.T) {
	w := streamWorld(t, plenty, "")
	r := w.record()
	ask := func(sql string) error {
		_, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: sql})
		return err
	}
	w.check(ask("sex = 'F'"))
	before := w.chain()
	r.before["note"] = func() error {
		delete(r.before, "note")
		w.shutOut()
		return nil
	}
	if err := ask("smoker AND diagnosis = 'flu'"); !isShut(err) {
		t.Errorf("answered behind a closed door: %v", err)
	}
	if after := strings.TrimPrefix(w.chain(), before); strings.Contains(after, "note") {
		t.Errorf("noted behind a closed door:%s", after)
	}
	w.letIn("ana")
	w.check(ask("smoker AND diagnosis = 'flu'"))
}
