package curator

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
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
	if a := w.mustAsk(patients); !a.Receipt.Free || w.spent().Epsilon != amount("0.1") || w.TurnsTaken() != 0 {
		t.Errorf("%+v, spent %v, %d still in", a.Receipt, w.spent(), w.TurnsTaken())
	}
}

// TestFlights has many come and go, some of whom do not wait, and nobody is in with a key that
// somebody else is in with.
func TestFlights(t *testing.T) {
	var f Turns
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
	if f.Len() != 0 || entered.Load() == 0 || left.Load() == 0 {
		t.Errorf("%d are still in; %d entered, %d left", f.Len(), entered.Load(), left.Load())
	}
}

// A query over an answer is not a part of what others wait for who ask for the same answer.
func TestNobodyWaitsForOuterQueries(t *testing.T) {
	w := newWorld(t, plenty)
	p := releaseclock.New(func() {})
	ran := 0
	p.Turns(asideWatch(func() {
		ran++
		if n := w.TurnsTaken(); n != 0 {
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
	if w.TurnsTaken() != 0 {
		t.Errorf("%d questions are still said to be under way", w.TurnsTaken())
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

// heavy is a world whose questions take seconds: many rows with long texts, once with one row a
// person and once with many.
func heavy(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	db, err := sql.Open("duckdb", filepath.Join(dir, "heavy.duckdb"))
	check(t, err)
	_, err =
		db.Exec(
			`CREATE TABLE people AS SELECT range AS pid, md5(CAST(range AS VARCHAR)) || md5(CAST(range + 1 AS VARCHAR)) AS s FROM range(700000);
		CREATE TABLE calls AS SELECT pid // 4 AS pid, s FROM people`)
	check(t, err)
	check(t, db.Close())
	return open(t, dir, `datasets:
  hospital:
    engine: duckdb
    source: heavy.duckdb
    unit: people.pid
    budget: {epsilon: 1, per_query: {default: 0.1, max: 1}}
    analysts: {ana: {}}
    tables:
      people: {unique: pid, columns: {s: {type: text}}}
      calls: {path: pid -> people.pid, max_rows: 10, max_groups: 1, columns: {s: {type: text}}}
`, 1, duckdb.Limits{Threads: 1})
}

// TestInterrupted stops a question while DuckDB computes it: DuckDB looks up between groups of
// 122,880 rows, and there are six. A question that is not stopped would be answered. The charge
// stays, others can ask, and the same request gets its answer without paying again.
func TestInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("the questions take seconds")
	}
	w := heavy(t)
	r := w.record()
	var like []string
	for i := range 2 {
		like = append(like, fmt.Sprintf("s LIKE '%%%x%%a%%b%%c%%d%%%x%%e%%f%%0%%1%%2%%3%%4%%5%%6%%7%%8%%9%%'", i, 15-i))
	}
	for i, table := range []string{"people", "calls"} {
		q := api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM " + table + " WHERE " + strings.Join(like, " OR "),
			Request: "slow " + table}
		waiting, cancel := context.WithCancel(ctx)
		r.before["run"] = func() error {
			time.AfterFunc(50*time.Millisecond, cancel) // when DuckDB is at work
			return nil
		}
		if _, err := w.Ask(waiting, q); err != sessionhost.ErrRun {
			t.Fatalf("%s: %v", table, err)
		}
		delete(r.before, "run")
		paid := w.spent().Epsilon
		if paid != []dp.Amount{1, 3}[i]*amount("0.1") {
			t.Errorf("%s: spent %v; the charge must stay", table, paid)
		}
		w.mustAsk("SELECT COUNT(*) FROM " + table)
		a, err := w.Ask(ctx, q)
		w.check(err)
		if !a.Receipt.Free || w.spent().Epsilon != paid+amount("0.1") {
			t.Errorf("%s: the retry paid again: %+v, spent %v", table, a.Receipt, w.spent())
		}
	}
}
