package curator

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// flights lets one question with a key through at a time. Those that wait are let in in the order in which they came, and can stop waiting.
type flights struct {
	mu  sync.Mutex
	now map[string]*flight
}

type flight struct {
	turn    chan struct{} // holds one thing while somebody is in
	waiting int           // who is in or waits
}

// enter waits until nobody else is in with one of the keys, and returns what lets the next one in. Keys
// are entered in one order, so that nobody waits for somebody who waits for them. Who stops waiting leaves nothing behind, and has paid
// nothing: this is before the charge.
func (f *flights) enter(ctx context.Context, keys ...string) (leave func(), err error) {
	keys = slices.Clone(keys)
	slices.Sort(keys)
	var leaves []func()
	leave = func() {
		for _, leave := range leaves {
			leave()
		}
	}
	for _, key := range slices.Compact(keys) {
		one, err := f.enterOne(ctx, key)
		if err != nil {
			leave()
			return nil, fmt.Errorf("nothing was charged: %w while somebody else asked the same", err)
		}
		leaves = append(leaves, one)
	}
	return leave, nil
}

func (f *flights) enterOne(ctx context.Context, key string) (leave func(), err error) {
	f.mu.Lock()
	if f.now == nil {
		f.now = map[string]*flight{}
	}
	g := f.now[key]
	if g == nil {
		g = &flight{turn: make(chan struct{}, 1)}
		f.now[key] = g
	}
	g.waiting++
	f.mu.Unlock()
	done := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if g.waiting--; g.waiting == 0 {
			delete(f.now, key)
		}
	}
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		done()
		return nil, ctx.Err()
	}
	return func() {
		<-g.turn
		done()
	}, nil
}
