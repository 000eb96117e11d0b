package budgets

import (
	"context"
	"crypto"
	"errors"
	"math/big"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/ledger"
)

// Renew ends the current window and begins the next one, where the policy has one more.
func (s *DatasetAccounts) Renew(ctx context.Context, reason string) (api.Renewed, error) {
	return s.RenewSigned(ctx, reason, nil)
}

// RenewSigned does the same where the owner signs for it. With a [ledger.Deferred] that has nothing
// yet, it returns what would be, together with the [*ledger.DraftError].
func (s *DatasetAccounts) RenewSigned(ctx context.Context, reason string, signer crypto.Signer) (api.Renewed, error) {
	window, err := s.ledger.Window(ctx, s.dataset.Name)
	if err != nil {
		return api.Renewed{}, err
	}
	if err := s.refuseRenewal(window); err != nil {
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

func (s *DatasetAccounts) refuseRenewal(window uint64) error {
	b := s.dataset.Budget
	if !b.Renews() {
		return api.Refuse("write renewal: {every: month, windows: 12} into the budget first, which promises less: read what 'discreet "+
			"budget' says then, or top up once with 'discreet ledger topup'",
			"the budget of %s is not renewed: the policy gives it once, for good", s.dataset.Name)
	}
	if window >= uint64(b.Renewal.Windows) {
		return api.Refuse("a larger number of windows in the policy allows more, and weakens the promise over all of them",
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
func (s *DatasetAccounts) Due(ctx context.Context, now time.Time) (time.Time, bool, error) {
	window, err := s.ledger.Window(ctx, s.dataset.Name)
	if err != nil {
		return time.Time{}, false, err
	}
	if err := s.refuseRenewal(window); err != nil {
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

// The most that a dataset can be raised to, which is the most that a policy can say.
var (
	mostEpsilon = 100 * dp.One
	mostDelta   = big.NewRat(1, 100)
)

// TopUp raises limits. That of a dataset raises what holds against everybody, and leaves quotas as
// they are; where the dataset is renewed it is for the current window, and so are those of groups
// and analysts: it ends with the window. With a [ledger.Deferred] that has nothing yet, it returns
// what would be, together with the [*ledger.DraftError].
func (s *DatasetAccounts) TopUp(ctx context.Context, t api.TopUp) (*api.Raised, error) {
	window, err := s.ledger.Window(ctx, s.dataset.Name)
	if err != nil {
		return nil, err
	}
	raised, err := s.chart.toRaise(t.Account, window)
	if err != nil {
		return nil, err
	}
	before, err := s.readAll(ctx, raised)
	if err != nil {
		return nil, err
	}
	out := &api.Raised{Before: accounts(before)}
	// Of a dataset and its window, the window's promise is the one that grows by as much as was
	// said: the other has more already, so that the same rho is worth less to it.
	last := before[len(before)-1]
	if out.Amount, err = s.grant(last, t); err != nil {
		return nil, err
	}
	after, err := s.afterTopUp(raised, before, out.Amount)
	if err != nil {
		return nil, err
	}
	if t.Account == "" {
		if err := refuseUnbearable(after); err != nil {
			return nil, err
		}
	}
	if out.PromiseBefore, err = s.Promise(ctx); err != nil {
		return nil, err
	}
	out.After, out.Promise = accounts(after), out.PromiseBefore
	if t.Account == "" {
		if out.Promise, err = s.sentences(ctx, window, after); err != nil {
			return nil, err
		}
	}
	entry := ledger.TopUp{Amount: out.Amount, Reason: t.Reason, Signer: t.Signer}
	for _, p := range raised {
		entry.Accounts = append(entry.Accounts, p.Name)
	}
	receipt, err := s.ledger.Enter(ctx, entry)
	if errors.As(err, new(*ledger.DraftError)) {
		return out, err
	}
	if err != nil {
		return nil, err
	}
	out.Sequence = receipt.Sequence
	return out, nil
}

// afterTopUp are accounts as they will be when so much was added to their limits.
func (s *DatasetAccounts) afterTopUp(raised []kindAccount, before []reading, amount dp.Cost) ([]reading, error) {
	out := make([]reading, len(before))
	for i, a := range before {
		var err error
		if out[i], err = s.read(raised[i], ledger.Balance{Account: a.Name, Limit: a.Limit.Add(amount), Granted: a.Granted.Add(amount),
			Spent: a.Spent, First: a.first}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// refuseUnbearable refuses to raise a dataset above the most.
func refuseUnbearable(after []reading) error {
	for _, a := range after {
		if a.alone.Epsilon > mostEpsilon || a.alone.Delta.Rat().Cmp(mostDelta) > 0 {
			return api.Refuse("", "this would raise %s to epsilon %s at delta %s; the most is epsilon 100 at delta 0.01, which already "+
				"protects hardly anybody", strconv.Quote(a.Name), a.alone.Epsilon.Short(), a.alone.Delta.Short())
		}
	}
	return nil
}

// grant returns what makes the promise of an account grow by an epsilon, rounded down. Under an
// (epsilon, delta) budget it is the difference between what is there and the rho of the larger
// epsilon, and not the rho of the difference, which would be far less.
func (s *DatasetAccounts) grant(a reading, t api.TopUp) (dp.Cost, error) {
	b := s.dataset.Budget
	switch {
	case t.Epsilon == 0 && t.Delta == 0:
		return dp.Cost{}, api.Refuse("name an epsilon such as 0.5", "this top-up adds nothing")
	case t.Delta > 0 && b.Pure():
		return dp.Cost{}, api.Refuse("name an epsilon only", "the budget of %s is pure and has no delta", s.dataset.Name)
	case t.Delta > 0 && b.KeysDelta == 0:
		return dp.Cost{}, api.Refuse("name an epsilon only, or write keys_delta into the policy",
			"the budget of %s sets no delta aside for private keys, so there is nothing that delta could add to", s.dataset.Name)
	case b.Pure():
		return dp.Cost{Epsilon: t.Epsilon}, nil
	case t.Epsilon == 0:
		return dp.Cost{Delta: t.Delta}, nil
	}
	rho, err := account.Rho(a.alone.Epsilon.Add(t.Epsilon), b.RhoDelta())
	if err != nil {
		return dp.Cost{}, err
	}
	if rho = rho.Sub(a.Limit.Rho); rho == 0 {
		return dp.Cost{}, api.Refuse("name a larger epsilon", "epsilon %v more is too little to spend any of it", t.Epsilon)
	}
	raise := dp.Cost{Rho: rho, Delta: t.Delta}
	if a.Limit.Epsilon != dp.Unbounded {
		raise.Epsilon = t.Epsilon
	}
	return raise, nil
}
