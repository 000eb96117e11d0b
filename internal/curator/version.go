package curator

import (
	"context"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/internal/pace"
)

// Data asks the engine for the state of its data, and the ledger for what it is called there. Every
// question comes by here, so that nothing is told under a policy that protects others than charges
// before did. One that has looked at data waits: whether it was done when the data changed must not
// decide what becomes of it.
func (c *Curator) Data(ctx context.Context) (interactive.Data, error) {
	pace.Settle(ctx)
	if _, err := c.Protected(ctx); err != nil {
		return interactive.Data{}, err
	}
	state, err := c.engine.Version(ctx)
	if err != nil {
		return interactive.Data{}, err
	}
	v, err := c.ledger.DataVersion(ctx, c.dataset.Name, state.Name, state.Key())
	return interactive.Data{Version: v, State: state.Key(), Whole: state.Whole}, err
}

// Moved reports whether something was read from other data than it was asked of, or may have been.
func (c *Curator) Moved(ctx context.Context, d interactive.Data, read engine.ReadFrom) bool {
	r := running{c: c, data: d}
	r.note(read)
	return r.moved(ctx)
}

// unmoved reports whether the data is known to be in the state that a question found it in. What
// ran in between ran on that. It waits as Data does.
func (c *Curator) unmoved(ctx context.Context, d interactive.Data) bool {
	if !d.Whole {
		return false
	}
	pace.Settle(ctx)
	state, err := c.engine.Version(context.WithoutCancel(ctx))
	return err == nil && state.Whole && state.Key() == d.State
}
