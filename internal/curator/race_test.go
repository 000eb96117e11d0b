package curator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/ledger"
)

// together runs f n times at once.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() { <-start; f(i) })
	}
	close(start)
	wg.Wait()
}

// sameQuestion has 50 ask the same new question at once, through curators that pick
// chooses, and says what is wrong.
func sameQuestion(w *world, pick func(i int) *Curator) error {
	answers, before := make([]string, 50), w.records()
	var failed atomic.Value
	together(len(answers), func(i int) {
		a, err := pick(i).Ask(ctx,
			api.Question{Analyst: []string{"ana", "ben"}[i%2], SQL: "SELECT zip, COUNT(*) FROM patients GROUP BY zip", Request: freshID()})
		if err != nil {
			failed.Store(err)
			return
		}
		answers[i] = numbers(a)
	})
	if err := failed.Load(); err != nil {
		return err.(error)
	}
	for _, a := range answers {
		if a != answers[0] {
			return errors.New("two answers to one question")
		}
	}
	if n := w.records() - before; n != 2 {
		return fmt.Errorf("%d records; want one charge and one answer", n)
	}
	return nil
}

func TestSameQuestionAtOnce(t *testing.T) {
	w := newWorld(t, plenty)
	if err := sameQuestion(w, func(int) *Curator { return w.Curator }); err != nil {
		t.Error(err)
	}
	if len(w.turns.now) != 0 {
		t.Errorf("%d questions are still said to be under way", len(w.turns.now))
	}
	// The planted bug: curators that do not know of each other pay twice.
	v := newWorld(t, plenty)
	if _, err := v.ask(byAge(1)); err != nil { // the first charge is another: it notes whom it protects
		t.Fatal(err)
	}
	books := &meeting{Ledger: v.books, all: make(chan struct{})}
	books.missing.Store(50)
	if sameQuestion(v, func(i int) *Curator { return New(v.dataset, v.data, books, seeded(byte(i))) }) == nil {
		t.Error("50 curators were not told from one")
	}
}

// meeting is a ledger whose first charges wait for each other.
type meeting struct {
	ledger.Ledger
	missing atomic.Int64
	all     chan struct{}
}

func (m *meeting) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	if m.missing.Add(-1) == 0 {
		close(m.all)
	}
	<-m.all
	return m.Ledger.Charge(ctx, c)
}

// As many are answered as the budget has room for, whoever is first.
func TestRaceForTheBudget(t *testing.T) {
	for _, c := range []struct {
		budget string
		admits int64
	}{
		{pure, 10},
		// At delta 1e-6 this is worth a rho of 0.0243, and a question at 0.1 takes 0.1 tanh(0.05) =
		// 0.004996.
		{concentrated, 4},
	} {
		w := newWorld(t, c.budget)
		var answered, refused atomic.Int64
		together(40, func(i int) {
			_, err := w.ask(byAge(i))
			var over *ledger.BudgetError
			switch {
			case err == nil:
				answered.Add(1)
			case errors.As(err, &over):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
		if answered.Load() != c.admits || refused.Load() != 40-c.admits {
			t.Errorf("%s: %d answered and %d refused; want %d answered", c.budget, answered.Load(), refused.Load(), c.admits)
		}
	}
}
