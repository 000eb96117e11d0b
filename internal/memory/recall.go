package memory

import (
	"context"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
)

// Horizon says which answers a question may see.
type Horizon struct {
	AsOf time.Time
	// Spoken says that the question will only be told whether it was answered. One that is asked
	// gets an answer of its own that is there in any case: whoever asked it first was waited for,
	// so to see it tells nothing about when it came.
	Spoken bool
}

// Recall returns, for each purchase, what was released for it, or nil where it was not paid for
// yet. What one charge paid for is kept together, and each part is found by its own name, whatever
// it was bought with. What was not bought itself may be made of something that was.
func (m *Memory) Recall(ctx context.Context, p *pricing.Priced, version string, see Horizon) ([]*answers.Released, api.Receipt, error) {
	all := make([]*answers.Released, len(p.Purchases))
	paid := api.Receipt{Free: true}
	for i, b := range p.Purchases {
		if b.Query.ListsKeys() {
			continue // which was never paid for
		}
		r, err := m.recallOne(ctx, b, version, p.Beta(), see)
		if err != nil {
			return nil, api.Receipt{}, err
		}
		if all[i] = r; r != nil && paid.Sequence == 0 {
			paid.Sequence = r.Sequence
		}
	}
	err := m.CompleteReceipt(ctx, &paid)
	return all, paid, err
}

// CompleteReceipt puts the hash of the charge that paid for an answer into its receipt.
func (m *Memory) CompleteReceipt(ctx context.Context, paid *api.Receipt) error {
	if paid.Sequence == 0 {
		return nil
	}
	for r, err := range m.ledger.Records(ctx, paid.Sequence) {
		if err != nil {
			return err
		}
		paid.Hash = ledger.Hash(r.Encode())
		break
	}
	return nil
}

func (m *Memory) recallOne(ctx context.Context, b *pricing.Purchase, version string, beta float64, see Horizon) (*answers.Released, error) {
	text, sequence, found, err := m.ledger.Recall(ctx, b.Key(version))
	if err != nil {
		return nil, err
	}
	var r *answers.Released
	switch {
	case found && see.Spoken && m.arrivals.hides(sequence, see.AsOf):
		return nil, nil
	case found:
		r, err = decode(b, text)
	default:
		r, sequence, err = m.derive(ctx, b, version, beta, see.AsOf)
	}
	if err != nil || r == nil {
		return nil, err
	}
	r.Sequence = sequence
	return r, nil
}
