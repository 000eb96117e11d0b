package curator

import (
	"context"
	"math"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pace"
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
