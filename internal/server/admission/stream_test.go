package admission

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

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
			if _, err := d.OpenStream(ctx, "ana", "", name); !errors.As(err, &refusal) || len(d.sessions.held) != 0 {
				t.Errorf("%q: %v, held are %v", name, err, d.sessions.held)
			}
		}
		s, err := d.OpenStream(ctx, "ana", "", "second")
		if err != nil || s.Kind != "stream" || s.Name != "second" || s.Dataset != "people" || s.Left() >= 0 || s.Cost() != (dp.Cost{}) ||
			len(s.ID) != 32 {
			t.Fatalf("%+v, %v", s, err)
		}
		for range 2 {
			if _, err := d.AskStream(ctx, "ana", s.ID,
				api.StreamQuestion{Analyst: "ben", Dataset: "other", SQL: "paid", Request: "r"}); err != nil {
				t.Error(err)
			}
		}
		if got.Analyst != "ana" || got.Dataset != "people" || got.Stream != "second" || got.SQL != "paid" || got.Request != "ana:r" {
			t.Errorf("the question was %+v", got)
		}
		d.AskStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "free"})
		if s.Cost().Epsilon != 2*dp.One {
			t.Errorf("it cost %v", s.Cost())
		}
		before := d.Stats()
		if x, err := d.QuoteStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "paid"}); err != nil || x.Cost.Epsilon != dp.One ||
			s.Cost().Epsilon != 2*dp.One {
			t.Error(x, err)
		}
		var budget *ledger.BudgetError
		if a, err := d.AskStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "poor"}); !errors.As(err, &budget) || a != nil {
			t.Error(a, err)
		}
		if _, err := d.AskStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "no"}); !errors.As(err, &refusal) {
			t.Error(err)
		}
		after := d.Stats()
		if after.Questions != before.Questions+3 || after.Exhausted != before.Exhausted+1 || after.Refused != before.Refused+1 ||
			after.Sessions != 1 {
			t.Errorf("%+v, then %+v", before, after)
		}
		// Another's does not exist, and neither does one of another kind.
		for _, err := range []error{
			second(d.AskStream(ctx, "ben", s.ID, api.StreamQuestion{SQL: "paid"})),
			second(d.QuoteStream(ctx, "ben", s.ID, api.StreamQuestion{SQL: "paid"})),
			second(d.AskHoldout(ctx, "ana", s.ID, api.HoldoutQuestion{SQL: "x"})), second(d.AskSparse(ctx, "ana", s.ID, "x", "1")),
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
		if _, err := d.OpenHoldout(ctx, "ana", "", "other"); err == nil {
			t.Error("there is no such holdout")
		}
		s, err := d.OpenHoldout(ctx, "ana", "", "")
		if err != nil || s.Kind != "holdout" || s.Name != "only" || s.Left() != 9 {
			t.Fatalf("%+v, %v", s, err)
		}
		for want := 2; want >= 0; want-- {
			if a, err := d.AskHoldout(ctx, "ana", s.ID, api.HoldoutQuestion{Predictions: []string{"1"}, Name: "tree"}); err != nil ||
				a.Left != want || s.Left() != want {
				t.Errorf("%+v, %v, left are %d", a, err, s.Left())
			}
		}
		if got.Analyst != "ana" || got.Dataset != "people" || got.Holdout != "only" || got.Name != "tree" {
			t.Errorf("the question was %+v", got)
		}
		// One with nothing left still confirms what is right, so it stays.
		if len(d.Sessions("ana")) != 1 || s.Cost().Epsilon != 3*dp.One {
			t.Errorf("it cost %v, and there are %v", s.Cost(), d.Sessions("ana"))
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
		begin := d.clock.begin
		s, err := d.OpenStream(ctx, "ana", "", "first")
		if err != nil {
			t.Fatal(err)
		}
		h, err := d.OpenHoldout(ctx, "ana", "", "only")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		for _, ask := range []func() error{
			func() error { return second(d.AskStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "x"})) },
			func() error { return second(d.QuoteStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "x"})) },
			func() error { return second(d.AskHoldout(ctx, "ana", h.ID, api.HoldoutQuestion{SQL: "x"})) },
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
		s, err := d.OpenStream(t.Context(), "ana", "", "first")
		if err != nil {
			t.Fatal(err)
		}
		ctx := Checked(t.Context(), func(context.Context) error { return ErrRevoked })
		if _, err := d.AskStream(ctx, "ana", s.ID, api.StreamQuestion{SQL: "x"}); err != ErrRevoked {
			t.Error(err)
		}
		if _, err := d.Synthetic(ctx, "ana", "", "first"); err != ErrRevoked {
			t.Error(err)
		}
	})
}
