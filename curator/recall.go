package curator

import "context"

// recall returns, for each purchase, what was released for it, or nil where it was not paid for yet. What one charge paid
// for is kept together, and each part is found by its own name, whatever it was bought with.
func (c *Curator) recall(ctx context.Context, buys []*purchase, version string) ([]*released, Receipt, error) {
	all := make([]*released, len(buys))
	paid := Receipt{Free: true}
	for i, b := range buys {
		text, sequence, found, err := c.ledger.Recall(ctx, b.key(version))
		if err != nil {
			return nil, Receipt{}, err
		}
		if !found {
			continue
		}
		if all[i], err = b.decode(text); err != nil {
			return nil, Receipt{}, err
		}
		if paid.Sequence == 0 {
			paid.Sequence = sequence
		}
	}
	return all, paid, nil
}
