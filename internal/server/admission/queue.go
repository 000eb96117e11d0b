package admission

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// queue gives turns to analysts, in rounds: in each, everybody who waits has one. Who asked for few
// has some left of rounds that are over, and comes before those who ask all the time. Turns are
// counted, and not how long they take, which can depend on data.
type queue struct {
	maxTurns     int // how many can have a turn at once
	maxTurnsEach int // how many of them one analyst can have: half, so that another need not wait for long questions to end
	maxInside    int // how many questions of one analyst can be with the dispatcher at once
	// isSuspect says of whom one has a turn at a time: those by one of whose questions a process
	// died. Where another dies, it is known by whose.
	isSuspect func(analyst string) bool

	mu       sync.Mutex
	turns    int              // how many have one
	suspects int              // how many of those have one apart
	lines    map[string]*line // of the analysts who have questions with the dispatcher, and of nobody else
	ring     []*line          // those of them in which somebody waits, the next one first
	round    int              // the latest in which somebody has had a turn
	next     map[string]int   // the round in which an analyst has the next one, of those who had any: as many as the policy names
	inside   int              // how many questions are with the dispatcher, in all lines
	ending   bool
	closing  chan struct{} // closed when the dispatcher is ending
	drained  chan struct{} // closed when it is ending and nobody is inside
}

// roundsKept is how many rounds are kept for who did not ask in them.
const roundsKept = 4

// line is the questions of one analyst.
type line struct {
	analyst  string
	waiting  []*waiter // the oldest first
	turns    int       // how many have one
	suspects int       // how many of those apart
	inside   int       // those that wait, those that have a turn, and those whose answer has not left
}

// waiter is a question that waits. Exactly one of the two is sent: nil, which is a turn, or why
// there is none.
type waiter struct{ turn chan error }

func newQueue(places, waiting int) *queue {
	return &queue{maxTurns: places, maxTurnsEach: (places + 1) / 2, maxInside: places + waiting, lines: map[string]*line{},
		next:      map[string]int{},
		isSuspect: func(string) bool { return false },
		closing:   make(chan struct{}), drained: make(chan struct{})}
}

// enter lets a question in, or says why not. Whoever was let in calls exit once.
func (q *queue) enter(analyst string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ending {
		return ErrEnding
	}
	l := q.lines[analyst]
	if l == nil {
		l = &line{analyst: analyst}
		q.lines[analyst] = l
	}
	if l.inside >= q.maxInside {
		return &LimitError{fmt.Sprintf("%d of your questions are running or waiting, which is the most allowed; nothing was charged; "+
			"wait for one of them", l.inside), time.Second}
	}
	l.inside++
	q.inside++
	return nil
}

// exit lets a question out, when what came of it leaves.
func (q *queue) exit(analyst string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[analyst]
	if l.inside--; l.inside == 0 {
		delete(q.lines, analyst)
	}
	if q.inside--; q.inside == 0 && q.ending {
		close(q.drained)
	}
}

// wait waits for a turn, or says why there is none. Whoever had one calls done once.
func (q *queue) wait(ctx context.Context, analyst string) error {
	w, err := q.enqueue(ctx, analyst)
	if w == nil {
		return err
	}
	return q.await(ctx, analyst, w)
}

func (q *queue) await(ctx context.Context, analyst string, w *waiter) error {
	select {
	case err := <-w.turn:
		return err
	case <-ctx.Done():
	}
	return q.leave(analyst, w)
}

// leave is for who waits no longer, whose turn, or the end, may come at the same moment.
func (q *queue) leave(analyst string, w *waiter) error {
	if q.withdraw(analyst, w) {
		return ErrWithdrawn
	}
	if err := <-w.turn; err != nil {
		return err
	}
	q.endTurn(analyst)
	return ErrWithdrawn
}

// enqueue takes a turn that is free, or a place in line.
func (q *queue) enqueue(ctx context.Context, analyst string) (*waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[analyst]
	switch {
	case q.ending:
		return nil, ErrEnding
	case ctx.Err() != nil:
		return nil, ErrWithdrawn
	case q.turns < q.maxTurns && q.mayStart(l): // then nobody waits who could have it
		q.startTurn(l)
		return nil, nil
	}
	w := &waiter{make(chan error, 1)}
	if l.waiting = append(l.waiting, w); len(l.waiting) == 1 {
		q.ring = append(q.ring, l)
	}
	return w, nil
}

