package curator

import (
	"context"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/ledger"
)

// Renew ends the current window and begins the next one, where the policy has one more.
func (c *Curator) Renew(ctx context.Context, reason string) (api.Renewed, error) {
	window, err := c.ledger.Window(ctx, c.dataset.Name)
	if err != nil {
		return api.Renewed{}, err
	}
	if err := c.renewable(window); err != nil {
		return api.Renewed{}, err
	}
	receipt, err := c.ledger.Enter(ctx, ledger.Renewal{Dataset: c.dataset.Name, From: window, Reason: reason})
	if err != nil {
		return api.Renewed{}, err
	}
	return api.Renewed{Sequence: receipt.Sequence, Window: window + 1, Windows: uint64(c.dataset.Budget.Renewal.Windows)}, nil
}

func (c *Curator) renewable(window uint64) error {
	b := c.dataset.Budget
	if !b.Renews() {
		return api.Refuse("write renewal: {every: month, windows: 12} into the budget first, which promises less: read what 'discreet budget' says then, or top up once with 'discreet ledger topup'",
			"the budget of %s is not renewed: the policy gives it once, for good", c.dataset.Name)
	}
	if window >= uint64(b.Renewal.Windows) {
		return api.Refuse("a larger number of windows in the policy allows more, and is a larger promise over all of them",
			"window %d of %s is the last one: the policy has %d windows", window, c.dataset.Name, b.Renewal.Windows)
	}
	return nil
}

// Due says when the owner meant to begin the next window: one period, in days of UTC, after the last renewal, or after the first charge. It is
// false where nothing was charged yet, so that there is nothing to renew. The times are those that were recorded, by the clocks of their
// machines; this is a reminder, and what may be spent does not depend on it.
func (c *Curator) Due(ctx context.Context) (time.Time, bool, error) {
	window, err := c.ledger.Window(ctx, c.dataset.Name)
	if err != nil {
		return time.Time{}, false, err
	}
	if err := c.renewable(window); err != nil {
		return time.Time{}, false, err
	}
	var begin time.Time
	for r, err := range c.ledger.Records(ctx, 1) {
		if err != nil {
			return time.Time{}, false, err
		}
		if r.Dataset == c.dataset.Name && (r.Kind == ledger.KindRenewal || r.Kind == ledger.KindCharge && begin.IsZero()) {
			begin = r.Time
		}
	}
	if begin.IsZero() {
		return time.Time{}, false, nil
	}
	return c.dataset.Budget.Renewal.Next(begin), true, nil
}
