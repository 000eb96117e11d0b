package curator_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

func wantIncidents(w *curatortest.World, want ...string) {
	w.T.Helper()
	if got := w.Incidents(); strings.Join(got, ", ") != strings.Join(want, ", ") {
		w.T.Errorf("the ledger has the incidents %q; want %q", got, want)
	}
}

// A failure is in the ledger when it is told, by one text, and can lock out: to new questions,
// also of a paid request, and to nothing else.
func TestIncidentLocksOut(t *testing.T) {
	for name, c := range map[string]struct {
		fail func() error
		want string
	}{
		"error":          {func() error { return errors.New("cannot cast Xanthippe") }, "ana error"},
		"panic":          {func() error { panic("Xanthippe") }, "ana panic"},
		"memory":         {func() error { return &engine.Failure{Ending: engine.Memory, Err: errors.New("x")} }, "ana memory"},
		"says stopped":   {func() error { return &engine.Failure{Ending: engine.Stopped, Err: errors.New("x")} }, "ana error"},
		"canceled by it": {func() error { return context.Canceled }, "ana error"},
	} {
		t.Run(name, func(t *testing.T) {
			w := curatortest.New(t, curatortest.Plenty)
			r := w.Record()
			var told []api.Incident
			w.OnIncident(func(i api.Incident) { told = append(told, i) })
			known := curatortest.ByAge(10)
			first := w.MustAsk(known)
			r.Before["run"] = c.fail
			q := api.Question{Analyst: "ana", SQL: curatortest.ByAge(20), Request: "mine"}
			if _, err := w.Ask(ctx, q); err != sessionhost.ErrRun {
				t.Fatalf("got %v", err)
			}
			delete(r.Before, "run")
			wantIncidents(w, c.want)
			if len(told) != 1 || !told[0].Closed || told[0].Charge == 0 || told[0].Analyst != "ana" {
				t.Errorf("the owner was told %+v", told)
			}
			spent := w.Spent()
			for range 2 {
				if _, err := w.Ask(ctx, q); !curatortest.IsLockedOut(err) {
					t.Errorf("the same request: %v", err)
				}
				if _, err := w.AskSQL(curatortest.ByAge(30)); !curatortest.IsLockedOut(err) || strings.Contains(err.Error(), "Xanthippe") {
					t.Errorf("a new question: %v", err)
				}
				if x, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: curatortest.ByAge(30)}); err != nil || !x.Closed {
					t.Errorf("%+v %v", x, err)
				}
				if x, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: known}); err != nil || x.Closed || !x.Known {
					t.Errorf("%+v %v", x, err)
				}
				if a := w.MustAsk(known); !a.Receipt.Free || fmt.Sprint(a.Rows) != fmt.Sprint(first.Rows) {
					t.Errorf("what was remembered is %+v", a)
				}
				w.Reopen()
			}
			if _, err := w.AskAs("ben", curatortest.ByAge(40), 0); err != nil {
				t.Errorf("somebody else: %v", err)
			}
			if w.Spent().Epsilon.Sub(spent.Epsilon) == 0 {
				t.Error("ben paid nothing")
			}
			w.LetIn("")
			a, err := w.Ask(ctx, q)
			w.Check(err)
			if !a.Receipt.Free {
				t.Error("the same request was charged twice")
			}
		})
	}
}

// Who does not wait has not failed, and an engine that fails by itself has, whoever cancels
// afterwards.
func TestIncidentAndCancel(t *testing.T) {
	stopped := &engine.Failure{Ending: engine.Stopped, Err: errors.New("x")}
	cancel, own, limit := error(nil), context.DeadlineExceeded, fmt.Errorf("server: %w", api.ErrTimeLimit)
	for name, c := range map[string]struct {
		cause, err error
		want       []string
	}{
		"canceled":                     {cancel, stopped, nil},
		"own timeout":                  {own, stopped, nil},
		"own timeout, in Go's words":   {own, context.DeadlineExceeded, nil},
		"the owner's limit":            {limit, stopped, []string{"ana time"}},
		"the owner's limit, Go's word": {limit, context.DeadlineExceeded, []string{"ana time"}},
		"canceled after a failure":     {cancel, errors.New("a cause"), []string{"ana error"}},
		"canceled after a panic":       {cancel, sessionhost.ErrPanic, []string{"ana panic"}},
		"canceled after no memory":     {cancel, &engine.Failure{Ending: engine.Memory, Err: errors.New("x")}, []string{"ana memory"}},
		"an error that says both":      {cancel, errors.Join(context.Canceled, errors.New("a cause")), []string{"ana error"}},
		"own timeout after a failure":  {own, errors.New("a cause"), []string{"ana error"}},
		"failed at the owner's limit":  {limit, errors.New("a cause"), []string{"ana error"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := curatortest.New(t, curatortest.Plenty)
			r := w.Record()
			asked, end := context.WithCancelCause(ctx)
			r.Before["run"] = func() error {
				end(c.cause)
				return c.err
			}
			if _, err := w.Ask(asked, api.Question{Analyst: "ana", SQL: curatortest.Patients, Request: "r"}); err != sessionhost.ErrRun {
				t.Errorf("got %v", err)
			}
			wantIncidents(w, c.want...)
		})
	}
}

