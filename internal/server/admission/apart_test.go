package admission

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// Of those by one of whose questions a process may have died one has a turn at a time, and nobody
// else waits for that.
func TestApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		var mu sync.Mutex
		var now []string
		begun := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(now)
		}
		d := newDispatcher(people(t, "immediate"), fake{ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
			mu.Lock()
			now = append(now, q.Analyst)
			mu.Unlock()
			time.Sleep(time.Second)
			return paidFor(), nil
		}}, Options{Running: 4})
		d.queue.apart = func(analyst string) bool { return analyst != "cleo" }
		for _, name := range []string{"ana", "ben", "cleo", "ana"} {
			all.Go(func() { d.Ask(t.Context(), from(name)) })
			synctest.Wait()
		}
		if got := begun(); !slices.Equal(got, []string{"ana", "cleo"}) {
			t.Error(got)
		}
		time.Sleep(1100 * time.Millisecond)
		if got := begun(); !slices.Equal(got, []string{"ana", "cleo", "ben"}) {
			t.Error(got)
		}
		all.Wait()
		if got := begun(); len(got) != 4 {
			t.Error(got)
		}
		quiet(t, d)
	})
}
