package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// retries are the names that questions have which a model gave none. A name follows from the
// question, the hour, and how many names before it have become another question's meanwhile,
// because the data has changed or the window of the budget: so a call that is made again is the
// same request, at every server. What is remembered here is the hour of the first call, so that a
// call that is made again after the clock has struck is the same request as well.
type retries struct {
	mu    sync.Mutex
	of    map[digest]retry
	order []place // the oldest first
}

type digest [sha256.Size]byte

// retry is the name of a question for an hour from its first call on.
type retry struct {
	first time.Time
	n     int
}

// place is when a question was called first; it counts for nothing where that was again later.
type place struct {
	of    digest
	first time.Time
}

const (
	mostRetries = 10_000
	// mostNames is how many names are tried for one call. A server that was restarted tries them
	// one by one.
	mostNames = 8
)

// name is the name of a question that is called now.
func (r *retries) name(q api.Question, now time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := digested(q)
	known, ok := r.of[key]
	if !ok || now.Sub(known.first) >= time.Hour || now.Before(known.first) {
		known = retry{first: now}
		r.remember(key, known)
	}
	return known.name(key)
}

// next is the name of a question whose name is another question's.
func (r *retries) next(q api.Question, taken string, now time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := digested(q)
	known, ok := r.of[key]
	if !ok {
		known = retry{first: now} // so many were asked meanwhile
	}
	if known.name(key) == taken {
		known.n++
	}
	r.remember(key, known)
	return known.name(key)
}

func (r *retries) remember(key digest, known retry) {
	if r.of == nil {
		r.of = map[digest]retry{}
	}
	if old, ok := r.of[key]; !ok || old.first != known.first {
		r.order = append(r.order, place{key, known.first})
	}
	r.of[key] = known
	for len(r.order) > mostRetries {
		if p := r.order[0]; r.of[p.of].first == p.first {
			delete(r.of, p.of)
		}
		r.order = r.order[1:]
	}
}

func (r retry) name(of digest) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %x", r.first.UTC().Format("2006-01-02T15"), r.n, of))
	return "mcp-" + hex.EncodeToString(sum[:16])
}

// digested tells questions from each other, and who asks them.
func digested(q api.Question) digest {
	text, err := json.Marshal(q) // texts, numbers and lists, in the order of their fields
	if err != nil {
		panic(err)
	}
	return sha256.Sum256(text)
}
