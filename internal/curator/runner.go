package curator

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/internal/pace"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/policy"
)

// timed is an engine of which it is known how long it takes at most, by what everybody may know:
// the tree, the sizes of tables and the speed of the machine. Nothing of it is measured while
// somebody asks.
type timed interface {
	QueryTime(ctx context.Context, q *tree.Query) (time.Duration, error)
	FetchTime(ctx context.Context, t *tree.Table) (time.Duration, error)
	FitTime(ctx context.Context, t *tree.Table, models, parts int) (time.Duration, error)
	StepsTime(ctx context.Context, n float64) (time.Duration, error)
}

// publicTime is how long a query takes at most; what the schedule allows where nobody knows. It is
// 0 for who waits for no schedule.
func (c *Curator) publicTime(ctx context.Context, q *tree.Query) (time.Duration, error) {
	return c.timeOf(ctx, func(e timed) (time.Duration, error) { return e.QueryTime(ctx, q) })
}

func (c *Curator) publicTimeOfRows(ctx context.Context, t *tree.Table) (time.Duration, error) {
	return c.timeOf(ctx, func(e timed) (time.Duration, error) { return e.FetchTime(ctx, t) })
}

// purchaseTime is how long it takes to compute a purchase, with all that it is released with, and
// releaseTime what of that the query does not know of.
func (c *Curator) purchaseTime(ctx context.Context, b *pricing.Purchase) (time.Duration, error) {
	q := b.Query
	if b.Cube != nil {
		q = b.Cube.Query
	}
	takes, err := c.publicTime(ctx, q)
	if err != nil {
		return 0, err
	}
	more, err := c.releaseTime(ctx, b)
	return plus(takes, more), err
}

func (c *Curator) releaseTime(ctx context.Context, b *pricing.Purchase) (time.Duration, error) {
	steps := b.Steps()
	if _, ok := c.engine.(timed); !ok || steps == 0 {
		return 0, nil // where nobody knows, the query has all that the schedule allows
	}
	return c.timeOf(ctx, func(e timed) (time.Duration, error) { return e.StepsTime(ctx, steps) })
}

// FitTime implements [interactive.Curator].
func (c *Curator) FitTime(ctx context.Context, t *tree.Table, models, parts int) (time.Duration, error) {
	return c.timeOf(ctx, func(e timed) (time.Duration, error) { return e.FitTime(ctx, t, models, parts) })
}

// pacedRun looks at data by a function that takes at most so long.
func (c *Curator) pacedRun(ctx context.Context, takes time.Duration, do func(context.Context) error) error {
	if c.dataset.SourceKind() == policy.TrinoDatabase {
		return pace.RunElsewhere(ctx, takes, do)
	}
	return pace.Run(ctx, takes, do)
}

func (c *Curator) timeOf(ctx context.Context, of func(timed) (time.Duration, error)) (time.Duration, error) {
	limit, scheduled := pace.Limit(ctx)
	if !scheduled {
		return 0, nil
	}
	e, ok := c.engine.(timed)
	if !ok {
		return limit, nil
	}
	return of(e)
}

// timeOfAll is how long purchases take at most, one after the other.
func (c *Curator) timeOfAll(ctx context.Context, buys []*pricing.Purchase) (time.Duration, error) {
	sum, seen := time.Duration(0), map[*tree.Query]bool{}
	for _, b := range buys {
		q := b.Query
		if b.Cube != nil {
			q = b.Cube.Query
		}
		if seen[q] {
			continue
		}
		seen[q] = true
		takes, err := c.purchaseTime(ctx, b)
		if err != nil {
			return 0, err
		}
		sum = plus(sum, takes)
	}
	return sum, nil
}

// plus adds times. Those of questions that nobody could wait for are enormous.
func plus(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// checkTime refuses what would take longer than a question may, before anything is charged.
func (c *Curator) checkTime(ctx context.Context, buys []*pricing.Purchase) error {
	return withinLimit(ctx, func() (time.Duration, error) { return c.timeOfAll(ctx, buys) })
}

// CheckTime implements [interactive.Curator].
func (c *Curator) CheckTime(ctx context.Context, q *tree.Query) error {
	return withinLimit(ctx, func() (time.Duration, error) { return c.publicTime(ctx, q) })
}

// CheckTrainingTime implements [interactive.Curator].
func (c *Curator) CheckTrainingTime(ctx context.Context, t *tree.Table, models, parts int) error {
	return withinLimit(ctx, func() (time.Duration, error) {
		if _, ok := c.engine.(timed); !ok {
			return 0, nil // nobody knows, and what the schedule allows it has twice
		}
		fetch, err := c.publicTimeOfRows(ctx, t)
		if err != nil {
			return 0, err
		}
		fit, err := c.FitTime(ctx, t, models, parts)
		return plus(fetch, fit), err
	})
}

func withinLimit(ctx context.Context, of func() (time.Duration, error)) error {
	limit, scheduled := pace.Limit(ctx)
	if !scheduled {
		return nil
	}
	takes, err := of()
	if err != nil {
		return err
	}
	if takes > limit {
		return api.Refuse("ask for less at once: fewer joins, patterns, windows or medians; or ask the owner for a longer --timeout",
			"this question may take %s on data of this size, and the server's limit is %v", sayTime(takes), limit)
	}
	return nil
}

// sayTime rounds a time up, so that it is longer than a limit that it is beyond. Those of questions
// that nobody could wait for are enormous.
func sayTime(d time.Duration) string {
	if d > 240*time.Hour {
		return "more than ten days"
	}
	return (d + time.Second - 1).Truncate(time.Second).String()
}

// deadline is how long the answer takes to leave a server, without its ticks; nil where it is
// there, and for who is not at a server.
func (a *asking) deadline(ctx context.Context) (*float64, error) {
	if _, scheduled := pace.Limit(ctx); !scheduled || len(a.bought) == 0 {
		return nil, nil
	}
	takes, err := a.c.timeOfAll(ctx, a.bought)
	if err != nil {
		return nil, err
	}
	seconds := takes.Seconds()
	return &seconds, nil
}

// Data asks the engine for the state of its data, and the ledger for what it is called there. Every
// question comes by here, so that nothing is told under a policy that protects others than charges
// before did. One that has looked at data waits: whether it was done when the data changed must not
// decide what becomes of it.
func (c *Curator) Data(ctx context.Context) (interactive.Data, error) {
	pace.Settle(ctx)
	if _, err := c.Protected(ctx); err != nil {
		return interactive.Data{}, err
	}
	state, err := c.engine.Version(ctx)
	if err != nil {
		return interactive.Data{}, err
	}
	v, err := c.ledger.DataVersion(ctx, c.dataset.Name, state.Name, state.Key())
	return interactive.Data{Version: v, State: state.Key(), Whole: state.Whole}, err
}

// Moved reports whether something was read from other data than it was asked of, or may have been.
func (c *Curator) Moved(ctx context.Context, d interactive.Data, read engine.ReadFrom) bool {
	r := running{c: c, data: d}
	r.note(read)
	return r.moved(ctx)
}

// unmoved reports whether the data is known to be in the state that a question found it in. What
// ran in between ran on that. It waits as Data does.
func (c *Curator) unmoved(ctx context.Context, d interactive.Data) bool {
	if !d.Whole {
		return false
	}
	pace.Settle(ctx)
	state, err := c.engine.Version(context.WithoutCancel(ctx))
	return err == nil && state.Whole && state.Key() == d.State
}

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
