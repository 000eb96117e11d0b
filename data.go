package discreet

import (
	"context"
	"sync"

	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

// data is an engine that is opened when a question first needs it. A question that is
// refused for its text is refused before, whatever state the data is in.
type data struct {
	policy *policy.Dataset

	mu     sync.Mutex
	engine *duckdb.Engine
	ended  bool
}

func (d *data) open(ctx context.Context) (*duckdb.Engine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return nil, errClosed
	}
	if d.engine == nil {
		e, err := duckdb.Open(ctx, d.policy)
		if err != nil {
			return nil, err
		}
		d.engine = e
	}
	return d.engine, nil
}

// Version implements [curator.Engine].
func (d *data) Version(ctx context.Context) (string, error) {
	e, err := d.open(ctx)
	if err != nil {
		return "", err
	}
	return e.Version(ctx)
}

// Run implements [curator.Engine]. It comes after Version, so the data is open.
func (d *data) Run(ctx context.Context, q *plan.Query) ([]mech.Exact, error) {
	e, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	return e.Run(ctx, q)
}

func (d *data) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.engine == nil {
		return nil
	}
	return d.engine.Close()
}
