package curator

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/api"
)

// AskFree answers a question where that is free, and else says what it would cost: an
// [*api.PriceError].
//
// Whether it is free is what [Curator.Explain] says, in the same steps, without waiting for anybody
// else's question: who asks this way learns nothing that the price does not tell. What is free is
// then asked like any other question, with nobody to pay for it: a charge is refused whoever wants
// to make it, also where data or window have changed in between.
func (c *Curator) AskFree(ctx context.Context, q api.Question) (*api.Answer, error) {
	for try := 1; ; try++ {
		e, err := c.Explain(ctx, q)
		if err != nil {
			return nil, err
		}
		if !e.Known {
			return nil, &api.PriceError{Explanation: e}
		}
		a, err := c.Ask(context.WithValue(ctx, unpaidKey{}, true), q)
		if try == maxTurns || !errors.Is(err, errUnpaid) {
			return a, err
		}
	}
}

type unpaidKey struct{}

// errUnpaid is what a charge gets that nobody pays for.
var errUnpaid = errors.New("this was to be free, and is not any more; nothing was charged; ask again")

// paid refuses every charge of a question that was to be free.
func paid(ctx context.Context) error {
	if ctx.Value(unpaidKey{}) != nil {
		return errUnpaid
	}
	return nil
}