// Interrupted for real: DuckDB says that it was stopped, so it is no incident; by the owner's limit
// it is one.
func TestIncidentInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("the questions take seconds")
	}
	w := newSlowWorld(t)
	r := w.Record()
	for i, cause := range []error{nil, api.ErrTimeLimit} {
		waiting, cancel := context.WithCancelCause(ctx)
		r.Before["run"] = func() error {
			time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
			return nil
		}
		const slow = "SELECT COUNT(*) FROM people WHERE s LIKE '%0%a%b%c%d%1%e%f%0%1%2%3%4%5%6%7%8%9%' OR s LIKE " +
			"'%1%a%b%c%d%1%e%f%0%1%2%3%4%5%6%7%8%9%'"
		if _, err := w.Ask(waiting, api.Question{Analyst: "ana", SQL: slow, Request: fmt.Sprint("slow ", i)}); err != sessionhost.ErrRun {
			t.Fatal(err)
		}
		if cause == nil {
			wantIncidents(w)
		} else {
			wantIncidents(w, "ana time")
		}
	}
}

// telling is an engine in which a real DuckDB fails exactly where its data has somebody from Zz9:
// what a slip in the planner or in DuckDB would do.
type telling struct {
	engine.Engine
	db *sql.DB
}

func (e telling) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	var n int64
	if err := e.db.QueryRowContext(ctx, "SELECT COALESCE(SUM(CAST(town AS INTEGER)), 0) FROM people WHERE "+
		"town = 'Zz9'").Scan(&n); err != nil {
		return nil, err
	}
	return e.Engine.Run(ctx, q)
}

// On neighbours: however many questions an analyst asks, of those that fail on one of the two
// databases one is told.
func TestIncidentNeighbours(t *testing.T) {
	var failures [2]int
	for i, rows := range []string{"('Rome')", "('Rome'), ('Zz9')"} {
		w := curatortest.New(t, curatortest.Plenty)
		db, err := sql.Open("duckdb", filepath.Join(t.TempDir(), "d.duckdb"))
		w.Check(err)
		defer db.Close()
		_, err = db.Exec("CREATE TABLE people AS SELECT * FROM (VALUES " + rows + ") t(town)")
		w.Check(err)
		w.Record().Engine = telling{w.Data, db}
		for n := range 20 {
			_, err := w.AskSQL(curatortest.ByAge(n))
			switch {
			case err == sessionhost.ErrRun:
				failures[i]++
			case err != nil && !curatortest.IsLockedOut(err):
				t.Error(err)
			}
		}
	}
	if failures != [2]int{0, 1} {
		t.Errorf("%v failures were told", failures)
	}
}

// Questions that are with the engine when a lockout begins are told the same, those that fail and
// those that do not, and nothing of them is kept.
func TestIncidentInFlight(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	r := w.Record()
	const n = 10
	var all sync.WaitGroup
	ready, there := make(chan struct{}, n), make(chan struct{})
	closed, turn := make(chan struct{}), make(chan int, n)
	for i := range n {
		turn <- i
	}
	r.Before["run"] = func() error {
		i := <-turn
		ready <- struct{}{}
		if i == 0 {
			<-there
		} else {
			<-closed
		}
		if i%2 == 0 {
			return errors.New("a cause")
		}
		return nil
	}
	go func() { // the first one fails when all are there
		for range n {
			<-ready
		}
		close(there)
		for len(w.Incidents()) == 0 {
			time.Sleep(time.Millisecond)
		}
		close(closed)
	}()
	errs := make([]error, n)
	for i := range n {
		all.Go(func() { _, errs[i] = w.AskSQL(curatortest.ByAge(i)) })
	}
	all.Wait()
	told, shut := 0, 0
	texts := map[string]bool{}
	for _, err := range errs {
		switch {
		case err == sessionhost.ErrRun:
			told++
		case curatortest.IsLockedOut(err):
			shut++
			texts[err.Error()] = true
		default:
			t.Error(err)
		}
	}
	if told != 1 || shut != n-1 || len(texts) != 1 {
		t.Errorf("%d were told, %d are shut out, with %d texts", told, shut, len(texts))
	}
	if got := w.OnDisk(); got.Answers != 0 {
		t.Errorf("%d answers were kept", got.Answers)
	}
	if lockout, err := w.Ledger.Lockout(ctx, "hospital", "ben"); err != nil || lockout.Closed {
		t.Error("failures that nobody was told of count for the dataset")
	}
}

