package desk

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Enter implements [ledger.Ledger].
func (d *Desk) Enter(ctx context.Context, e ledger.Entry) (ledger.Receipt, error) {
	return d.enterAt(ctx, nil, e)
}

// enterAt is Enter, and where a state is given it returns [ledger.ErrBehind] unless the ledger ends
// where that does.
func (d *Desk) enterAt(ctx context.Context, at *chain.State, e ledger.Entry) (ledger.Receipt, error) {
	if err := e.Validate(); err != nil {
		return ledger.Receipt{}, err
	}
	receipt, err := d.submit(ctx, &request{decide: func(g *Group) (ledger.Receipt, error) {
		if at != nil {
			if sequence, hash := at.Head(); sequence != g.Sequence || hash != g.Hash || len(g.Links) > 0 {
				return ledger.Receipt{}, ledger.ErrBehind
			}
		}
		link, err := g.State.Entry(e, g.Now())
		if err != nil {
			return ledger.Receipt{}, err
		}
		if err := g.Add(nil, link); err != nil {
			return ledger.Receipt{}, err
		}
		return chain.Receipt(link.Record, link.Hash, false), nil
	}})
	var unsecured *ledger.WriteError
	if errors.As(err, &unsecured) && unsecured.Charged {
		err = fmt.Errorf("what was entered is in the ledger %s, but %w", d.Path, unsecured.Err)
	}
	return receipt, err
}
