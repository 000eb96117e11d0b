package curator

import (
	"context"
	"sync"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/interactive"
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
	c.people.mu.Lock()
	defer c.people.mu.Unlock()
	for range maxReads {
		n, moved, err := c.countPeopleOnce(ctx)
		if err != nil || !moved {
			return n, err
		}
	}
	return 0, api.ErrChanging
}

// maxReads is how often something is read anew because the data changed meanwhile.
const maxReads = 3

// countPeopleOnce also reports whether what was counted may be of other data than there was, which
// is kept for nobody.
func (c *Curator) countPeopleOnce(ctx context.Context) (n int64, moved bool, err error) {
	version, err := c.engine.Version(ctx)
	if err != nil {
		return 0, false, err
	}
	if c.people.known && c.people.state == version.Key() {
		return c.people.n, false, nil
	}
	if err := c.recordProtected(ctx); err != nil {
		return 0, false, err
	}
	q := plan.CountPeople(c.dataset)
	if q == nil {
		return 0, false, engine.ErrPrivate
	}
	if err := agreed(c.second.people(c.dataset, q)); err != nil {
		return 0, false, err
	}
	n, read, err := engine.RunPeople(ctx, c.engine, c.dataset, q)
	if err != nil || c.Moved(ctx, interactive.Data{State: version.Key(), Whole: version.Whole}, read) {
		return 0, err == nil, err
	}
	c.people.state, c.people.known, c.people.n = version.Key(), true, n
	return n, false, nil
}
