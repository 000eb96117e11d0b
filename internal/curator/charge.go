package curator

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/books"
	"github.com/discreet-dp/discreet/ledger"
)

// maxTurns is how often a charge is tried when windows end under it. An owner renews once in a
// while, so twice is plenty.
const maxTurns = 5

// Charge pays in the current window. Which window that is the ledger says, and no clock. Where it
// ends between the two calls the ledger refuses, and the next one is tried. The accounts are those
// of the analyst, and after them those that the charge names.
func (c *Curator) Charge(ctx context.Context, analyst string, charge ledger.Charge) (ledger.Receipt, error) {
	err := paid(ctx)
	if err != nil {
		return ledger.Receipt{}, err
	}
	beside := charge.Accounts
	for range maxTurns {
		if charge.Window, err = c.ledger.Window(ctx, c.dataset.Name); err != nil {
			return ledger.Receipt{}, err
		}
		charge.Accounts = append(c.Charged(analyst, charge.Window), beside...)
		var receipt ledger.Receipt
		if receipt, err = c.chargeProtected(ctx, charge); err == nil {
			return receipt, nil
		}
		if !errors.As(err, new(*ledger.WindowError)) {
			break
		}
	}
	return ledger.Receipt{}, c.Advise(ctx, analyst, err)
}

// chargeProtected makes a charge, and records with it whom it protects, where that is not in the
// ledger yet. A policy that protects others by now than charges before did pays for nothing.
func (c *Curator) chargeProtected(ctx context.Context, charge ledger.Charge) (ledger.Receipt, error) {
	firsts, before := charge.Firsts, ""
	for {
		own, err := c.Protected(ctx)
		if err != nil {
			return ledger.Receipt{}, err
		}
		charge.Firsts = slices.Concat(firsts, own)
		receipt, err := c.ledger.Charge(ctx, charge)
		// Another server may have recorded something at the same time; then ours is another one.
		if len(own) == 0 || own[0].Session == before || !errors.Is(err, ledger.ErrBehind) {
			return receipt, err
		}
		before = own[0].Session
	}
}

// recordProtected records whom the policy protects, before something is told exactly that no charge
// pays for: how many people there are, and the rows of public tables. Under another policy neither
// may have been public.
func (c *Curator) recordProtected(ctx context.Context) error {
	for range maxTurns {
		own, err := c.Protected(ctx)
		if err != nil || len(own) == 0 {
			return err
		}
		err = c.ledger.NoteIf(context.WithoutCancel(ctx), own[0].Session, own[0].Entry(0), ledger.After(0))
		if err != nil && !errors.Is(err, ledger.ErrBehind) {
			return err
		}
	}
	return ledger.ErrBehind
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
