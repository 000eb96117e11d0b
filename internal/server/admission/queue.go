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
	places int // how many can have a turn at once
	each   int // how many of them one analyst can have: half, so that another need not wait for long questions to end
	room   int // how many questions of one analyst can be with the dispatcher at once
	// apart says of whom one has a turn at a time: those by one of whose questions a process died.
	// Where another dies, it is known by whose.
	apart func(analyst string) bool

	mu      sync.Mutex
	turns   int              // how many have one
	single  int              // how many of those have one apart
	lines   map[string]*line // of the analysts who have questions with the dispatcher, and of nobody else
	ring    []*line          // those of them in which somebody waits, the next one first
	round   int              // the latest in which somebody has had a turn
	next    map[string]int   // the round in which an analyst has the next one, of those who had any: as many as the policy names
	inside  int              // how many questions are with the dispatcher, in all lines
	ending  bool
	gone    chan struct{} // closed when the dispatcher is ending
	nothing chan struct{} // closed when it is ending and nobody is inside
}

// oldRounds is how many rounds are kept for who did not ask in them.
const oldRounds = 4

// line is the questions of one analyst.
type line struct {
	analyst string
	waiting []*waiter // the oldest first
	turns   int       // how many have one
	single  int       // how many of those apart
	inside  int       // those that wait, those that have a turn, and those whose answer has not left
}

// waiter is a question that waits. Exactly one of the two is sent: nil, which is a turn, or why
// there is none.
type waiter struct{ turn chan error }

func newQueue(places, waiting int) *queue {
	return &queue{places: places, each: (places + 1) / 2, room: places + waiting, lines: map[string]*line{},
		next:  map[string]int{},
		apart: func(string) bool { return false },
		gone:  make(chan struct{}), nothing: make(chan struct{})}
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
	if l.inside >= q.room {
		return &LimitError{fmt.Sprintf("%d of your questions are being answered or wait, which is as many as may; nothing was charged; "+
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
		close(q.nothing)
	}
}

// wait waits for a turn, or says why there is none. Whoever had one calls done once.
func (q *queue) wait(ctx context.Context, analyst string) error {
	w, err := q.stand(ctx, analyst)
	if w == nil {
		return err
	}
	return q.await(ctx, analyst, w)
}

// await waits in line.
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
	q.done(analyst)
	return ErrWithdrawn
}

// stand takes a turn that is free, or a place in line.
func (q *queue) stand(ctx context.Context, analyst string) (*waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[analyst]
	switch {
	case q.ending:
		return nil, ErrEnding
	case ctx.Err() != nil:
		return nil, ErrWithdrawn
	case q.turns < q.places && q.admits(l): // then nobody waits who could have it
		q.begin(l)
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

// done gives the turn of an analyst back: to the oldest question of whose round is the first, of
// those who wait and may have one more. There is at most one turn to give, because one was given
// back.
func (q *queue) done(analyst string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.lines[analyst]
	q.turns--
	own.turns--
	if own.single > 0 {
		own.single--
		q.single--
	}
	i := -1
	for j, l := range q.ring {
		if q.admits(l) && (i < 0 || q.nextRound(l) < q.nextRound(q.ring[i])) {
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
	q.begin(l)
	w.turn <- nil
}

// admits reports whether an analyst may have one more turn, of those that are free.
func (q *queue) admits(l *line) bool {
	return l.turns < q.each && (q.single == 0 || !q.apart(l.analyst))
}

// nextRound is the one of which an analyst would have a turn now.
func (q *queue) nextRound(l *line) int {
	oldest := q.round - oldRounds
	if next, ok := q.next[l.analyst]; ok {
		return max(next, oldest)
	}
	return oldest
}

// begin gives a turn.
func (q *queue) begin(l *line) {
	round := q.nextRound(l)
	q.round, q.next[l.analyst] = max(q.round, round), round+1
	q.turns++
	l.turns++
	if q.apart(l.analyst) {
		l.single++
		q.single++
	}
}

// end sends everybody away who waits. The channel is closed when nobody is inside any more.
func (q *queue) end() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ending {
		return q.nothing
	}
	q.ending = true
	close(q.gone)
	for _, l := range q.ring {
		for _, w := range l.waiting {
			w.turn <- ErrEnding
		}
		l.waiting = nil
	}
	q.ring = nil
	if q.inside == 0 {
		close(q.nothing)
	}
	return q.nothing
}

// count says how many have or could have a turn, and how many cannot. It is made from who is
// inside, and not from who is with the engine: that would show how long questions take, to the
// microsecond, behind the back of a tick.
func (q *queue) count() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	running = min(q.inside, q.places)
	return running, q.inside - running
}
