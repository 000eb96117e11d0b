package curator

import (
	"context"
	"time"

	"github.com/discreet-dp/discreet/api"
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
func (c *Curator) recall(ctx context.Context, p *priced, version string, sight sight) ([]*released, api.Receipt, error) {
	all := make([]*released, len(p.buys))
	paid := api.Receipt{Free: true}
	for i, b := range p.buys {
		r, err := c.recallOne(ctx, b, version, p.beta(), sight)
		if err != nil {
			return nil, api.Receipt{}, err
		}
		if all[i] = r; r != nil && paid.Sequence == 0 {
			paid.Sequence = r.sequence
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

func (c *Curator) recallOne(ctx context.Context, b *purchase, version string, beta float64, sight sight) (*released, error) {
	text, sequence, found, err := c.ledger.Recall(ctx, b.key(version))
	if err != nil {
		return nil, err
	}
	var r *released
	switch {
	case found && sight.spoken && c.fresh.hides(sequence, sight.asOf):
		return nil, nil
	case found:
		r, err = b.decode(text)
	default:
		r, sequence, err = c.derive(ctx, b, version, beta, sight.asOf)
	}
	if err != nil || r == nil {
		return nil, err
	}
	r.sequence = sequence
	return r, nil
}
