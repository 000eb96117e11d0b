package curator

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/ledger"
)

// makeup says what the answer would be made of, for who puts answers of several servers together.
func (a *asking) makeup(ctx context.Context) (*api.Makeup, error) {
	out := answers.Makeup(a.Priced)
	switch {
	case out.Apart != "":
	case asked(a.question).Now() != "":
		out = &api.Makeup{Apart: "now() and CURRENT_DATE are other moments at other servers", Instead: "write the date out"}
	case len(a.diverted) > 0:
		out = &api.Makeup{Apart: "it goes through a stream, whose answers have no noise of their own", Instead: "SET dp.stream = off"}
	}
	var err error
	out.Source, err = a.c.sourceName(ctx)
	return out, err
}

// sourceName names the ledger and the dataset. A ledger's identity is random and a secret of the
// owner's, so its hash tells nothing but that it is the same one.
func (c *Curator) sourceName(ctx context.Context) (string, error) {
	for r, err := range c.ledger.Records(ctx, 0) {
		if err != nil {
			return "", err
		}
		return ledger.Hash("source\x00" + ledger.Hash(r.Identity) + "\x00" + c.dataset.Name), nil
	}
	return "", ledger.ErrClosed // no ledger is without its first record
}
