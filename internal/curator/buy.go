package curator

import (
	"context"
	"errors"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
)

// buy charges once for all that is missing, then runs, releases and keeps, in this order.
func (a *request) buy(ctx context.Context) error {
	c := a.c
	q, buys, version := a.question, a.bill.bought, a.data.Version
	if err := a.checkShared(); err != nil {
		return err
	}
	if !pricing.Whole(buys) {
		return &api.Disagreement{Detail: "a part of what is released together would be paid for"}
	}
	if err := c.runner.checkTime(ctx, buys); err != nil {
		return err
	}
	charged, err := a.chargeFor(ctx, ledger.Charge{
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
		if err := c.cashier.Again(ctx, charged.Sequence); err != nil {
			return err
		}
	} else {
		a.charged.receipt, a.charged.spent, a.charged.claimed = charged, a.bill.tag(a.Priced), a.bill.cost()
	}
	if err := a.useBases(ctx, charged); err != nil {
		return err
	}
	ran := &computation{states: c.states, releaser: c.releaser, data: a.data}
	bought, err := ran.compute(ctx, buys, a.bill.bases, a.Room())
	if errors.Is(err, api.ErrMoved) {
		return err
	}
	if err != nil {
		ran.takeRemainingTime(ctx, buys)
		return c.incidents.Failed(ctx, q.Analyst, charged.Sequence, err, sessionhost.ErrRun)
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
func (a *request) makeMeanwhile(ctx context.Context) (wait func()) {
	releaseclock.Settle(ctx)
	if a.outer != nil || slices.Contains(a.released, nil) {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		defer sessionhost.Catch(&err)
		made, err := answers.Finish(ctx, a.Priced, nil, a.released)
		if err == nil {
			a.made = made
		}
	}()
	return func() { <-done }
}

// checkShared looks once more at a plan that others have too, before it is paid for: that nobody
// changed it since its noise was calibrated, and that the second check still agrees with it.
func (a *request) checkShared() error {
	if !a.shared {
		return nil
	}
	for _, b := range a.bill.bought {
		if !b.Unchanged() {
			return &api.Disagreement{Detail: "a plan that is shared was changed"}
		}
	}
	return a.c.verifier.CheckTwice(a.Statement)
}
