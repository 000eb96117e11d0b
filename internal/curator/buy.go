package curator

import (
	"context"
	"errors"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/internal/pace"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
)

// buy charges once for all that is missing, then runs, releases and keeps, in this order.
func (c *Curator) buy(ctx context.Context, a *asking) error {
	q, buys, version := a.question, a.bought, a.data.Version
	if err := a.checkShared(); err != nil {
		return err
	}
	if !pricing.Whole(buys) {
		return &api.Disagreement{Detail: "a part of what is released together would be paid for"}
	}
	if err := c.checkTime(ctx, buys); err != nil {
		return err
	}
	charged, err := c.chargeFor(ctx, a, ledger.Charge{
		Request:     q.Request,
		Analyst:     q.Analyst,
		Dataset:     c.dataset.Name,
		DataVersion: version.String(),
		Looked:      true,
		Since:       version.Since,
		Query:       pricing.HashAll(buys),
		Missed:      a.missed,
	})
	if err != nil {
		return err
	}

	// The charge is durable. From here on it stays, whatever happens.
	if charged.Again {
		if _, kept, err := c.memory.Answer(ctx, q.Request); err != nil {
			return err
		} else if kept { // by another server, meanwhile
			return ledger.ErrKept
		}
		if err := c.Again(ctx, charged.Sequence); err != nil {
			return err
		}
	} else {
		a.charged.receipt, a.charged.spent, a.charged.claimed = charged, a.tags(), a.charge()
	}
	if err := a.useBases(ctx, charged); err != nil {
		return err
	}
	ran := &running{c: c, data: a.data}
	bought, err := ran.compute(ctx, buys, a.bases, a.Room())
	if errors.Is(err, api.ErrMoved) {
		return err
	}
	if err != nil {
		ran.rest(ctx, buys)
		return c.Failed(ctx, q.Analyst, charged.Sequence, err, interactive.ErrRun)
	}

	for i, b := range a.Purchases {
		if at := slices.Index(buys, b); at >= 0 {
			a.released[i] = bought[at]
		}
	}
	// Released and now public, but kept before anybody sees it: an analyst who stops
	// waiting must not make us lose what was paid for.
	wait := a.makeMeanwhile(ctx)
	if a.moved = ran.moved(ctx); a.moved {
		err = c.memory.KeepForRequest(context.WithoutCancel(ctx), charged.Sequence, buys, bought, true)
	} else {
		err = c.memory.Keep(context.WithoutCancel(ctx), charged.Sequence, buys, bought, version.ID, ran.maker())
	}
	if wait(); err != nil {
		return err
	}
	a.paid = api.Receipt{Sequence: charged.Sequence, Hash: charged.Hash, Free: charged.Again}
	return nil
}

// makeMeanwhile makes the answer of what was released while that is being kept, which waits for a
// disk. What it returns waits for it. Where it cannot be made, or is not whole yet, it is left to
// finish, which says why. It begins when what was released may be seen: if it began when that was
// there, it would also end so much sooner or later.
func (a *asking) makeMeanwhile(ctx context.Context) (wait func()) {
	pace.Settle(ctx)
	if a.outer != nil || slices.Contains(a.released, nil) {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		defer interactive.Catch(&err)
		made, err := answers.Finish(ctx, a.Priced, nil, a.released)
		if err == nil {
			a.made = made
		}
	}()
	return func() { <-done }
}

// checkShared looks once more at a plan that others have too, before it is paid for: that nobody
// changed it since its noise was calibrated, and that the second check still agrees with it.
func (a *asking) checkShared() error {
	if !a.shared {
		return nil
	}
	for _, b := range a.bought {
		if !b.Unchanged() {
			return &api.Disagreement{Detail: "a plan that is shared was changed"}
		}
	}
	return a.c.CheckTwice(a.Statement)
}

// compute runs all that was paid for, and releases it. What goes wrong can depend on the data.
func (r *running) compute(ctx context.Context, buys []*pricing.Purchase, of bases, room int) (bought []*answers.Released, err error) {
	defer interactive.Catch(&err)
	bought = make([]*answers.Released, len(buys))
	for i, b := range buys {
		if bought[i] != nil {
			continue // with others
		}
		if b.Cube != nil {
			if err := r.computeCube(ctx, b, buys, bought); err != nil {
				return nil, err
			}
			continue
		}
		exactly, err := r.run(ctx, b.Query)
		if err != nil {
			return nil, err
		}
		if err := r.releases(ctx, b); err != nil {
			return nil, err
		}
		if of.of[b] != nil && !r.same(ctx) {
			return nil, api.ErrMoved
		}
		if bought[i], err = r.c.release(b, exactly, of.of[b], room); err != nil {
			return nil, err
		}
	}
	return bought, nil
}

// computeCube runs the table of a cube, and releases all its members of the one result.
func (r *running) computeCube(ctx context.Context, of *pricing.Purchase, buys []*pricing.Purchase, bought []*answers.Released) error {
	cube := of.Cube
	table := &pricing.Purchase{Query: cube.Query}
	exactly, err := r.run(ctx, cube.Query)
	if err != nil {
		return err
	}
	if err := r.releases(ctx, of); err != nil {
		return err
	}
	if !fitting(table, exactly) {
		return interactive.ErrRun
	}
	for _, b := range cube.Members {
		bought[slices.Index(buys, b)] = &answers.Released{Quantiles: make([][][]int64, len(cube.Noise))}
	}
	for i, n := range cube.Noise {
		margins := r.c.releaser.ReleaseMarginals(exactly.Measures[i], n)
		for k, b := range cube.Members {
			out := bought[slices.Index(buys, b)]
			out.Measures, out.Off = append(out.Measures, margins.Values[k]), append(out.Off, margins.Off[k])
		}
	}
	return nil
}
