package admission

import (
	"context"
	"sync"
)

// turn is what one question has of the queues. It can be given back, more than once, and taken
// again.
type turn struct {
	queue, aside *queue
	who          string

	mu   sync.Mutex
	held bool
}

// Give implements [pace.Turns].
func (t *turn) Give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held {
		t.held = false
		t.queue.done(t.who)
	}
}

// Take implements [pace.Turns].
func (t *turn) Take(ctx context.Context) error {
	if err := t.queue.wait(ctx, t.who); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = true
	return nil
}

// Aside implements [pace.Turns].
func (t *turn) Aside(ctx context.Context) (leave func(), err error) {
	return place(ctx, t.aside, t.who)
}

// place waits for a place in a queue beside that of questions: for heavy work, and for queries over
// answers. Nobody who has a turn waits for one, so the two cannot wait for each other.
func place(ctx context.Context, q *queue, who string) (leave func(), err error) {
	if err := q.enter(who); err != nil {
		return nil, err
	}
	if err := q.wait(ctx, who); err != nil {
		q.exit(who)
		return nil, err
	}
	return func() {
		q.done(who)
		q.exit(who)
	}, nil
}
