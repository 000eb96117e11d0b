package curator

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/ledger"
)

// data is the state of the data that a question is asked of. The engine's name for it stays in here: it may be a hash
// of the contents.
type data struct {
	ledger.Version
	state string
}

// data asks the engine for the state of its data, and the ledger for what it is called there.
func (c *Curator) data(ctx context.Context) (data, error) {
	state, err := c.engine.Version(ctx)
	if err != nil {
		return data{}, err
	}
	v, err := c.ledger.DataVersion(ctx, c.dataset.Name, state.Name, state.Key())
	return data{v, state.Key()}, err
}

// nameData says in an answer which data it is about, and in the first one after a change that there was one. That the owner
// changed the data is no secret.
func (c *Curator) nameData(ctx context.Context, a *api.Answer, d data) error {
	now, err := c.ledger.DataVersion(ctx, c.dataset.Name, d.Label, d.state)
	if err != nil {
		return err
	}
	a.Version = api.DataVersion{Number: now.Number, Name: now.Label}
	// The record of a new version stands right before the charge that it was written with.
	if now.Since > d.Since && d.Since > 0 && now.Since+1 == a.Receipt.Sequence {
		a.Notes = append(a.Notes, fmt.Sprintf("the data has changed: answers with receipts before %d are about other data", a.Receipt.Sequence))
	}
	return nil
}
