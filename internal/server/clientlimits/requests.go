package clientlimits

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Requests has room for so many requests of HTTP/2 on which nobody is logged in yet. One connection
// brings a hundred of them, so that what strangers cost would else be a hundred times what their
// connections do. (Of HTTP/1 a connection has one at a time.) Where there is no room for one more,
// the first that came of the address with the most of them is reset, and strangers' before those of
// addresses that somebody logged in from before. It is safe for concurrent use.
type Requests struct {
	Most int
	// From says where the client of a request is, and whether somebody logged in from there before.
	From func(*http.Request) (address string, familiar bool)

	mu         sync.Mutex
	guests     guestQueue
	turnedAway uint64
}

// request is one that is counted until its user is known.
type request struct {
	guest
	requests *Requests

	mu   sync.Mutex
	over bool // its handler has returned
}

type requestKey struct{}

// Limit counts the requests that a handler gets until it has sent all of their answers, or until
// [LoggedIn].
func (r *Requests) Limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.ProtoMajor < 2 {
			next.ServeHTTP(w, q)
			return
		}
		ctx, cancel := context.WithCancel(q.Context())
		defer cancel()
		control := http.NewResponseController(w)
		address, familiar := r.From(q)
		one := r.enter(address, familiar, func() {
			cancel()
			control.SetReadDeadline(time.Unix(1, 0)) // long ago: the stream is reset
			control.SetWriteDeadline(time.Unix(1, 0))
		})
		defer one.leave()
		next.ServeHTTP(w, q.WithContext(context.WithValue(ctx, requestKey{}, one)))
		if one.counted() {
			control.Flush() // or what is left would wait to be read when it is not counted any more
		}
	})
}

// LoggedIn says that the request of a context is a user's, and counted elsewhere.
func LoggedIn(ctx context.Context) {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		q.requests.forget(q)
	}
}

// TurnedAway is how often one had to make room.
func (r *Requests) TurnedAway() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.turnedAway
}

func (r *Requests) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.guests.order.Len()
}

func (r *Requests) enter(address string, familiar bool, reset func()) *request {
	q := &request{guest: guest{address: address, familiar: familiar}, requests: r}
	q.cut, q.guest.forget = func() { q.resetUnlessOver(reset) }, q.dequeue
	if evicted := r.push(q); evicted != nil {
		evicted.cut()
	}
	return q
}

// push counts a request, and returns the one that has to go.
func (r *Requests) push(q *request) (evicted *guest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.guests.order.Len() >= r.Most {
		if evicted = r.guests.firstOfMost(isStranger); evicted == nil {
			evicted = r.guests.firstOfMost(isAnybody)
		}
		r.turnedAway++
		evicted.forget()
	}
	r.guests.push(&q.guest)
	return evicted
}

func (r *Requests) forget(q *request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q.dequeue()
}

func (q *request) counted() bool {
	q.requests.mu.Lock()
	defer q.requests.mu.Unlock()
	return q.queue != nil
}

// resetUnlessOver resets nothing where the handler has returned: there is nothing to reset then.
func (q *request) resetUnlessOver(reset func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.over {
		reset()
	}
}

func (q *request) leave() {
	q.requests.forget(q)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
}
