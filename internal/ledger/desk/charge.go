package desk

import (
	"context"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Charge implements [ledger.Ledger].
func (d *Desk) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	if err := c.Validate(); err != nil {
		return ledger.Receipt{}, err
	}
	return d.submit(ctx, &request{decide: func(g *Group) (ledger.Receipt, error) {
		sequence, again := g.State.Request(c.Request)
		// While an anchor cannot be stored nothing more is spent, and no receipt is given for what
		// was spent last.
		if g.unanchored != nil {
			return ledger.Receipt{}, &ledger.WriteError{Path: g.Path, Charged: again, Err: g.unanchored}
		}
		// What was charged before and never answered would be a new answer too.
		if again && g.State.Closed(c.Dataset, c.Analyst) {
			return ledger.Receipt{}, &ledger.DoorError{Dataset: c.Dataset}
		}
		if again {
			return g.again(sequence, c)
		}
		return g.charge(c)
	}})
}

// charge makes the records of a charge: the data's where that is another, itself, and its notes.
func (g *Group) charge(c ledger.Charge) (ledger.Receipt, error) {
	for _, key := range c.Missed {
		if _, kept := g.State.Key(key); kept {
			return ledger.Receipt{}, ledger.ErrBehind
		}
	}
	now := g.Now()
	links, err := g.State.Charge(c, now)
	for _, n := range c.Firsts {
		if err == nil {
			err = g.provided(n.Session, ledger.After(0))
		}
	}
	if err != nil {
		return ledger.Receipt{}, err
	}
	if err := g.Add(nil, links...); err != nil {
		return ledger.Receipt{}, err
	}
	last := links[len(links)-1]
	for _, n := range c.Firsts {
		note := salted(n.Entry(last.Record.Sequence))
		link, err := g.State.Note(n.Session, ledger.Hash(note), now)
		if err == nil {
			err = g.Add(note, link)
		}
		if err != nil { // which nothing above leaves room for
			g.err = err
			return ledger.Receipt{}, err
		}
	}
	return chain.Receipt(last.Record, last.Hash, false), nil
}

// lapsed is the error of a charge whose window has ended.
func lapsed(s *chain.State, charge *ledger.Record, charged bool) error {
	return &ledger.LapsedError{Request: charge.Request, Dataset: charge.Dataset, Window: charge.Window,
		Now: s.Window(charge.Dataset), Charged: charged}
}

// again returns the receipt of a request that was charged before.
func (g *Group) again(sequence uint64, c ledger.Charge) (ledger.Receipt, error) {
	record, hash, err := g.read(sequence)
	if err != nil {
		return ledger.Receipt{}, err
	}
	if differs := chain.Differs(record, c); differs != "" {
		return ledger.Receipt{}, &ledger.RequestError{Request: c.Request, Differs: differs}
	}
	// What has its answer has it for good. What has none gets none once its window is over.
	if kept, _ := g.State.AnswerOf(sequence); kept == 0 && g.State.Lapsed(record) {
		return ledger.Receipt{}, lapsed(g.State, record, false)
	}
	return chain.Receipt(record, hash, true), nil
}
