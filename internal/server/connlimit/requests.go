package connlimit

import (
	"container/list"
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

	mu     sync.Mutex
	guests list.List // those that came first are first
	of     map[string]int
	turned uint64
}

// Request is one that is counted.
type Request struct {
	in       *Requests
	address  string
	familiar bool
	element  *list.Element // nil once it is not counted

	mu   sync.Mutex
	over bool
	cut  func()
}

type requestKey struct{}

// Around counts the requests that a handler gets until it has sent all of their answers, or until
// [LoggedIn].
func (r *Requests) Around(next http.Handler) http.Handler {
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
	if one, ok := ctx.Value(requestKey{}).(*Request); ok {
		one.in.forget(one)
	}
}

// TurnedAway is how often one had to make room.
func (r *Requests) TurnedAway() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.turned
}

// Count says how many there are.
func (r *Requests) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.guests.Len()
}

func (r *Requests) enter(address string, familiar bool, cut func()) *Request {
	one := &Request{in: r, address: address, familiar: familiar, cut: cut}
	if out := r.add(one); out != nil {
		out.end()
	}
	return one
}

// add counts a request, and returns the one that has to go.
func (r *Requests) add(one *Request) (out *Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string]int{}
	}
	if r.guests.Len() >= r.Most {
		if out = r.fullest(false); out == nil {
			out = r.fullest(true)
		}
		r.turned++
		r.drop(out)
	}
	one.element = r.guests.PushBack(one)
	r.of[one.address]++
	return out
}

// fullest is the first that came of the address with the most.
func (r *Requests) fullest(familiar bool) (found *Request) {
	most := 0
	for e := r.guests.Front(); e != nil; e = e.Next() {
		if q := e.Value.(*Request); r.of[q.address] > most && q.familiar == familiar {
			most, found = r.of[q.address], q
		}
	}
	return found
}

func (r *Requests) forget(one *Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(one)
}

func (r *Requests) drop(one *Request) {
	if one.element != nil {
		r.guests.Remove(one.element)
		one.element = nil
		less(r.of, one.address)
	}
}

func (q *Request) counted() bool {
	q.in.mu.Lock()
	defer q.in.mu.Unlock()
	return q.element != nil
}

// end resets a request, unless its handler has returned: then there is nothing to reset any more.
func (q *Request) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.over {
		q.cut()
	}
}

func (q *Request) leave() {
	q.in.forget(q)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
}
