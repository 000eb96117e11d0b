package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Enter implements [ledger.Ledger].
func (l *Ledger) Enter(ctx context.Context, e ledger.Entry) (ledger.Receipt, error) {
	if err := e.Validate(); err != nil {
		return ledger.Receipt{}, err
	}
	receipt, err := l.submit(ctx, &request{decide: func(g *group) (ledger.Receipt, error) {
		link, err := g.state.Entry(e, g.now())
		if err != nil {
			return ledger.Receipt{}, err
		}
		if err := g.add(nil, link); err != nil {
			return ledger.Receipt{}, err
		}
		return chain.Receipt(link.Record, link.Hash, false), nil
	}})
	var unsecured *ledger.WriteError
	if errors.As(err, &unsecured) && unsecured.Charged {
		err = fmt.Errorf("what was entered is in the ledger %s, but %w", l.path, unsecured.Err)
	}
	return receipt, err
}
