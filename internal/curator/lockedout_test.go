package curator_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// chain lists the kinds of all records, which is what numbers of receipts tell of.
func chain(w *curatortest.World) string {
	w.T.Helper()
	var kinds []string
	for r, err := range w.Ledger.Records(ctx, 0) {
		w.Check(err)
		kinds = append(kinds, string(r.Kind))
	}
	return strings.Join(kinds, " ")
}

// failLockedOut asks some questions, locks her out when all of them are with the engine, and
// lets so many fail. It returns the errors, what the owner was told, and the number of the next
// receipt of somebody else.
func failLockedOut(w *curatortest.World, ask []func() error, fails int) (errs []error, told int, next uint64) {
	r := w.Wire
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
	r.Before = map[string]func() error{"run": run, "fetch": run}
	errs = make([]error, len(ask))
	var all sync.WaitGroup
	for i, one := range ask {
		all.Go(func() { errs[i] = one() })
	}
	for range ask {
		<-there
	}
	w.LockOut()
	close(closed)
	all.Wait()
	r.Before = map[string]func() error{}
	a, err := w.AskAs("ben", curatortest.ByAge(100), 0)
	w.Check(err)
	return errs, told, a.Receipt.Sequence
}

// Under a lockout what fails and what does not leave the same records, so that the number of
// nobody's next receipt tells how many failed. The owner is told of each.
func TestLockedOutChain(t *testing.T) {
	const n = 9
	var chains []string
	var nexts []uint64
	for _, fails := range []int{0, 1, 4, n} {
		w := curatortest.New(t, curatortest.Plenty)
		var ask []func() error
		for i := range n {
			ask = append(ask, func() error { _, err := w.AskSQL(curatortest.ByAge(i)); return err })
		}
		errs, told, next := failLockedOut(w, ask, fails)
		for _, err := range errs {
			if !curatortest.IsLockedOut(err) {
				t.Errorf("%d of %d fail: %v", fails, n, err)
			}
		}
		if told != fails {
			t.Errorf("%d of %d fail, and the owner was told of %d", fails, n, told)
		}
		if differs, _ := w.Replayed(); len(differs) > 0 {
			t.Error(differs)
		}
		chains, nexts = append(chains, chain(w)), append(nexts, next)
		w.Leave()
	}
	if len(slices.Compact(slices.Clone(chains))) != 1 || len(slices.Compact(slices.Clone(nexts))) != 1 {
		t.Errorf("somebody else's next receipts are %v:\n%s", nexts, strings.Join(chains, "\n"))
	}
}

// The same for every kind of session.
func TestLockedOutSessions(t *testing.T) {
	for name, begin := range map[string]func(*testing.T) (*curatortest.World, func() error){
		"sparse": func(t *testing.T) (*curatortest.World, func() error) {
			w := curatortest.New(t, curatortest.Plenty)
			s := w.OpenSparse(nil)
			return w, func() error { _, err := s.Ask(ctx, curatortest.Patients, "1"); return err }
		},
		"stream": func(t *testing.T) (*curatortest.World, func() error) {
			w := curatortest.NewStreams(t, curatortest.Plenty, "")
			return w, func() error {
				_, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
				return err
			}
		},
		"holdout": func(t *testing.T) (*curatortest.World, func() error) {
			w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
			return w, func() error {
				_, err := w.Score(api.HoldoutQuestion{Holdout: "rows", SQL: "smoker", Training: "1"})
				return err
			}
		},
		"training": func(t *testing.T) (*curatortest.World, func() error) {
			w := curatortest.New(t, curatortest.Plenty)
			return w, func() error { _, err := w.Trainings.Train(ctx, curatortest.Smokers("0.4"), nil); return err }
		},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			for fails := range 2 {
				w, ask := begin(t)
				errs, told, next := failLockedOut(w, []func() error{ask}, fails)
				if told != fails {
					t.Errorf("the owner was told of %d", told)
				}
				w.LetIn("ana")
				seen = append(seen, fmt.Sprint(errs, next, chain(w), ask()))
			}
			if seen[0] != seen[1] {
				t.Errorf("told apart:\n%s\n%s", seen[0], seen[1])
			}
		})
	}
}

// What streams and holdouts note is decided with the lockout: one that begins after the last look
// at it lets nothing through, and the session goes on after the release.
func TestLockedOutNotes(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "")
	r := w.Record()
	ask := func(sql string) error {
		_, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: sql})
		return err
	}
	w.Check(ask("sex = 'F'"))
	before := chain(w)
	r.Before["note"] = func() error {
		delete(r.Before, "note")
		w.LockOut()
		return nil
	}
	if err := ask("smoker AND diagnosis = 'flu'"); !curatortest.IsLockedOut(err) {
		t.Errorf("answered under a lockout: %v", err)
	}
	if after := strings.TrimPrefix(chain(w), before); strings.Contains(after, "note") {
		t.Errorf("noted under a lockout:%s", after)
	}
	w.LetIn("ana")
	w.Check(ask("smoker AND diagnosis = 'flu'"))
}
