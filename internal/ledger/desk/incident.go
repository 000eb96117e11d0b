package desk

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/ledger"
)

// Fail implements [ledger.Ledger]. Behind a closed door nothing is written: an answer is not kept
// there, and a record that only failures leave would count them in the number of everybody's next
// receipt. A crash is recorded, because it broke every connection and is told by that.
func (d *Desk) Fail(ctx context.Context, i ledger.Incident) (tell bool, err error) {
	if err := i.Validate(); err != nil {
		return false, err
	}
	_, err = d.submit(ctx, &request{decide: func(g *Group) (ledger.Receipt, error) {
		tell = !g.State.Closed(i.Dataset, i.Analyst)
		if !tell && i.Failure != ledger.FailedCrash {
			return ledger.Receipt{}, nil
		}
		if answer, _ := g.State.AnswerOf(i.Charge); answer != 0 && g.State.Failed(i.Charge) {
			return ledger.Receipt{}, nil
		}
		if i.Failure == ledger.FailedCrash {
			if counts, err := g.store.Crash(i.Dataset); err != nil || !counts {
				return ledger.Receipt{}, err
			}
		}
		return ledger.Receipt{}, g.Add(nil, g.State.Incident(i, g.Now()))
	}})
	var failed *ledger.WriteError
	if errors.As(err, &failed) {
		failed.Charged = true // what it is about was charged before
	}
	return tell && err == nil, err
}
