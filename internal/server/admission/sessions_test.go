package admission

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// verdicts is a library whose sessions are used up by the text "last".
func verdicts(err error) fake {
	return fake{
		open: func(context.Context, api.SparseQuestion) (*discreet.Sparse, error) {
			time.Sleep(time.Second)
			return &discreet.Sparse{}, err
		},
		sparse: func(_ context.Context, sql string) (*api.SparseVerdict, error) {
			switch sql {
			case "last":
				return &api.SparseVerdict{Above: true}, nil
			case "run":
				return nil, api.ErrSessionRun
			case "data":
				return nil, api.ErrSessionData
			case "no":
				return nil, &api.Refusal{Reason: "no"}
			}
			return &api.SparseVerdict{Left: 1}, nil
		},
	}
}

func TestSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		d := newDispatcher(people(t, "immediate"), verdicts(nil), Options{Sessions: 2, Idle: time.Hour, Running: 4})
		open := func(name string) (*Session, error) {
			return d.Sessions().OpenSparse(ctx, api.SparseQuestion{Analyst: name})
		}
		s, err := open("ana")
		if err != nil || len(s.ID) != 32 || s.Dataset != "people" || s.Kind != "sparse" {
			t.Fatalf("got %+v, %v", s, err)
		}
		other, err := open("ana")
		if err != nil || other.ID == s.ID {
			t.Fatal(err)
		}
		var limit *LimitError
		if _, err := open("ana"); !errors.As(err, &limit) {
			t.Errorf("a third: %v", err)
		}
		if all := d.Sessions().List("ana"); len(all) != 2 || all[0] != s || all[1] != other || d.Stats().Sessions != 2 {
			t.Errorf("there are %v", all)
		}

		// Somebody else's session does not exist.
		_, asked := d.Sessions().AskSparse(ctx, "ben", s.ID, "x", "1")
		_, seen := d.Sessions().Find("ben", s.ID)
		_, none := d.Sessions().Find("ben", "none")
		if closed := d.Sessions().Close("ben", s.ID); asked != ErrNoSession || seen != ErrNoSession || none != ErrNoSession ||
			closed != ErrNoSession || len(d.Sessions().List("ben")) != 0 {
			t.Errorf("ben gets %v, %v, %v, %v", asked, seen, none, closed)
		}

		// One that is used up, and one that is closed, make room.
		if v, err := d.Sessions().AskSparse(ctx, "ana", s.ID, "last", "1"); err != nil || !v.Above {
			t.Error(v, err)
		}
		if _, err := d.Sessions().AskSparse(ctx, "ana", s.ID, "x", "1"); err != ErrNoSession {
			t.Error(err)
		}
		if d.Sessions().Close("ana", other.ID) != nil || d.Sessions().Close("ana", other.ID) != ErrNoSession ||
			len(d.sessions.open.held) != 0 {
			t.Errorf("held are %v", d.sessions.open.held)
		}

		// So does one that the engine failed in, and one whose data is gone. A refused question
		// ends nothing.
		for text, want := range map[string]error{"run": api.ErrSessionRun, "data": api.ErrSessionData} {
			if s, err = open("ana"); err != nil {
				t.Fatal(err)
			}
			var refusal *api.Refusal
			if _, err := d.Sessions().AskSparse(ctx, "ana", s.ID, "no", "1"); !errors.As(err, &refusal) ||
				len(d.Sessions().List("ana")) != 1 {
				t.Errorf("refused: %v", err)
			}
			if _, err := d.Sessions().AskSparse(ctx, "ana", s.ID, text, "1"); err != want || len(d.Sessions().List("ana")) != 0 {
				t.Errorf("got %v", err)
			}
		}

		// One that is asked stays, and one that is not ends.
		if s, err = open("ana"); err != nil {
			t.Fatal(err)
		}
		if _, err = open("ana"); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			time.Sleep(59 * time.Minute)
			if _, err := d.Sessions().AskSparse(ctx, "ana", s.ID, "x", "1"); err != nil {
				t.Error(err)
			}
		}
		if all := d.Sessions().List("ana"); len(all) != 1 || all[0] != s {
			t.Errorf("there are %v", all)
		}
		time.Sleep(time.Hour)
		if d.Stats().Sessions != 0 || len(d.sessions.open.held) != 0 {
			t.Errorf("held are %v", d.sessions.open.held)
		}
		quiet(t, d)
	})
}

