package httpapi

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/forecast"
	"github.com/discreet-dp/discreet/ledger"
)

// past is what an owner wants to know of all records of the ledger, each of which is read once.
type past struct {
	mu   sync.Mutex
	next uint64 // the first record that was not read
	book ledger.Casebook
	key  string // of the ledger's owner
	sums forecast.Tally
	// begins is when the current window of each dataset began: with its renewal, or with the first
	// charge.
	begins map[string]time.Time
	// decisions are the sequences of what owners decided, in their order.
	decisions []uint64
	// charges are the sequences of the charges of each analyst, in their order.
	charges map[string][]uint64
}

// read takes in what was written since. The caller has the lock.
func (p *past) read(ctx context.Context, db *discreet.DB) error {
	now := time.Now()
	for r, err := range db.Records(ctx, p.next) {
		if err != nil {
			return err
		}
		p.book.Add(r)
		if _, charged := p.begins[r.Dataset]; r.Kind == ledger.KindRenewal || r.Kind == ledger.KindCharge && !charged {
			if p.begins == nil {
				p.begins = map[string]time.Time{}
			}
			p.begins[strings.Clone(r.Dataset)] = r.Time
		}
		if r.Kind == ledger.KindCharge {
			p.charge(r)
			names := make([]string, len(r.Balances))
			for i, b := range r.Balances {
				names[i] = b.Account
			}
			p.sums.Add(r.Time, names, r.Cost, now)
		}
		if r.PublicKey != "" && (r.Kind == ledger.KindOwner || r.Kind == ledger.KindRecovery) {
			p.key = r.PublicKey
		}
		switch r.Kind {
		case ledger.KindOwner, ledger.KindTopUp, ledger.KindRenewal, ledger.KindRelease, ledger.KindRecovery:
			p.decisions = append(p.decisions, r.Sequence)
		}
		p.next = r.Sequence + 1
	}
	return nil
}

// charge notes whose a charge is.
func (p *past) charge(r *ledger.Record) {
	if p.charges == nil {
		p.charges = map[string][]uint64{}
	}
	analyst := r.Analyst
	if p.charges[analyst] == nil {
		analyst = strings.Clone(analyst)
	}
	p.charges[analyst] = append(p.charges[analyst], r.Sequence)
}

// charged returns where the charges of an analyst are, in their order. It is not to be changed.
func (p *past) charged(ctx context.Context, db *discreet.DB, analyst string) ([]uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.read(ctx, db)
	return slices.Clip(p.charges[analyst]), err
}

// owner returns the key whose signatures count, or nothing.
func (p *past) owner(ctx context.Context, db *discreet.DB) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.read(ctx, db)
	return p.key, err
}

// decisionAfter returns the first record after another one by which an owner decided something; 0
// where there is none.
func (p *past) decisionAfter(ctx context.Context, db *discreet.DB, after uint64) (uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.read(ctx, db)
	for _, n := range p.decisions {
		if n > after {
			return n, err
		}
	}
	return 0, err
}

// cases returns the incidents of a dataset, in their order.
func (p *past) cases(ctx context.Context, db *discreet.DB, dataset string) ([]ledger.Case, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(ctx, db); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(p.book.Incidents), func(c ledger.Case) bool { return c.Dataset != dataset }), nil
}

// spent returns what was charged, by account and hour. The accounts are copies.
func (p *past) spent(ctx context.Context, db *discreet.DB, which func(account string) bool) (map[string][]forecast.Spend, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(ctx, db); err != nil {
		return nil, err
	}
	out := map[string][]forecast.Spend{}
	for _, name := range p.sums.Accounts() {
		if which(name) {
			out[name] = slices.Clone(p.sums.Of(name))
		}
	}
	return out, nil
}

// began returns when the current window of a dataset began; false where nothing was charged yet.
func (p *past) began(ctx context.Context, db *discreet.DB, dataset string) (time.Time, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.read(ctx, db)
	at, spent := p.begins[dataset]
	return at, spent, err
}
