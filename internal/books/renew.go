package books

import (
	"context"
	"crypto"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/ledger"
)

// Renew ends the current window and begins the next one, where the policy has one more.
func (s *Books) Renew(ctx context.Context, reason string) (api.Renewed, error) {
	return s.RenewSigned(ctx, reason, nil)
}

// RenewSigned does the same where the owner signs for it. With a [ledger.Deferred] that has nothing
// yet, it returns what would be, together with the [*ledger.DraftError].
func (s *Books) RenewSigned(ctx context.Context, reason string, signer crypto.Signer) (api.Renewed, error) {
	window, err := s.ledger.Window(ctx, s.dataset.Name)
	if err != nil {
		return api.Renewed{}, err
	}
	if err := s.renewable(window); err != nil {
		return api.Renewed{}, err
	}
	out := api.Renewed{Window: window + 1, Windows: uint64(s.dataset.Budget.Renewal.Windows)}
	next, err := s.readAll(ctx, s.chart.common(window+1))
	if err != nil {
		return api.Renewed{}, err
	}
	if out.Promise, err = s.sentences(ctx, window+1, next); err != nil {
		return api.Renewed{}, err
	}
	receipt, err := s.ledger.Enter(ctx, ledger.Renewal{Dataset: s.dataset.Name, From: window, Reason: reason, Signer: signer})
	out.Sequence = receipt.Sequence
	return out, err
}

func (s *Books) renewable(window uint64) error {
	b := s.dataset.Budget
	if !b.Renews() {
		return api.Refuse("write renewal: {every: month, windows: 12} into the budget first, which promises less: read what 'discreet "+
			"budget' says then, or top up once with 'discreet ledger topup'",
			"the budget of %s is not renewed: the policy gives it once, for good", s.dataset.Name)
	}
	if window >= uint64(b.Renewal.Windows) {
		return api.Refuse("a larger number of windows in the policy allows more, and is a larger promise over all of them",
			"window %d of %s is the last one: the policy has %d windows", window, s.dataset.Name, b.Renewal.Windows)
	}
	return nil
}

// Due says when the owner meant to begin the next window: one period, in days of UTC, after the
// last renewal, or after the first charge. It is false where nothing was charged yet, so that there
// is nothing to renew. The times are those that were recorded, by the clocks of their machines;
// this is a reminder, and what may be spent does not depend on it. One that lies ahead of now by
// more than a day is of a clock that was wrong, and counts for nothing: a window that was begun by
// it is as old as its first charge.
func (s *Books) Due(ctx context.Context, now time.Time) (time.Time, bool, error) {
	window, err := s.ledger.Window(ctx, s.dataset.Name)
	if err != nil {
		return time.Time{}, false, err
	}
	if err := s.renewable(window); err != nil {
		return time.Time{}, false, err
	}
	var begin time.Time
	for r, err := range s.ledger.Records(ctx, 1) {
		if err != nil {
			return time.Time{}, false, err
		}
		if r.Dataset != s.dataset.Name || r.Kind != ledger.KindRenewal && (r.Kind != ledger.KindCharge || !begin.IsZero()) {
			continue
		}
		if begin = r.Time; begin.After(now.AddDate(0, 0, 1)) {
			begin = time.Time{}
		}
	}
	if begin.IsZero() {
		return time.Time{}, false, nil
	}
	return s.dataset.Budget.Renewal.Next(begin), true, nil
}