// The limit holds for those who open many at once, and failing gives the place back.
func TestSessionsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, fails := range []error{nil, errRun} {
			d := newDispatcher(people(t, "immediate"), verdicts(fails), Options{Sessions: 3, Running: 10})
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() { d.Sessions().OpenSparse(t.Context(), api.SparseQuestion{Analyst: "ana"}) })
			}
			all.Wait()
			if n := len(d.Sessions().List("ana")); (fails == nil && n != 3) ||
				(fails != nil && (n != 0 || len(d.sessions.open.held) != 0)) {
				t.Errorf("%d are open", n)
			}
		}
		d := newDispatcher(people(t, "immediate"),
			fake{open: func(context.Context, api.SparseQuestion) (*discreet.Sparse, error) { panic("secret") }}, Options{})
		if _, err := d.Sessions().OpenSparse(t.Context(), api.SparseQuestion{Analyst: "ana"}); err != ErrInternal ||
			len(d.sessions.open.held) != 0 {
			t.Errorf("got %v, held are %v", err, d.sessions.open.held)
		}
	})
}

// A session on a stream is a way to it: it passes on who asks and what, adds up what answers cost,
// and is nobody else's.
func TestStreamSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		var got api.StreamQuestion
		library := fake{stream: func(_ context.Context, q api.StreamQuestion) (*api.StreamAnswer, error) {
			got = q
			switch q.SQL {
			case "no":
				return nil, &api.Refusal{Reason: "no", Position: -1}
			case "poor":
				return nil, &ledger.BudgetError{}
			case "paid":
				return &api.StreamAnswer{Cost: dp.Cost{Epsilon: dp.One}}, nil
			}
			return &api.StreamAnswer{Free: true}, nil
		}}
		d := newDispatcher(people(t, "immediate"), library, Options{Sessions: 2})
		var refusal *api.Refusal
		for _, name := range []string{"", "third", "only"} {
			if _, err := d.Sessions().OpenStream(ctx, "ana", "", name); !errors.As(err, &refusal) || len(d.sessions.open.held) != 0 {
				t.Errorf("%q: %v, held are %v", name, err, d.sessions.open.held)
			}
		}
		s, err := d.Sessions().OpenStream(ctx, "ana", "", "second")
		if err != nil || s.Kind != "stream" || s.Name != "second" || s.Dataset != "people" || s.Left() >= 0 || s.Cost() != (dp.Cost{}) ||
			len(s.ID) != 32 {
			t.Fatalf("%+v, %v", s, err)
		}
		for range 2 {
			if _, err := d.Sessions().AskStream(ctx, "ana", s.ID,
				api.StreamQuestion{Analyst: "ben", Dataset: "other", SQL: "paid", Request: "r"}); err != nil {
				t.Error(err)
			}
		}
		if got.Analyst != "ana" || got.Dataset != "people" || got.Stream != "second" || got.SQL != "paid" || got.Request != "ana:r" {
			t.Errorf("the question was %+v", got)
		}
		d.Sessions().AskStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "free"})
		if s.Cost().Epsilon != 2*dp.One {
			t.Errorf("it cost %v", s.Cost())
		}
		before := d.Stats()
		if x, err := d.Sessions().QuoteStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "paid"}); err != nil || x.Cost.Epsilon != dp.One ||
			s.Cost().Epsilon != 2*dp.One {
			t.Error(x, err)
		}
		var budget *ledger.BudgetError
		if a, err := d.Sessions().AskStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "poor"}); !errors.As(err, &budget) || a != nil {
			t.Error(a, err)
		}
		if _, err := d.Sessions().AskStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "no"}); !errors.As(err, &refusal) {
			t.Error(err)
		}
		after := d.Stats()
		if after.Questions != before.Questions+3 || after.Exhausted != before.Exhausted+1 || after.Refused != before.Refused+1 ||
			after.Sessions != 1 {
			t.Errorf("%+v, then %+v", before, after)
		}
		// Another's does not exist, and neither does one of another kind.
		for _, err := range []error{
			second(d.Sessions().AskStream(ctx, "ben", s.ID, api.StreamQuestion{SQL: "paid"})),
			second(d.Sessions().QuoteStream(ctx, "ben", s.ID, api.StreamQuestion{SQL: "paid"})),
			second(d.Sessions().AskHoldout(ctx, "ana", s.ID, api.HoldoutQuestion{SQL: "x"})),
			second(d.Sessions().AskSparse(ctx, "ana", s.ID, "x", "1")),
		} {
			if err != ErrNoSession {
				t.Error(err)
			}
		}
		if _, err := d.Synthetic(ctx, "ana", "", "second"); err != nil {
			t.Error(err)
		}
		if table, err := d.Synthetic(ctx, "cleo", "", "second"); err == nil || table != nil {
			t.Error(table, err)
		}
		if _, err := d.StreamReport(ctx, "ana", "", "second"); err != nil {
			t.Error(err)
		}
		quiet(t, d)
	})
}

