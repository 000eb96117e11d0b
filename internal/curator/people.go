package curator

import (
	"context"
	"sync"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan"
)

// people is how many people there are in the latest state of the data that was asked about, where
// that is public.
type people struct {
	mu    sync.Mutex
	state string
	known bool
	n     int64
}

// countPeople returns how many people there are. It is counted once for each state of the data, by
// a query of its own that no question has a part in, and that is checked twice like all that reach
// the engine.
func (c *Curator) countPeople(ctx context.Context) (int64, error) {
	version, err := c.engine.Version(ctx)
	if err != nil {
		return 0, err
	}
	c.people.mu.Lock()
	defer c.people.mu.Unlock()
	if c.people.known && c.people.state == version.Key() {
		return c.people.n, nil
	}
	if err := c.recordProtected(ctx); err != nil {
		return 0, err
	}
	q := plan.CountPeople(c.dataset)
	if q == nil {
		return 0, engine.ErrPrivate
	}
	if err := agreed(c.second.people(c.dataset, q)); err != nil {
		return 0, err
	}
	n, err := engine.RunPeople(ctx, c.engine, c.dataset, q)
	if err != nil {
		return 0, err
	}
	c.people.state, c.people.known, c.people.n = version.Key(), true, n
	return n, nil
}
