package curator_test

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

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
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
	w := curatortest.New(t, curatortest.Pure)
	running, finish := make(chan struct{}), make(chan struct{})
	w.Rewire(w.Data, &slow{Ledger: w.Ledger, before: func() { close(running); <-finish }})
	first := make(chan error)
	go func() {
		_, err := w.AskSQL(curatortest.Patients)
		first <- err
	}()
	<-running
	for range 20 {
		waiting, cancel := context.WithCancel(ctx)
		second := make(chan error)
		go func() {
			_, err := w.Ask(waiting, api.Question{Analyst: "ben", SQL: curatortest.Patients, Request: curatortest.FreshID()})
			second <- err
		}()
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("who stopped waiting got %v", err)
		}
	}
	if w.Spent() != (dp.Cost{}) {
		t.Errorf("somebody paid for waiting: %v", w.Spent())
	}
	close(finish)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if a := w.MustAsk(curatortest.Patients); !a.Receipt.Free || w.Spent().Epsilon != curatortest.Amount("0.1") || w.TurnsTaken() != 0 {
		t.Errorf("%+v, spent %v, %d still in", a.Receipt, w.Spent(), w.TurnsTaken())
	}
}

// TestFlights has many come and go, some of whom do not wait, and nobody is in with a key that
// somebody else is in with.
func TestFlights(t *testing.T) {
	var f curator.Turns
	var in [4]atomic.Int32
	var entered, left atomic.Int32
	curatortest.AtOnce(64, func(i int) {
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
	w := curatortest.New(t, curatortest.Plenty)
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
		if _, err := w.Ask(p.WithClock(ctx), api.Question{Analyst: "ana", SQL: text, Request: curatortest.FreshID()}); err != nil {
			t.Fatal(err)
		}
	}
	if ran != 2 {
		t.Errorf("%d queries over answers ran", ran)
	}
}

type asideWatch func()

func (asideWatch) Give() {}

func (asideWatch) Take(context.Context) error { return nil }

func (f asideWatch) Aside(context.Context) (func(), error) {
	f()
	return func() {}, nil
}

// sameQuestion has 50 ask the same new question at once, through curators that pick
// chooses, and says what is wrong.
func sameQuestion(w *curatortest.World, pick func(i int) *curator.Curator) error {
	answers, before := make([]string, 50), w.RecordCount()
	var failed atomic.Value
	curatortest.AtOnce(len(answers), func(i int) {
		a, err := pick(i).Ask(ctx,
			api.Question{Analyst: []string{"ana", "ben"}[i%2], SQL: "SELECT zip, COUNT(*) FROM patients GROUP BY zip",
				Request: curatortest.FreshID()})
		if err != nil {
			failed.Store(err)
			return
		}
		answers[i] = curatortest.Numbers(a)
	})
	if err := failed.Load(); err != nil {
		return err.(error)
	}
	for _, a := range answers {
		if a != answers[0] {
			return errors.New("two answers to one question")
		}
	}
	if n := w.RecordCount() - before; n != 2 {
		return fmt.Errorf("%d records; want one charge and one answer", n)
	}
	return nil
}

func TestSameQuestionAtOnce(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	if err := sameQuestion(w, func(int) *curator.Curator { return w.Curator }); err != nil {
		t.Error(err)
	}
	if w.TurnsTaken() != 0 {
		t.Errorf("%d questions are still said to be under way", w.TurnsTaken())
	}
	// The planted bug: curators that do not know of each other pay twice.
	v := curatortest.New(t, curatortest.Plenty)
	if _, err := v.AskSQL(curatortest.ByAge(1)); err != nil { // the first charge is another: it notes whom it protects
		t.Fatal(err)
	}
	charges := &meeting{Ledger: v.Ledger, all: make(chan struct{})}
	charges.missing.Store(50)
	if sameQuestion(v, func(i int) *curator.Curator {
		return curator.New(v.Dataset, v.Data, charges, curatortest.Seeded(byte(i)))
	}) == nil {
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
		{curatortest.Pure, 10},
		// At delta 1e-6 this is worth a rho of 0.0243, and a question at 0.1 takes 0.1 tanh(0.05) =
		// 0.004996.
		{curatortest.Concentrated, 4},
	} {
		w := curatortest.New(t, c.budget)
		var answered, refused atomic.Int64
		curatortest.AtOnce(40, func(i int) {
			_, err := w.AskSQL(curatortest.ByAge(i))
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

// newSlowWorld makes a world whose questions take seconds: many rows with long texts, once with one
// row a person and once with many.
func newSlowWorld(t *testing.T) *curatortest.World {
	t.Helper()
	path, err := heavyData()
	curatortest.Check(t, err)
	return curatortest.Open(t, t.TempDir(), fmt.Sprintf(`datasets:
  hospital:
    engine: duckdb
    source: %s
    unit: people.pid
    budget: {epsilon: 1, per_query: {default: 0.1, max: 1}}
    analysts: {ana: {}}
    tables:
      people: {unique: pid, columns: {s: {type: text}}}
      calls: {path: pid -> people.pid, max_rows: 10, max_groups: 1, columns: {s: {type: text}}}
`, path), 1, duckdb.Limits{Threads: 1})
}

// heavyData writes a database in which questions take a while.
var heavyData = sync.OnceValues(func() (string, error) {
	dir, err := curatortest.SharedDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "heavy.duckdb")
	db, err := sql.Open("duckdb", path)
	if err != nil {
		return "", err
	}
	_, err =
		db.Exec(
			`CREATE TABLE people AS SELECT range AS pid, md5(CAST(range AS VARCHAR)) || md5(CAST(range + 1 AS VARCHAR)) AS s FROM range(300000);
		CREATE TABLE calls AS SELECT pid // 4 AS pid, s FROM people`)
	return path, errors.Join(err, db.Close())
})

// TestInterrupted stops a question while DuckDB computes it: DuckDB looks up between groups of
// 122,880 rows, and there are three. A question that is not stopped would be answered. The charge
// stays, others can ask, and the same request gets its answer without paying again.
func TestInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("the questions take seconds")
	}
	w := newSlowWorld(t)
	r := w.Record()
	var like []string
	for i := range 2 {
		like = append(like, fmt.Sprintf("s LIKE '%%%x%%a%%b%%c%%d%%%x%%e%%f%%0%%1%%2%%3%%4%%5%%6%%7%%8%%9%%'", i, 15-i))
	}
	for i, table := range []string{"people", "calls"} {
		q := api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM " + table + " WHERE " + strings.Join(like, " OR "),
			Request: "slow " + table}
		waiting, cancel := context.WithCancel(ctx)
		r.Before["run"] = func() error {
			time.AfterFunc(50*time.Millisecond, cancel) // when DuckDB is at work
			return nil
		}
		if _, err := w.Ask(waiting, q); err != sessionhost.ErrRun {
			t.Fatalf("%s: %v", table, err)
		}
		delete(r.Before, "run")
		paid := w.Spent().Epsilon
		if paid != []dp.Amount{1, 3}[i]*curatortest.Amount("0.1") {
			t.Errorf("%s: spent %v; the charge must stay", table, paid)
		}
		w.MustAsk("SELECT COUNT(*) FROM " + table)
		a, err := w.Ask(ctx, q)
		w.Check(err)
		if !a.Receipt.Free || w.Spent().Epsilon != paid+curatortest.Amount("0.1") {
			t.Errorf("%s: the retry paid again: %+v, spent %v", table, a.Receipt, w.Spent())
		}
	}
}

// Many ask for the same at once: it is charged once, and all have the same model.
func TestTrainingAtOnce(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	var all sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]int{}
	paid := 0
	for i := range 6 {
		all.Go(func() {
			q := curatortest.Smokers("0.5")
			q.Analyst = []string{"ana", "ben"}[i%2]
			got, err := w.Trainings.Train(ctx, q, nil)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			ids[got.ID]++
			if !got.Receipt.Free {
				paid++
			}
		})
	}
	all.Wait()
	if len(ids) != 1 || paid != 1 || w.Spent().Epsilon != curatortest.Amount("0.5") || w.TurnsTaken() != 0 {
		t.Errorf("%v, %d paid, spent %v", ids, paid, w.Spent())
	}
}
