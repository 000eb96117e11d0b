package curator

import (
	"context"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
)

// sight says which answers a question may see.
type sight struct {
	asOf time.Time
	// spoken says that the question will only be told whether it was answered. One that is asked gets an answer of its own that is there in any
	// case: whoever asked it first was waited for, so to see it tells nothing about when it came.
	spoken bool
}

// recall returns, for each purchase, what was released for it, or nil where it was not paid for yet. What one charge paid
// for is kept together, and each part is found by its own name, whatever it was bought with. What was not bought itself may
// be made of something that was.
func (c *Curator) recall(ctx context.Context, p *pricing.Priced, version string, sight sight) ([]*answers.Released, api.Receipt, error) {
	all := make([]*answers.Released, len(p.Purchases))
	paid := api.Receipt{Free: true}
	for i, b := range p.Purchases {
		r, err := c.recallOne(ctx, b, version, p.Beta(), sight)
		if err != nil {
			return nil, api.Receipt{}, err
		}
		if all[i] = r; r != nil && paid.Sequence == 0 {
			paid.Sequence = r.Sequence
		}
	}
	err := c.find(ctx, &paid)
	return all, paid, err
}

// find puts the hash of the charge that paid for an answer into its receipt.
func (c *Curator) find(ctx context.Context, paid *api.Receipt) error {
	if paid.Sequence == 0 {
		return nil
	}
	for r, err := range c.ledger.Records(ctx, paid.Sequence) {
		if err != nil {
			return err
		}
		paid.Hash = ledger.Hash(r.Encode())
		break
	}
	return nil
}

func (c *Curator) recallOne(ctx context.Context, b *pricing.Purchase, version string, beta float64, sight sight) (*answers.Released, error) {
	text, sequence, found, err := c.ledger.Recall(ctx, b.Key(version))
	if err != nil {
		return nil, err
	}
	var r *answers.Released
	switch {
	case found && sight.spoken && c.fresh.hides(sequence, sight.asOf):
		return nil, nil
	case found:
		r, err = decode(b, text)
	default:
		r, sequence, err = c.derive(ctx, b, version, beta, sight.asOf)
	}
	if err != nil || r == nil {
		return nil, err
	}
	r.Sequence = sequence
	return r, nil
}
