package curator

import "sync"

// flights lets one question with a key through at a time.
type flights struct {
	mu  sync.Mutex
	now map[string]*flight
}

type flight struct {
	sync.Mutex
	waiting int
}

// enter waits until nobody else is in with the key, and returns what lets the next one in.
func (f *flights) enter(key string) (leave func()) {
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
