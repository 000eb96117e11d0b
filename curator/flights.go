package curator

import (
	"slices"
	"sync"
)

// flights lets one question with a key through at a time.
type flights struct {
	mu  sync.Mutex
	now map[string]*flight
}

type flight struct {
	sync.Mutex
	waiting int
}

// enter waits until nobody else is in with one of the keys, and returns what lets the next one in. Keys
// are entered in one order, so that nobody waits for somebody who waits for them.
func (f *flights) enter(keys ...string) (leave func()) {
	keys = slices.Clone(keys)
	slices.Sort(keys)
	var leaves []func()
	for _, key := range slices.Compact(keys) {
		leaves = append(leaves, f.enterOne(key))
	}
	return func() {
		for _, leave := range leaves {
			leave()
		}
	}
}

func (f *flights) enterOne(key string) (leave func()) {
	f.mu.Lock()
	if f.now == nil {
		f.now = map[string]*flight{}
	}
	g := f.now[key]
	if g == nil {
		g = &flight{}
		f.now[key] = g
	}
	g.waiting++
	f.mu.Unlock()
	g.Lock()
	return func() {
		g.Unlock()
		f.mu.Lock()
		defer f.mu.Unlock()
		if g.waiting--; g.waiting == 0 {
			delete(f.now, key)
		}
	}
}
