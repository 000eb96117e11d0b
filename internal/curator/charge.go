package curator

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// maxTries is how often a charge is tried when windows end under it. An owner renews once in a
// while, so twice is plenty.
const maxTries = 5

// cashier makes charges, and notes what is to be known of them before the engine runs.
type cashier struct {
	dataset  *policy.Dataset
	ledger   ledger.Ledger
	accounts *budgets.DatasetAccounts

	mu    sync.Mutex
	noted bool // that questions of sessions reach the engine, by this process
}

// Charge pays in the current window. Which window that is the ledger says, and no clock: the charge
// names the one that was found last, if any, and where it is another by now the ledger refuses, and
// that one is tried. The accounts are those of the analyst, and after them those that the charge
// names.
func (c *cashier) Charge(ctx context.Context, analyst string, charge ledger.Charge) (ledger.Receipt, error) {
	var err error
	beside := charge.Accounts
	if charge.Window == 0 {
		if charge.Window, err = c.ledger.Window(ctx, c.dataset.Name); err != nil {
			return ledger.Receipt{}, err
		}
	}
	for range maxTries {
		charge.Accounts = append(c.accounts.Charged(analyst, charge.Window), beside...)
		var receipt ledger.Receipt
		if receipt, err = c.chargeProtected(ctx, charge); err == nil {
			return receipt, nil
		}
		var other *ledger.WindowError
		if !errors.As(err, &other) {
			break
		}
		charge.Window = other.Want
	}
	return ledger.Receipt{}, c.accounts.Advise(ctx, analyst, err)
}

// chargeProtected makes a charge, and records with it whom it protects, where that is not in the
// ledger yet. A policy that protects others by now than charges before did pays for nothing.
func (c *cashier) chargeProtected(ctx context.Context, charge ledger.Charge) (ledger.Receipt, error) {
	firsts, before := charge.Firsts, ""
	for {
		own, err := c.accounts.Protected(ctx)
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
func (c *cashier) recordProtected(ctx context.Context) error {
	for range maxTries {
		own, err := c.accounts.Protected(ctx)
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

// maxReruns is how often a question that was paid for and stopped is computed again for its charge.
const maxReruns = 3

// Again admits one more computation for a charge without an answer, or refuses it. Who cancels a
// question and sends it again under its name pays once for any number of computations: enough to
// keep the engine busy, so that questions of others run out of time, and to look at the clock as
// often as they like. It is noted in the ledger, so that it counts whichever server computes, and
// so that a server which dies of it is known to have been at it.
func (c *cashier) Again(ctx context.Context, charge uint64) error {
	session := ledger.Reruns(charge)
	for {
		before, err := c.ledger.Notes(ctx, session)
		if err != nil {
			return err
		}
		if len(before) >= maxReruns {
			return syntax.Refuse(syntax.BadValue, -1, "ask it under another request identifier, which is charged, and let it finish",
				"this request was charged before, and has been stopped %d times since without an answer; it is not computed again "+
					"for that charge. Nothing was charged now", maxReruns)
		}
		if err := c.ledger.NoteIf(ctx, session, []byte("again"), ledger.After(len(before))); !errors.Is(err, ledger.ErrBehind) {
			return err
		}
	}
}

// NoteRun notes it, before the first of them does. Most questions of sessions charge nothing, so
// nothing else would tell that one of them killed the process, and it could be asked again for
// nothing.
func (c *cashier) NoteRun(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noted {
		return nil
	}
	era, err := c.ledger.Era(ctx)
	if err == nil {
		err = c.ledger.Note(context.WithoutCancel(ctx), ledger.Began(c.dataset.Name, era), []byte("began"))
	}
	c.noted = err == nil
	return err
}

// pacedLedger is a ledger that is written on ticks by questions that have looked at data.
type pacedLedger struct{ ledger.Ledger }

func (l pacedLedger) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	releaseclock.Settle(ctx)
	return l.Ledger.Charge(ctx, c)
}

func (l pacedLedger) Keep(ctx context.Context, sequence uint64, key string, answer []byte) error {
	releaseclock.Settle(ctx)
	return settleRefused(ctx, l.Ledger.Keep(ctx, sequence, key, answer))
}

func (l pacedLedger) Note(ctx context.Context, session string, entry []byte) error {
	releaseclock.Settle(ctx)
	return settleRefused(ctx, l.Ledger.Note(ctx, session, entry))
}

func (l pacedLedger) NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error {
	releaseclock.Settle(ctx)
	return settleRefused(ctx, l.Ledger.NoteIf(ctx, session, entry, p))
}

// Fail implements [ledger.Ledger]. Under a lockout what fails and what does not are told the
// same, and neither is written; how long it takes to find that out may differ, so neither leaves
// before another tick.
func (l pacedLedger) Fail(ctx context.Context, i ledger.Incident) (tell bool, err error) {
	releaseclock.Settle(ctx)
	defer releaseclock.BeginPrivateWork(ctx)
	return l.Ledger.Fail(ctx, i)
}

// settleRefused lets a question wait for another tick where nothing was written; see Fail.
func settleRefused(ctx context.Context, err error) error {
	if err != nil {
		releaseclock.BeginPrivateWork(ctx)
	}
	return err
}
