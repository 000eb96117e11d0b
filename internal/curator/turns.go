package curator

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/releaseclock"
)

// turns lets one question with a key through at a time. Those that wait are let in in the order
// in which they came, and can stop waiting.
type turns struct {
	mu  sync.Mutex
	now map[string]*turn
}

type turn struct {
	turn    chan struct{} // holds one thing while somebody is in
	waiting int           // who is in or waits
}

// WaitTurn waits until nobody else is in with one of the keys, and returns what lets the next one
// in. Keys are entered in one order, so that nobody waits for somebody who waits for them. Who
// stops waiting leaves nothing behind, and has paid nothing: this is before the charge.
func (f *turns) WaitTurn(ctx context.Context, keys ...string) (leave func(), err error) {
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

func (f *turns) enterOne(ctx context.Context, key string) (leave func(), err error) {
	f.mu.Lock()
	if f.now == nil {
		f.now = map[string]*turn{}
	}
	g := f.now[key]
	if g == nil {
		g = &turn{turn: make(chan struct{}, 1)}
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
	leave = func() {
		<-g.turn
		done()
	}
	if ctx.Err() == nil {
		select {
		case g.turn <- struct{}{}:
			return leave, nil
		default:
		}
	}
	in := false
	err = releaseclock.Await(ctx, func(ctx context.Context) error {
		select {
		case g.turn <- struct{}{}:
			in = true
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	switch {
	case err == nil:
		return leave, nil
	case in: // and has no turn to go on with
		leave()
	default:
		done()
	}
	return nil, err
}
