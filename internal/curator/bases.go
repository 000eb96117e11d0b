package curator

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/internal/memory"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
)

// bases are answers that were paid for, of which sharper ones are made for the difference. They are
// in one window: in another one nobody has paid for them.
type bases struct {
	window uint64
	of     map[*pricing.Purchase]*memory.Base
}

// cost is what purchases cost, those with a base the difference.
func (s bases) cost(buys []*pricing.Purchase) dp.Cost {
	var sum dp.Cost
	for _, b := range buys {
		if base := s.of[b]; base != nil {
			sum = sum.Add(b.CostAfter(base.By))
		} else {
			sum = sum.Add(b.Cost())
		}
	}
	return sum
}

// findBases looks for answers that what is bought can be made of. Only where epsilon adds up: in
// rho a sharper answer costs more than one of its own (mech.Sharpened). They are taken where all
// of it then takes less of what is left.
func (a *asking) findBases(ctx context.Context) error {
	a.bases = bases{}
	if !a.Currency.Pure || len(a.bought) == 0 {
		return nil
	}
	window, err := a.c.ledger.Window(ctx, a.c.dataset.Name)
	if err != nil {
		return err
	}
	found := bases{window, map[*pricing.Purchase]*memory.Base{}}
	who := memory.Asker{Dataset: a.c.dataset.Name, Version: a.data.ID, Window: window, Request: a.question.Request}
	for _, b := range a.bought {
		base, err := a.c.memory.FindBase(ctx, b, who, a.horizon)
		if err != nil {
			return err
		}
		if base != nil {
			found.of[b] = base
		}
	}
	if len(found.of) == 0 {
		return nil
	}
	whole, err := a.c.Takes(ctx, a.question.Analyst, a.charge())
	if err != nil {
		return err
	}
	// Every answer is kept for good, so that one costs at least as much as any question.
	cost := found.cost(a.bought)
	less, err := a.c.Takes(ctx, a.question.Analyst, cost)
	if err == nil && less <= whole && cost.Epsilon >= a.c.dataset.Budget.MinEpsilon {
		a.bases = found
	}
	return err
}

// chargeFor pays for what is bought. What has a base is paid for in the window of that, or in full.
func (c *Curator) chargeFor(ctx context.Context, a *asking, charge ledger.Charge) (ledger.Receipt, error) {
	charge.Mechanisms, charge.Cost = pricing.Mechanisms(a.bought), a.charge()
	if len(a.bases.of) == 0 {
		return c.Charge(ctx, a.question.Analyst, charge)
	}
	for _, b := range a.bought {
		if base := a.bases.of[b]; base != nil {
			charge.Mechanisms = pricing.Shorten(fmt.Sprintf("%s, sharpening record %d", charge.Mechanisms, base.Sequence), 4000)
		}
	}
	charge.Window = a.bases.window
	charge.Accounts = c.Charged(a.question.Analyst, charge.Window)
	receipt, err := c.ledger.Charge(ctx, charge)
	if errors.As(err, new(*ledger.WindowError)) {
		a.bases = bases{}
		charge.Mechanisms, charge.Cost = pricing.Mechanisms(a.bought), a.charge()
		return c.Charge(ctx, a.question.Analyst, charge)
	}
	if err != nil {
		return receipt, c.Advise(ctx, a.question.Analyst, err)
	}
	return receipt, nil
}

// useBases notes, before anything is computed, what is made of bases: nothing else ever is.
func (a *asking) useBases(ctx context.Context, charged ledger.Receipt) error {
	for _, base := range a.bases.of {
		if err := a.c.memory.Use(ctx, base, charged.Sequence, a.question.Request); err != nil {
			return err
		}
	}
	return nil
}

// sharpen releases a purchase again with less noise.
func (c *Curator) sharpen(b *pricing.Purchase, r *engine.Result, base *memory.Base) (*answers.Released, error) {
	out := &answers.Released{Quantiles: make([][][]int64, len(b.Noise))}
	for i, by := range base.By {
		values := base.Values[i]
		if by != nil {
			var err error
			if values, err = c.releaser.Sharpen(r.Measures[i], values, by); err != nil {
				return nil, interactive.ErrRun
			}
		}
		out.Measures = append(out.Measures, values)
	}
	return out, nil
}
