package curator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/pace"
	"github.com/discreet-dp/discreet/ledger"
)

// slow is a ledger whose first charge takes its time.
type slow struct {
	ledger.Ledger
	once   sync.Once
	before func()
}

func (s *slow) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	s.once.Do(s.before)
	return s.Ledger.Charge(ctx, c)
}

// Who stops waiting for somebody else's question leaves at once, pays nothing, and keeps nobody
// out.
func TestWaitingCanBeStopped(t *testing.T) {
	w := newWorld(t, pure)
	running, finish := make(chan struct{}), make(chan struct{})
	w.rewire(w.data, &slow{Ledger: w.books, before: func() { close(running); <-finish }})
	first := make(chan error)
	go func() {
		_, err := w.ask(patients)
		first <- err
	}()
	<-running
	for range 20 {
		waiting, cancel := context.WithCancel(ctx)
		second := make(chan error)
		go func() {
			_, err := w.Ask(waiting, api.Question{Analyst: "ben", SQL: patients, Request: freshID()})
			second <- err
		}()
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("who stopped waiting got %v", err)
		}
	}
	if w.spent() != (dp.Cost{}) {
		t.Errorf("somebody paid for waiting: %v", w.spent())
	}
	close(finish)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if a := w.mustAsk(patients); !a.Receipt.Free || w.spent().Epsilon != amount("0.1") || len(w.turns.now) != 0 {
		t.Errorf("%+v, spent %v, %d still in", a.Receipt, w.spent(), len(w.turns.now))
	}
}

// TestFlights has many come and go, some of whom do not wait, and nobody is in with a key that
// somebody else is in with.
func TestFlights(t *testing.T) {
	var f turns
	var in [4]atomic.Int32
	var entered, left atomic.Int32
	together(64, func(i int) {
		for j := range 200 {
			hurry, cancel := context.WithTimeout(ctx, time.Minute) // of which none is needed, where nobody forgets to leave
			if (i+j)%3 == 0 {
				cancel()
			}
			a, b := (i+j)%4, (i*j+1)%4
			leave, err := f.WaitTurn(hurry, fmt.Sprint(a), fmt.Sprint(b))
			if err != nil {
				if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "nothing was charged") {
					t.Error(err)
					cancel()
					return
				}
				left.Add(1)
				cancel()
				continue
			}
			entered.Add(1)
			if in[a].Add(1) != 1 {
				t.Error("two are in at once")
			}
			in[a].Add(-1)
			leave()
			cancel()
		}
	})
	if len(f.now) != 0 || entered.Load() == 0 || left.Load() == 0 {
		t.Errorf("%d are still in; %d entered, %d left", len(f.now), entered.Load(), left.Load())
	}
}

// A query over an answer is not a part of what others wait for who ask for the same answer.
func TestNobodyWaitsForOuterQueries(t *testing.T) {
	w := newWorld(t, plenty)
	p := pace.New(func() {})
	ran := 0
	p.Turns(asideWatch(func() {
		ran++
		if n := len(w.turns.now); n != 0 {
			t.Errorf("%d questions are kept waiting", n)
		}
	}))
	for range 2 { // new, and free
		const text = "SELECT MAX(n) FROM (SELECT zip, COUNT(*) AS n FROM patients GROUP BY zip) t"
		if _, err := w.Ask(p.Set(ctx), api.Question{Analyst: "ana", SQL: text, Request: freshID()}); err != nil {
			t.Fatal(err)
		}
	}
	if ran != 2 {
		t.Errorf("%d queries over answers ran", ran)
	}
}

// asideWatch says when something runs aside.
type asideWatch func()

func (asideWatch) Give()                      {}
func (asideWatch) Take(context.Context) error { return nil }
func (f asideWatch) Aside(context.Context) (func(), error) {
	f()
	return func() {}, nil
}