func second[T any](_ T, err error) error { return err }

// What a holdout has left is told by its answers, in whatever order they leave.
func TestHoldoutSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		left := 3
		var got api.HoldoutQuestion
		library := fake{score: func(_ context.Context, q api.HoldoutQuestion) (*api.HoldoutAnswer, error) {
			got, left = q, left-1
			return &api.HoldoutAnswer{Left: left, Spent: true, Cost: dp.Cost{Epsilon: dp.One}}, nil
		}}
		d := newDispatcher(people(t, "immediate"), library, Options{})
		if _, err := d.Sessions().OpenHoldout(ctx, "ana", "", "other"); err == nil {
			t.Error("there is no such holdout")
		}
		s, err := d.Sessions().OpenHoldout(ctx, "ana", "", "")
		if err != nil || s.Kind != "holdout" || s.Name != "only" || s.Left() != 9 {
			t.Fatalf("%+v, %v", s, err)
		}
		for want := 2; want >= 0; want-- {
			tree := api.HoldoutQuestion{Predictions: []string{"1"}, Name: "tree"}
			if a, err := d.Sessions().AskHoldout(ctx, "ana", s.ID, tree); err != nil ||
				a.Left != want || s.Left() != want {
				t.Errorf("%+v, %v, left are %d", a, err, s.Left())
			}
		}
		if got.Analyst != "ana" || got.Dataset != "people" || got.Holdout != "only" || got.Name != "tree" {
			t.Errorf("the question was %+v", got)
		}
		// One with nothing left still confirms what is right, so it stays.
		if len(d.Sessions().List("ana")) != 1 || s.Cost().Epsilon != 3*dp.One {
			t.Errorf("it cost %v, and there are %v", s.Cost(), d.Sessions().List("ana"))
		}
		if lines, err := d.Board(ctx, "ana", "", "only"); err != nil || len(lines) != 1 {
			t.Error(lines, err)
		}
		quiet(t, d)
	})
}

// Answers of streams and holdouts leave on a tick like all others, and so does what they tell about
// a session.
func TestStreamTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		library := fake{
			stream: func(ctx context.Context, q api.StreamQuestion) (*api.StreamAnswer, error) {
				if err := work(ctx, 10*time.Millisecond); err != nil {
					return nil, err
				}
				return &api.StreamAnswer{Cost: dp.Cost{Epsilon: dp.One}}, nil
			},
			score: func(ctx context.Context, q api.HoldoutQuestion) (*api.HoldoutAnswer, error) {
				if err := work(ctx, 10*time.Millisecond); err != nil {
					return nil, err
				}
				return &api.HoldoutAnswer{Left: 5}, nil
			},
		}
		d := newDispatcher(people(t, "{tick: 1s}"), library, Options{Running: 4})
		begin := d.ticks.clock.begin
		s, err := d.Sessions().OpenStream(ctx, "ana", "", "first")
		must(t, err)
		h, err := d.Sessions().OpenHoldout(ctx, "ana", "", "only")
		must(t, err)
		time.Sleep(300 * time.Millisecond)
		for _, ask := range []func() error{
			func() error { return second(d.Sessions().AskStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "x"})) },
			func() error { return second(d.Sessions().QuoteStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "x"})) },
			func() error { return second(d.Sessions().AskHoldout(ctx, "ana", h.ID, api.HoldoutQuestion{SQL: "x"})) },
			func() error { return second(d.Synthetic(ctx, "ana", "", "first")) },
			func() error { return second(d.StreamReport(ctx, "ana", "", "first")) },
			func() error { return second(d.Board(ctx, "ana", "", "only")) },
		} {
			time.Sleep(time.Millisecond)
			cost, left := s.Cost(), h.Left()
			go func() {
				time.Sleep(500 * time.Millisecond)
				if s.Cost() != cost || h.Left() != left {
					t.Error("the session tells of an answer that has not left")
				}
			}()
			if err := ask(); err != nil {
				t.Error(err)
			}
			if since := time.Since(begin); since%time.Second != 0 {
				t.Errorf("it left at %v", since)
			}
		}
		quiet(t, d)
	})
}

// Somebody who was revoked while they waited is charged nothing.
func TestStreamRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), fake{}, Options{})
		s, err := d.Sessions().OpenStream(t.Context(), "ana", "", "first")
		must(t, err)
		ctx := Checked(t.Context(), func(context.Context) error { return ErrRevoked })
		if _, err := d.Sessions().AskStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "x"}); err != ErrRevoked {
			t.Error(err)
		}
		if _, err := d.Synthetic(ctx, "ana", "", "first"); err != ErrRevoked {
			t.Error(err)
		}
	})
}
