package holdout

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/session"
)

// Question is one score to be checked.
type Question struct {
	// Key names what is scored: the same key gets the same answer again, free. Whoever makes it
	// puts into it all that the score depends on, the training value included where analysts supply
	// it: a hash, for instance. It is kept in the journal.
	Key string
	// Holdout computes the sum of values over the holdout, in steps: a sealed vector of one.
	// Nobody's value is below 0 or above Steps; that is for the caller to see to, because here it
	// is private. It is called when the round is charged and its threshold in the journal, and not
	// at all for a question that was answered before or that is refused. Its error, which must not
	// depend on the data, is that of Ask: nothing was compared, and the round stays open.
	Holdout func(context.Context) (mech.Exact, error)
	// Training is the same on the training side, as a share of 1.
	Training *big.Rat
}

// longestKey bounds a key, in bytes, because all are kept.
const longestKey = 1024

// check refuses by what is public.
func (q Question) check() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrQuestion, fmt.Sprintf(format, args...))
	}
	switch {
	case q.Key == "" || len(q.Key) > longestKey:
		return refuse("a key has from 1 to %d bytes; name longer things by a hash", longestKey)
	case q.Holdout == nil:
		return refuse("it has no sum over the holdout")
	case q.Training == nil || q.Training.Sign() < 0 || q.Training.Cmp(big.NewRat(1, 1)) > 0:
		return refuse("the training value must be from 0 to 1; scale the score to that")
	}
	return nil
}

// Answer is a score that stays honest.
type Answer struct {
	Score *big.Rat
	// Spent says that the score comes from the holdout, with noise; else it is the training value,
	// which the holdout confirms.
	Spent bool
	// Again says that the same question was answered before.
	Again bool
	Left  int // answers from the holdout to come
	// Cost is what this question was charged: a round, where it is the first of one.
	Cost dp.Cost
	// Receipt is that of the round that the answer belongs to.
	Receipt session.Receipt
}