// Where the ledger cannot take an incident, nobody is told of it: they get what an answer would
// have got.
func TestIncidentNotWritten(t *testing.T) {
	full := func() error {
		return &ledger.WriteError{Path: "ledger", Charged: true, Err: errors.New("the disk is full")}
	}
	var texts []string
	for _, fails := range []bool{false, true} {
		w := curatortest.New(t, curatortest.Plenty)
		r := w.Record()
		r.Before["keep"], r.Before["fail"] = full, full
		if fails {
			r.Before["run"] = func() error { return errors.New("a cause") }
		}
		_, err := w.AskSQL(curatortest.Patients)
		texts = append(texts, fmt.Sprint(err))
	}
	if texts[0] != texts[1] {
		t.Errorf("told apart: %q", texts)
	}
}

// Sessions, streams, holdouts and trainings count alike, for whoever asked.
func TestIncidentSessions(t *testing.T) {
	broken := func() error { return errors.New("a cause") }
	t.Run("sparse", func(t *testing.T) {
		w := curatortest.New(t, curatortest.Plenty)
		r := w.Record()
		s, other := w.OpenSparse(nil), w.OpenSparse(nil)
		r.Before["run"] = func() error { panic("a cause") }
		if _, err := s.Ask(ctx, curatortest.Patients, "1"); err != api.ErrSessionRun {
			t.Error(err)
		}
		delete(r.Before, "run")
		wantIncidents(w, "ana panic")
		if _, err := other.Ask(ctx, curatortest.Patients, "1"); !curatortest.IsLockedOut(err) {
			t.Errorf("another session: %v", err)
		}
		if _, err := w.AskSQL(curatortest.Patients); !curatortest.IsLockedOut(err) {
			t.Error(err)
		}
		w.LetIn("ana")
		if _, err := other.Ask(ctx, curatortest.Patients, "1"); err != nil {
			t.Errorf("after the release: %v", err)
		}
	})
	t.Run("stream", func(t *testing.T) {
		w := curatortest.NewStreams(t, curatortest.Plenty, "")
		r := w.Record()
		r.Before["run"] = broken
		q := api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"}
		if _, err := w.Streams.Ask(ctx, q); err != sessionhost.ErrRun {
			t.Error(err)
		}
		delete(r.Before, "run")
		wantIncidents(w, "ana error")
		if _, err := w.Streams.Ask(ctx, q); !curatortest.IsLockedOut(err) {
			t.Error(err)
		}
		w.LetIn("")
		first, err := w.Streams.Ask(ctx, q)
		w.Check(err)
		_, err = w.Ledger.Fail(ctx,
			ledger.Incident{Analyst: "ana", Dataset: "hospital", Failure: ledger.FailedError, ByAnalyst: 1, ByDataset: 3})
		w.Check(err)
		if again, err := w.Streams.Ask(ctx, q); err != nil || again.Value != first.Value {
			t.Errorf("what a stream remembers: %v", err)
		}
		q.SQL = "sex = 'M'"
		if _, err := w.Streams.Ask(ctx, q); !curatortest.IsLockedOut(err) {
			t.Errorf("what it does not: %v", err)
		}
	})
	t.Run("holdout", func(t *testing.T) {
		w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
		q := api.HoldoutQuestion{Holdout: "rows", SQL: "age >= 0", Training: "1"}
		w.MustScore(q) // pays for the round
		working := w.Wire.Engine
		w.Wire.Engine = curatortest.FailingEngine{Engine: working}
		if _, err := w.Score(api.HoldoutQuestion{Holdout: "rows", SQL: "smoker", Training: "1"}); err != api.ErrHoldoutRun {
			t.Error(err)
		}
		w.Wire.Engine = working
		wantIncidents(w, "ana error")
		if _, err := w.Score(api.HoldoutQuestion{Holdout: "rows", SQL: "age > 3", Training: "1"}); !curatortest.IsLockedOut(err) {
			t.Error(err)
		}
		if a := w.MustScore(q); !a.Again {
			t.Errorf("%+v", a)
		}
	})
	t.Run("training", func(t *testing.T) {
		w := curatortest.New(t, curatortest.Plenty)
		r := w.Record()
		r.Before["fetch"] = broken
		q := curatortest.Smokers("0.4")
		if _, err := w.Trainings.Train(ctx, q, nil); err != api.ErrTraining {
			t.Error(err)
		}
		delete(r.Before, "fetch")
		wantIncidents(w, "ana error")
		if _, err := w.Trainings.Train(ctx, q, nil); !curatortest.IsLockedOut(err) {
			t.Error(err)
		}
	})
}