// withdraw takes a question out of its line. It is false where it does not wait any more.
func (q *queue) withdraw(analyst string, w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[analyst]
	i := slices.Index(l.waiting, w)
	if i < 0 {
		return false
	}
	if l.waiting = slices.Delete(l.waiting, i, i+1); len(l.waiting) == 0 {
		q.ring = slices.DeleteFunc(q.ring, func(o *line) bool { return o == l })
	}
	return true
}

// endTurn gives the turn of an analyst back: to the oldest question of whose round is the first, of
// those who wait and may have one more. There is at most one turn to give, because one was given
// back.
func (q *queue) endTurn(analyst string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.lines[analyst]
	q.turns--
	own.turns--
	if own.suspects > 0 {
		own.suspects--
		q.suspects--
	}
	i := -1
	for j, l := range q.ring {
		if q.mayStart(l) && (i < 0 || q.nextRound(l) < q.nextRound(q.ring[i])) {
			i = j
		}
	}
	if i < 0 {
		return
	}
	l := q.ring[i]
	q.ring = slices.Delete(q.ring, i, i+1)
	w := l.waiting[0]
	if l.waiting = slices.Delete(l.waiting, 0, 1); len(l.waiting) > 0 {
		q.ring = append(q.ring, l) // behind everybody else
	}
	q.startTurn(l)
	w.turn <- nil
}

// mayStart reports whether an analyst may have one more turn, of those that are free.
func (q *queue) mayStart(l *line) bool {
	return l.turns < q.maxTurnsEach && (q.suspects == 0 || !q.isSuspect(l.analyst))
}

// nextRound is the one of which an analyst would have a turn now.
func (q *queue) nextRound(l *line) int {
	oldest := q.round - roundsKept
	if next, ok := q.next[l.analyst]; ok {
		return max(next, oldest)
	}
	return oldest
}

func (q *queue) startTurn(l *line) {
	round := q.nextRound(l)
	q.round, q.next[l.analyst] = max(q.round, round), round+1
	q.turns++
	l.turns++
	if q.isSuspect(l.analyst) {
		l.suspects++
		q.suspects++
	}
}

// close sends everybody away who waits. The channel is closed when nobody is inside any more.
func (q *queue) close() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ending {
		return q.drained
	}
	q.ending = true
	close(q.closing)
	for _, l := range q.ring {
		for _, w := range l.waiting {
			w.turn <- ErrEnding
		}
		l.waiting = nil
	}
	q.ring = nil
	if q.inside == 0 {
		close(q.drained)
	}
	return q.drained
}

// count says how many have or could have a turn, and how many cannot. It is made from who is
// inside, and not from who is with the engine: that would show how long questions take, to the
// microsecond, behind the back of a tick.
func (q *queue) count() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	running = min(q.inside, q.maxTurns)
	return running, q.inside - running
}

// turn is what one question has of the queues. It can be given back, more than once, and taken
// again.
type turn struct {
	queue, aside *queue
	slow         *slowAsides
	who          string

	mu   sync.Mutex
	held bool
}

func (t *turn) Give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held {
		t.held = false
		t.queue.endTurn(t.who)
	}
}

func (t *turn) Take(ctx context.Context) error {
	if err := t.queue.wait(ctx, t.who); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = true
	return nil
}

func (t *turn) Aside(ctx context.Context) (leave func(), err error) {
	done, err := takePlace(ctx, t.aside, t.who)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	return func() {
		t.slow.add(t.who, time.Since(begin))
		done()
	}, nil
}

// takePlace waits for a place in a queue beside that of questions: for trainings, and for queries
// over answers. Nobody who has a turn waits for one, so the two cannot wait for each other.
func takePlace(ctx context.Context, q *queue, who string) (leave func(), err error) {
	if err := q.enter(who); err != nil {
		return nil, err
	}
	if err := q.wait(ctx, who); err != nil {
		q.exit(who)
		return nil, err
	}
	return func() {
		q.endTurn(who)
		q.exit(who)
	}, nil
}

// maxAsideAtOnce is how many queries over answers run at once, one of each analyst. Of those who
// have had a long one lately one runs at a time: all of them together leave a place for everybody
// else.
const (
	maxAsideAtOnce = 2
	longAsideTime  = time.Second
	asideMemory    = time.Minute
)

// slowAsides is who has had a long query over an answer lately: by when they gave the place back,
// which is public.
type slowAsides struct {
	mu   sync.Mutex
	last map[string]time.Time // when it ended, by analyst, of whom there are as many as the policy names
}

func (s *slowAsides) add(who string, took time.Duration) {
	if took < longAsideTime {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[who] = time.Now()
}

func (s *slowAsides) has(who string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.last[who]
	return ok && time.Since(at) < asideMemory
}
