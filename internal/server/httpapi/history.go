package httpapi

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/ledger"
)

// history is what an owner wants to know of all records of the ledger, each of which is read once.
type history struct {
	mu       sync.Mutex
	next     uint64 // the first record that was not read
	casebook ledger.Casebook
	key      string // of the ledger's owner
	sums     budgets.Tally
	// begins is when the current window of each dataset began: with its renewal, or with the first
	// charge.
	begins map[string]time.Time
	// decisions are the sequences of what owners decided, in their order.
	decisions []uint64
	// charges are the sequences of the charges of each analyst, in their order.
	charges map[string][]uint64
}

// update takes in what was written since. The caller has the lock.
func (h *history) update(ctx context.Context, db *discreet.DB) error {
	now := time.Now()
	for r, err := range db.Records(ctx, h.next) {
		if err != nil {
			return err
		}
		h.casebook.Add(r)
		if _, charged := h.begins[r.Dataset]; r.Kind == ledger.KindRenewal || r.Kind == ledger.KindCharge && !charged {
			if h.begins == nil {
				h.begins = map[string]time.Time{}
			}
			h.begins[strings.Clone(r.Dataset)] = r.Time
		}
		if r.Kind == ledger.KindCharge {
			h.addCharge(r)
			names := make([]string, len(r.Balances))
			for i, b := range r.Balances {
				names[i] = b.Account
			}
			h.sums.Add(r.Time, names, r.Cost, now)
		}
		if r.PublicKey != "" && (r.Kind == ledger.KindOwner || r.Kind == ledger.KindRecovery) {
			h.key = r.PublicKey
		}
		switch r.Kind {
		case ledger.KindOwner, ledger.KindTopUp, ledger.KindRenewal, ledger.KindRelease, ledger.KindRecovery:
			h.decisions = append(h.decisions, r.Sequence)
		}
		h.next = r.Sequence + 1
	}
	return nil
}

func (h *history) addCharge(r *ledger.Record) {
	if h.charges == nil {
		h.charges = map[string][]uint64{}
	}
	analyst := r.Analyst
	if h.charges[analyst] == nil {
		analyst = strings.Clone(analyst)
	}
	h.charges[analyst] = append(h.charges[analyst], r.Sequence)
}

// chargesOf returns where the charges of an analyst are, in their order. It is not to be changed.
func (h *history) chargesOf(ctx context.Context, db *discreet.DB, analyst string) ([]uint64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.update(ctx, db)
	return slices.Clip(h.charges[analyst]), err
}

// ownerKey returns the key whose signatures count, or nothing.
func (h *history) ownerKey(ctx context.Context, db *discreet.DB) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.update(ctx, db)
	return h.key, err
}

// decisionAfter returns the first record after another one by which an owner decided something; 0
// where there is none.
func (h *history) decisionAfter(ctx context.Context, db *discreet.DB, after uint64) (uint64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.update(ctx, db)
	for _, n := range h.decisions {
		if n > after {
			return n, err
		}
	}
	return 0, err
}

// incidents returns the incidents of a dataset, in their order.
func (h *history) incidents(ctx context.Context, db *discreet.DB, dataset string) ([]ledger.Case, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.update(ctx, db); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(h.casebook.Incidents), func(c ledger.Case) bool { return c.Dataset != dataset }), nil
}

// spentByHour returns what was charged, by account and hour. The accounts are copies.
func (h *history) spentByHour(ctx context.Context, db *discreet.DB, which func(account string) bool) (map[string][]budgets.Spend, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.update(ctx, db); err != nil {
		return nil, err
	}
	out := map[string][]budgets.Spend{}
	for _, name := range h.sums.Accounts() {
		if which(name) {
			out[name] = slices.Clone(h.sums.Of(name))
		}
	}
	return out, nil
}

// windowStart returns when the current window of a dataset began; false where nothing was charged
// yet.
func (h *history) windowStart(ctx context.Context, db *discreet.DB, dataset string) (time.Time, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.update(ctx, db)
	at, spent := h.begins[dataset]
	return at, spent, err
}
