package curator

import (
	"context"
	"errors"
	"strconv"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/books"
	"github.com/discreet-dp/discreet/ledger"
)

// maxTurns is how often a charge is tried when windows end under it. An owner renews once in a
// while, so twice is plenty.
const maxTurns = 5

// Charge pays in the current window. Which window that is the ledger says, and no clock. Where it
// ends between the two calls the ledger refuses, and the next one is tried.
func (c *Curator) Charge(ctx context.Context, analyst string, charge ledger.Charge) (ledger.Receipt, error) {
	err := paid(ctx)
	if err != nil {
		return ledger.Receipt{}, err
	}
	for range maxTurns {
		if charge.Window, err = c.ledger.Window(ctx, c.dataset.Name); err != nil {
			return ledger.Receipt{}, err
		}
		charge.Accounts = c.Charged(analyst, charge.Window)
		var receipt ledger.Receipt
		if receipt, err = c.ledger.Charge(ctx, charge); err == nil {
			return receipt, nil
		}
		if !errors.As(err, new(*ledger.WindowError)) {
			break
		}
	}
	return ledger.Receipt{}, c.Advise(ctx, analyst, err)
}

// expired refuses an analyst whose access has ended, for everything: new questions, prices, and
// answers that are free.
//
// This is the only place that looks at a clock, and it decides who may ask, never what may be
// spent: what it lets through is charged like everything else. A clock that is wrong, or is set
// back, lets somebody ask who should not any more, or the other way round; it adds nothing to any
// budget and takes nothing away.
func (c *Curator) expired(analyst string) error {
	a := c.dataset.Analysts[analyst]
	if a.Expires.IsZero() || c.now().Before(a.Expires) {
		return nil
	}
	return api.Refuse("ask the owner of the data for more time", "the access of %s to the dataset %s ended on %s", strconv.Quote(analyst),
		c.dataset.Name, books.LastDay(a))
}
