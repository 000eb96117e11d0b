package curator

import (
	"context"
	"sync"

	"github.com/discreet-dp/discreet/ledger"
)

// ran says that this process has noted that questions of sessions reach the engine.
type ran struct {
	mu   sync.Mutex
	done bool
}

// NoteRun notes it, before the first of them does. Most questions of sessions charge nothing, so
// nothing else would tell that one of them killed the process, and it could be asked again for
// nothing.
func (c *Curator) NoteRun(ctx context.Context) error {
	c.ran.mu.Lock()
	defer c.ran.mu.Unlock()
	if c.ran.done {
		return nil
	}
	era, err := c.ledger.Era(ctx)
	if err == nil {
		err = c.ledger.Note(context.WithoutCancel(ctx), ledger.Began(c.dataset.Name, era), []byte("began"))
	}
	c.ran.done = err == nil
	return err
}
