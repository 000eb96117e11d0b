package admission

import (
	"context"
	"sync"
	"time"
)

// turn is what one question has of the queues. It can be given back, more than once, and taken
// again.
type turn struct {
	queue, aside *queue
	slow         *slow
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
	done, err := place(ctx, t.aside, t.who)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	return func() {
		t.slow.note(t.who, time.Since(begin))
		done()
	}, nil
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

// asidePlaces is how many queries over answers run at once, one of each analyst. Of those who have
// had a long one lately one runs at a time: all of them together leave a place for everybody else.
const (
	asidePlaces = 2
	longAside   = time.Second
	asideLately = time.Minute
)

// slow is who has had a long query over an answer lately: by when they gave the place back, which
// is public.
type slow struct {
	mu   sync.Mutex
	last map[string]time.Time // when it ended, by analyst, of whom there are as many as the policy names
}

func (s *slow) note(who string, took time.Duration) {
	if took < longAside {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[who] = time.Now()
}

func (s *slow) is(who string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.last[who]
	return ok && time.Since(at) < asideLately
}
