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
		open := func(name string) (*Session, error) { return d.OpenSparse(ctx, api.SparseQuestion{Analyst: name}) }
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
		if all := d.Sessions("ana"); len(all) != 2 || all[0] != s || all[1] != other || d.Stats().Sessions != 2 {
			t.Errorf("there are %v", all)
		}

		// Somebody else's session does not exist.
		_, asked := d.AskSparse(ctx, "ben", s.ID, "x", "1")
		_, seen := d.Session("ben", s.ID)
		_, none := d.Session("ben", "none")
		if closed := d.CloseSession("ben", s.ID); asked != ErrNoSession || seen != ErrNoSession || none != ErrNoSession ||
			closed != ErrNoSession || len(d.Sessions("ben")) != 0 {
			t.Errorf("ben gets %v, %v, %v, %v", asked, seen, none, closed)
		}

		// One that is used up, and one that is closed, make room.
		if v, err := d.AskSparse(ctx, "ana", s.ID, "last", "1"); err != nil || !v.Above {
			t.Error(v, err)
		}
		if _, err := d.AskSparse(ctx, "ana", s.ID, "x", "1"); err != ErrNoSession {
			t.Error(err)
		}
		if d.CloseSession("ana", other.ID) != nil || d.CloseSession("ana", other.ID) != ErrNoSession || len(d.sessions.held) != 0 {
			t.Errorf("held are %v", d.sessions.held)
		}

		// So does one that the engine failed in, and one whose data is gone. A refused question
		// ends nothing.
		for text, want := range map[string]error{"run": api.ErrSessionRun, "data": api.ErrSessionData} {
			if s, err = open("ana"); err != nil {
				t.Fatal(err)
			}
			var refusal *api.Refusal
			if _, err := d.AskSparse(ctx, "ana", s.ID, "no", "1"); !errors.As(err, &refusal) || len(d.Sessions("ana")) != 1 {
				t.Errorf("refused: %v", err)
			}
			if _, err := d.AskSparse(ctx, "ana", s.ID, text, "1"); err != want || len(d.Sessions("ana")) != 0 {
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
			if _, err := d.AskSparse(ctx, "ana", s.ID, "x", "1"); err != nil {
				t.Error(err)
			}
		}
		if all := d.Sessions("ana"); len(all) != 1 || all[0] != s {
			t.Errorf("there are %v", all)
		}
		time.Sleep(time.Hour)
		if d.Stats().Sessions != 0 || len(d.sessions.held) != 0 {
			t.Errorf("held are %v", d.sessions.held)
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
				all.Go(func() { d.OpenSparse(t.Context(), api.SparseQuestion{Analyst: "ana"}) })
			}
			all.Wait()
			if n := len(d.Sessions("ana")); (fails == nil && n != 3) || (fails != nil && (n != 0 || len(d.sessions.held) != 0)) {
				t.Errorf("%d are open", n)
			}
		}
		d := newDispatcher(people(t, "immediate"),
			fake{open: func(context.Context, api.SparseQuestion) (*discreet.Sparse, error) { panic("secret") }}, Options{})
		if _, err := d.OpenSparse(t.Context(), api.SparseQuestion{Analyst: "ana"}); err != ErrInternal || len(d.sessions.held) != 0 {
			t.Errorf("got %v, held are %v", err, d.sessions.held)
		}
	})
}
