package users

import (
	"context"
	"slices"
	"sync"
)

// queue has one place, and those who wait for it get it in turn by network: who comes alone waits
// for one of each other network, and not for the thousands that one of them sends.
type queue struct {
	mu      sync.Mutex
	taken   bool
	waiting map[string][]chan struct{} // by network; only those where somebody waits
	order   []string                   // whose turn is next
}

// enter waits for the place; what it returns gives it back.
func (q *queue) enter(ctx context.Context, network string) (leave func(), err error) {
	mine := q.join(network)
	if mine == nil {
		return q.next, nil
	}
	select {
	case <-mine:
		return q.next, nil
	case <-ctx.Done():
	}
	if !q.quit(network, mine) { // it came meanwhile
		q.next()
	}
	return nil, ctx.Err()
}

// join takes the place and returns nil, or stands in line.
func (q *queue) join(network string) chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.taken {
		q.taken = true
		return nil
	}
	if q.waiting == nil {
		q.waiting = map[string][]chan struct{}{}
	}
	if len(q.waiting[network]) == 0 {
		q.order = append(q.order, network)
	}
	mine := make(chan struct{})
	q.waiting[network] = append(q.waiting[network], mine)
	return mine
}

// quit stands in line no more, unless the place was given already.
func (q *queue) quit(network string, mine chan struct{}) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting[network], mine)
	if i < 0 {
		return false
	}
	if q.waiting[network] = slices.Delete(q.waiting[network], i, i+1); len(q.waiting[network]) == 0 {
		delete(q.waiting, network)
		q.order = slices.DeleteFunc(q.order, func(n string) bool { return n == network })
	}
	return true
}

// next gives the place to whose turn it is.
func (q *queue) next() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 {
		q.taken = false
		return
	}
	network := q.order[0]
	q.order = q.order[1:]
	first := q.waiting[network][0]
	if rest := q.waiting[network][1:]; len(rest) > 0 {
		q.waiting[network] = rest
		q.order = append(q.order, network)
	} else {
		delete(q.waiting, network)
	}
	close(first)
}
