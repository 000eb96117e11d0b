package admission

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// Of those by one of whose questions a process may have died one has a turn at a time, and nobody
// else waits for that.
func TestApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now []string
		d := newDispatcher(people(t, "immediate"), fake{ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
			now = append(now, q.Analyst)
			time.Sleep(time.Second)
			return paidFor(), nil
		}}, Options{Running: 4})
		d.queue.apart = func(analyst string) bool { return analyst != "cleo" }
		for _, name := range []string{"ana", "ben", "cleo", "ana"} {
			go d.Ask(t.Context(), from(name))
			synctest.Wait()
		}
		if !slices.Equal(now, []string{"ana", "cleo"}) {
			t.Error(now)
		}
		time.Sleep(1100 * time.Millisecond)
		if !slices.Equal(now, []string{"ana", "cleo", "ben"}) {
			t.Error(now)
		}
		time.Sleep(time.Minute)
		if len(now) != 4 {
			t.Error(now)
		}
		quiet(t, d)
	})
}
