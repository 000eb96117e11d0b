package curator

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/ledger"
)

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
