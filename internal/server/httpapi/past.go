package httpapi

import (
	"context"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/ledger"
)

// past is what an owner wants to know of all records of the ledger, each of which is read once.
type past struct {
	mu   sync.Mutex
	next uint64 // the first record that was not read
	book ledger.Casebook
	key  string // of the ledger's owner
}

// read takes in what was written since. The caller has the lock.
func (p *past) read(ctx context.Context, db *discreet.DB) error {
	for r, err := range db.Records(ctx, p.next) {
		if err != nil {
			return err
		}
		p.book.Add(r)
		if r.PublicKey != "" && (r.Kind == ledger.KindOwner || r.Kind == ledger.KindRecovery) {
			p.key = r.PublicKey
		}
		p.next = r.Sequence + 1
	}
	return nil
}

// owner returns the key whose signatures count, or nothing.
func (p *past) owner(ctx context.Context, db *discreet.DB) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.read(ctx, db)
	return p.key, err
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
