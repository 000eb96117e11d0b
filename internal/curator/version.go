package curator

import (
	"context"

	"github.com/discreet-dp/discreet/internal/interactive"
)

// Data asks the engine for the state of its data, and the ledger for what it is called there.
func (c *Curator) Data(ctx context.Context) (interactive.Data, error) {
	state, err := c.engine.Version(ctx)
	if err != nil {
		return interactive.Data{}, err
	}
	v, err := c.ledger.DataVersion(ctx, c.dataset.Name, state.Name, state.Key())
	return interactive.Data{Version: v, State: state.Key()}, err
}
