package curator

import (
	"context"
	"sync"

	"github.com/discreet-dp/discreet/ledger"
)

// began says that this process has noted that questions of sessions reach the engine.
type began struct {
	mu    sync.Mutex
	noted bool
}

// begin notes it, before the first of them does. Most questions of sessions charge nothing, so nothing else would tell that one of them killed the process, and it could be asked again for nothing.
func (c *Curator) begin(ctx context.Context) error {
	c.began.mu.Lock()
	defer c.began.mu.Unlock()
	if c.began.noted {
		return nil
	}
	era, err := c.ledger.Era(ctx)
	if err == nil {
		err = c.ledger.Note(context.WithoutCancel(ctx), ledger.Began(c.dataset.Name, era), []byte("began"))
	}
	c.began.noted = err == nil
	return err
}
