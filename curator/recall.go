package curator

import (
	"context"

	"github.com/discreet-dp/discreet/ledger"
)

// recall returns, for each purchase, what was released for it, or nil where it was not paid for yet. What one charge paid
// for is kept together, and each part is found by its own name, whatever it was bought with. What was not bought itself may
// be made of something that was.
func (c *Curator) recall(ctx context.Context, p *priced, version string) ([]*released, Receipt, error) {
	all := make([]*released, len(p.buys))
	paid := Receipt{Free: true}
	for i, b := range p.buys {
		r, err := c.recallOne(ctx, b, version, p.beta())
		if err != nil {
			return nil, Receipt{}, err
		}
		if all[i] = r; r != nil && paid.Sequence == 0 {
			paid.Sequence = r.sequence
		}
	}
	err := c.find(ctx, &paid)
	return all, paid, err
}

// find puts the hash of the charge that paid for an answer into its receipt.
func (c *Curator) find(ctx context.Context, paid *Receipt) error {
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

func (c *Curator) recallOne(ctx context.Context, b *purchase, version string, beta float64) (*released, error) {
	text, sequence, found, err := c.ledger.Recall(ctx, b.key(version))
	if err != nil {
		return nil, err
	}
	var r *released
	if found {
		r, err = b.decode(text)
	} else {
		r, sequence, err = c.derive(ctx, b, version, beta)
	}
	if err != nil || r == nil {
		return nil, err
	}
	r.sequence = sequence
	return r, nil
}
