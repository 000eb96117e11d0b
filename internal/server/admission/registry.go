package admission

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// registry has the open sessions. There is no goroutine that looks after them: whoever comes next
// removes what has expired, and what is left until then is bounded by the number of analysts.
type registry struct {
	most int
	idle time.Duration

	mu    sync.Mutex
	names *entropy.Source
	open  map[string]*kept
	held  map[string]int // by analyst: open ones, and those that are being opened
}

// kept is a session and when it was last asked.
type kept struct {
	*Session
	used time.Time
}

func newRegistry(most int, idle time.Duration) *registry {
	return &registry{most: most, idle: idle, names: entropy.New(), open: map[string]*kept{}, held: map[string]int{}}
}

// reserve keeps a place for a session that is about to be paid for. Whoever has it calls settle
// once.
func (r *registry) reserve(analyst string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep()
	if r.held[analyst] >= r.most {
		return &LimitError{fmt.Sprintf("you have %d sessions open, which is as many as may be; nothing was charged; "+
			"close one of them", r.most), r.idle}
	}
	r.held[analyst]++
	return nil
}

// settle names a session and lets it be asked, or gives its place back where it was not opened.
func (r *registry) settle(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !s.opened {
		r.release(s.Analyst)
		return
	}
	s.ID, s.Opened = r.names.Name(), time.Now()
	r.open[s.ID] = &kept{s, s.Opened}
}

// find returns a session of an analyst's, which counts as using it. Somebody else's is none.
func (r *registry) find(analyst, id string) (*Session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep()
	k := r.open[id]
	if k == nil || k.Analyst != analyst {
		return nil, ErrNoSession
	}
	k.used = time.Now()
	return k.Session, nil
}

func (r *registry) list(analyst string) []*Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep()
	var all []*Session
	for _, k := range r.open {
		if k.Analyst == analyst {
			all = append(all, k.Session)
		}
	}
	slices.SortFunc(all, func(a, b *Session) int { return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID)) })
	return all
}

func (r *registry) remove(analyst, id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep()
	k := r.open[id]
	if k == nil || k.Analyst != analyst {
		return ErrNoSession
	}
	r.drop(k)
	return nil
}

func (r *registry) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep()
	return len(r.open)
}

// sweep removes what has expired. The lock is held.
func (r *registry) sweep() {
	for _, k := range r.open {
		if time.Since(k.used) >= r.idle {
			r.drop(k)
		}
	}
}

func (r *registry) drop(k *kept) {
	delete(r.open, k.ID)
	r.release(k.Analyst)
}

func (r *registry) release(analyst string) {
	if r.held[analyst]--; r.held[analyst] == 0 {
		delete(r.held, analyst)
	}
}
