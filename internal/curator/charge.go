package curator

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/books"
	"github.com/discreet-dp/discreet/internal/pace"
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

// maxReruns is how often a question that was paid for and stopped is computed again for its charge.
const maxReruns = 3

// Again admits one more computation for a charge without an answer, or refuses it. Who cancels a
// question and sends it again under its name pays once for any number of computations: enough to
// keep the engine busy, so that questions of others run out of time, and to look at the clock as
// often as they like. It is noted in the ledger, so that it counts whichever server computes, and
// so that a server which dies of it is known to have been at it.
func (c *Curator) Again(ctx context.Context, charge uint64) error {
	session := ledger.Reruns(charge)
	for {
		before, err := c.ledger.Notes(ctx, session)
		if err != nil {
			return err
		}
		if len(before) >= maxReruns {
			return api.Refuse("ask it under another request identifier, which is charged, and let it finish",
				"this request was charged before, and was stopped %d times since without an answer; it is not computed again for that "+
					"charge. Nothing was charged now", maxReruns)
		}
		if err := c.ledger.NoteIf(ctx, session, []byte("again"), ledger.After(len(before))); !errors.Is(err, ledger.ErrBehind) {
			return err
		}
	}
}

// ran says that this process has noted that questions of sessions reach the engine.
type ran struct {
	mu   sync.Mutex
	done bool
}

// NoteRun notes it, before the first of them does. Most questions of sessions charge nothing, so
// nothing else would tell that one of them killed the process, and it could be asked again for
// nothing.
func (c *Curator) NoteRun(ctx context.Context) error {
	c.ran.mu.Lock()
	defer c.ran.mu.Unlock()
	if c.ran.done {
		return nil
	}
	era, err := c.ledger.Era(ctx)
	if err == nil {
		err = c.ledger.Note(context.WithoutCancel(ctx), ledger.Began(c.dataset.Name, era), []byte("began"))
	}
	c.ran.done = err == nil
	return err
}

// paced is a ledger that is written on ticks by questions that have looked at data.
type paced struct{ ledger.Ledger }

func (l paced) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	pace.Settle(ctx)
	return l.Ledger.Charge(ctx, c)
}

func (l paced) Keep(ctx context.Context, sequence uint64, key string, answer []byte) error {
	pace.Settle(ctx)
	return refused(ctx, l.Ledger.Keep(ctx, sequence, key, answer))
}

func (l paced) Note(ctx context.Context, session string, entry []byte) error {
	pace.Settle(ctx)
	return refused(ctx, l.Ledger.Note(ctx, session, entry))
}

func (l paced) NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error {
	pace.Settle(ctx)
	return refused(ctx, l.Ledger.NoteIf(ctx, session, entry, p))
}

// Fail implements [ledger.Ledger]. Behind a closed door what fails and what does not are told the
// same, and neither is written; how long it takes to find that out may differ, so neither leaves
// before another tick.
func (l paced) Fail(ctx context.Context, i ledger.Incident) (tell bool, err error) {
	pace.Settle(ctx)
	defer pace.Looks(ctx)
	return l.Ledger.Fail(ctx, i)
}

// refused lets a question wait for another tick where nothing was written; see Fail.
func refused(ctx context.Context, err error) error {
	if err != nil {
		pace.Looks(ctx)
	}
	return err
}
