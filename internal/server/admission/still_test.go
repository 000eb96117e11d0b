package admission

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
)

// Who is revoked while they wait is not asked for.
func TestRevokedWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		var revoked atomic.Bool
		d := newDispatcher(people(t, "immediate"), fake{ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
			asked++
			return paidFor(), work(ctx, time.Second)
		}}, Options{Running: 1})
		ctx := Checked(t.Context(), func(context.Context) error {
			if revoked.Load() {
				return ErrRevoked
			}
			return nil
		})
		var all sync.WaitGroup
		outcomes := make([]error, 3)
		for i := range outcomes {
			all.Go(func() { _, outcomes[i] = d.Ask(ctx, from("ana")) })
			synctest.Wait()
		}
		revoked.Store(true)
		all.Wait()
		if asked != 1 || outcomes[0] != nil || outcomes[1] != ErrRevoked || outcomes[2] != ErrRevoked {
			t.Errorf("%d were asked: %v", asked, outcomes)
		}
		quiet(t, d)
	})
}

// Who cannot be checked is not asked for, and is not told that they are revoked.
func TestUncheckedWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), fake{ask: func(context.Context, api.Question) (*api.Answer, error) {
			t.Error("asked")
			return paidFor(), nil
		}}, Options{})
		ctx := Checked(t.Context(), func(context.Context) error { return errors.New("the connection was cut") })
		if _, err := d.Ask(ctx, from("ana")); err != ErrUnchecked {
			t.Error(err)
		}
		quiet(t, d)
	})
}

// A request's name is the analyst's own, through whichever door.
func TestRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		d := newDispatcher(people(t, "immediate"), fake{ask: func(_ context.Context, q api.Question) (*api.Answer, error) {
			names = append(names, q.Request)
			return paidFor(), nil
		}}, Options{})
		for _, q := range []api.Question{{Analyst: "ana", Request: "ben:k"}, {Analyst: "ben", Request: "k"}, {Analyst: "ben"}} {
			if _, err := d.Ask(t.Context(), q); err != nil {
				t.Fatal(err)
			}
		}
		if len(names) != 3 || names[0] != "ana:ben:k" || names[1] != "ben:k" || names[2] != "" {
			t.Errorf("got %q", names)
		}
	})
}

// What a session has left is told when the answer leaves, and not before.
func TestLeftOnATick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "{tick: 10s}"), fake{
			open: func(context.Context, api.SparseQuestion) (*discreet.Sparse, error) {
				return &discreet.Sparse{}, nil
			},
			sparse: func(context.Context, string) (*api.SparseVerdict, error) {
				return &api.SparseVerdict{Above: true, Left: 1}, nil
			},
		}, Options{})
		s, err := d.OpenSparse(t.Context(), api.SparseQuestion{Analyst: "ana", Above: 2})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		go d.AskSparse(t.Context(), "ana", s.ID, "SELECT 1", "1")
		synctest.Wait()
		if s.Left() != 2 {
			t.Errorf("%d are left before the tick", s.Left())
		}
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if s.Left() != 1 {
			t.Errorf("%d are left after the tick", s.Left())
		}
	})
}
