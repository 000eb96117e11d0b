package users

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/internal/lru"
	"github.com/discreet-dp/discreet/internal/server/clientlimits"
)

// LockedError: too many failed attempts.
type LockedError struct{ Wait time.Duration }

func (e *LockedError) Error() string { return "too many failed attempts" }

// pair is who tries and from where, as the guard counts them.
type pair struct{ name, address string }

// pairOf makes names that nobody can have one, and the addresses of one network one.
func pairOf(a Attempt) pair {
	p := pair{a.Name, clientlimits.Block(printable(a.Address, 64))}
	if CheckName(a.Name) != nil {
		p.name = ""
	}
	return p
}

type rule struct {
	free  int           // so many failures before one has to wait
	first time.Duration // the wait after the last free one; each failure doubles it
	most  time.Duration // the longest wait
	drain time.Duration // after so much time one failure is forgotten
}

// The rules; see the package comment for the reasons.
var (
	pairRule    = rule{free: 5, first: time.Second, most: longestWait, drain: time.Hour}
	attackRule  = rule{free: 1, first: time.Minute, most: longestWait, drain: time.Hour} // for a pair, while its name is attacked
	addressRule = rule{free: 30, first: time.Second, most: longestWait, drain: 5 * time.Minute}
	nameRule    = rule{free: 20, drain: time.Minute} // makes nobody wait; it says that a name is attacked
	// For a name, wherever it is tried from: 1,000 guesses, and one in 6 seconds after.
	wholeRule = rule{free: 1000, first: 6 * time.Second, most: 6 * time.Second, drain: 6 * time.Second}
)

const (
	longestWait = 15 * time.Minute
	doublings   = 10       // 2^10 seconds are above the longest wait
	maxTallies  = 16 << 10 // of each kind, in memory
	trustTime   = 30 * 24 * time.Hour
)

type tally struct {
	failures int
	at       time.Time // up to when failures were forgotten
	until    time.Time // nobody comes in before
}

func (t *tally) settle(r rule, now time.Time) {
	if t.failures == 0 || now.Before(t.at) {
		t.at = now
		return
	}
	n := now.Sub(t.at) / r.drain
	t.at = t.at.Add(n * r.drain)
	t.failures = max(0, t.failures-int(min(n, 1<<20)))
}

func (t *tally) fail(r rule, now time.Time) {
	t.settle(r, now)
	t.failures = min(t.failures+1, r.free+doublings)
	if over := t.failures - r.free; over >= 0 && r.first > 0 {
		t.until = now.Add(min(r.first<<over, r.most))
	}
}

// attacked is what is known of a name that is tried: whether it is attacked, and how often.
type attacked struct{ lately, whole tally }

// guard makes those wait who fail often. It is in memory: a server that starts again has forgotten
// the failures, but not who came in.
type guard struct {
	mu  sync.Mutex
	now func() time.Time
	// Attackers choose names, and must not choose how much memory we take: the maps keep those of
	// their keys that were used last.
	pairs     *lru.Map[pair, *tally]
	addresses *lru.Map[string, *tally]
	seed      maphash.Seed
	names     [maxTallies]attacked        // by what the seed makes of them: nothing is forgotten, and names of nobody behave alike
	trusted   *lru.Map[pair, time.Time]   // only who came in is here, so a flood of names drives nobody out
	familiar  *lru.Map[string, time.Time] // addresses that somebody came in from

	loadLogins func() map[pair]time.Time // who came in before this process began
	once       sync.Once
}

func newGuard(now func() time.Time, remember func() map[pair]time.Time) *guard {
	return &guard{
		now: now, loadLogins: remember,
		pairs: lru.New[pair, *tally](maxTallies), addresses: lru.New[string, *tally](maxTallies),
		seed:    maphash.MakeSeed(),
		trusted: lru.New[pair, time.Time](maxTallies), familiar: lru.New[string, time.Time](maxTallies),
	}
}

// wait says how long a pair has to wait.
func (g *guard) wait(p pair) time.Duration {
	g.once.Do(g.load)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waitOf(p, g.now())
}

// load fills in who came in before this process began.
func (g *guard) load() {
	before := g.loadLogins()
	g.mu.Lock()
	defer g.mu.Unlock()
	for p, at := range before {
		g.trusted.Put(p, at, 1)
		if before, ok := g.familiar.Get(p.address); !ok || before.Before(at) {
			g.familiar.Put(p.address, at, 1)
		}
	}
}

// addFamiliar notes an address that somebody came in from.
func (g *guard) addFamiliar(address string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.familiar.Put(address, g.now(), 1)
}

// isFamiliar reports whether somebody came in from an address lately.
func (g *guard) isFamiliar(address string) bool {
	g.once.Do(g.load)
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.familiar.Get(address)
	return ok && g.now().Sub(at) < trustTime
}

func (g *guard) waitOf(p pair, now time.Time) time.Duration {
	var wait time.Duration
	if t, ok := g.pairs.Get(p); ok {
		wait = max(wait, t.until.Sub(now))
	}
	if g.trusts(p, now) {
		return min(max(wait, 0), longestWait)
	}
	if t, ok := g.addresses.Get(p.address); ok {
		wait = max(wait, t.until.Sub(now))
	}
	wait = max(wait, min(g.name(p).whole.until.Sub(now), wholeRule.most))
	// A clock that was set back must not lock anybody out for longer.
	return min(max(wait, 0), longestWait)
}

// name is what is known of a name. A few names share it, which ones nobody knows.
func (g *guard) name(p pair) *attacked { return &g.names[maphash.String(g.seed, p.name)%maxTallies] }

// trusts reports whether this name came in from this address lately.
func (g *guard) trusts(p pair, now time.Time) bool {
	at, ok := g.trusted.Get(p)
	return ok && now.Sub(at) < trustTime
}

// attempt decides an attempt and counts it, in one step: however many come at once, none is decided
// that should have waited for another to fail. It returns how long to wait where it was not
// decided.
func (g *guard) attempt(p pair, proof func() bool) time.Duration {
	g.once.Do(g.load)
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if wait := g.waitOf(p, now); wait > 0 {
		return wait
	}
	if proof() {
		g.pairs.Remove(p)
		g.trusted.Put(p, now, 1)
		g.familiar.Put(p.address, now, 1)
		return 0
	}
	g.fail(p, now)
	return 0
}

// abandon counts an attempt that never came to be decided.
func (g *guard) abandon(p pair) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fail(p, g.now())
}

func (g *guard) fail(p pair, now time.Time) {
	name := g.name(p)
	name.lately.fail(nameRule, now)
	r := pairRule
	if !g.trusts(p, now) {
		name.whole.fail(wholeRule, now)
		if name.lately.failures >= nameRule.free {
			r = attackRule
		}
	}
	tallyOf(g.pairs, p).fail(r, now)
	tallyOf(g.addresses, p.address).fail(addressRule, now)
}

func tallyOf[K comparable, T any](in *lru.Map[K, *T], key K) *T {
	t, ok := in.Get(key)
	if !ok {
		t = new(T)
		in.Put(key, t, 1)
	}
	return t
}

// attempts decides who comes in, and remembers it.
type attempts struct {
	*storage
	guard     *guard
	trail     *trail
	lockedOut atomic.Uint64
}

// decide decides an attempt, counts it, and writes it into the trail.
func (d *attempts) decide(a Attempt, r *row, proof func() bool) (User, error) {
	proven := false
	wait := d.guard.attempt(pairOf(a), func() bool {
		proven = proof() && r != nil
		return proven && r.Revoked.IsZero()
	})
	switch {
	case wait > 0:
		return User{}, d.lockOut(a, wait)
	case !proven:
		d.trail.add(a, loginDenied, "")
		return User{}, ErrDenied
	case !r.Revoked.IsZero():
		d.trail.add(a, loginRevoked, "")
		return User{}, ErrDenied
	}
	if err := d.trail.add(a, loginIn, ""); err != nil {
		return User{}, d.report(err)
	}
	return r.User, nil
}

// refuseLocked returns a LockedError to whom has to wait.
func (d *attempts) refuseLocked(a Attempt) error {
	if wait := d.guard.wait(pairOf(a)); wait > 0 {
		return d.lockOut(a, wait)
	}
	return nil
}

func (d *attempts) lockOut(a Attempt, wait time.Duration) error {
	d.lockedOut.Add(1)
	d.trail.add(a, loginLocked, "")
	return &LockedError{Wait: wait}
}

// networkQueue has one place, and those who wait for it get it in turn by network: who comes alone
// waits for one of each other network, and not for the thousands that one of them sends.
type networkQueue struct {
	mu      sync.Mutex
	busy    bool
	waiting map[string][]chan struct{} // by network; only those where somebody waits
	order   []string                   // whose turn is next
}

// enter waits for the place; what it returns gives it back.
func (q *networkQueue) enter(ctx context.Context, network string) (leave func(), err error) {
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
func (q *networkQueue) join(network string) chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.busy {
		q.busy = true
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
func (q *networkQueue) quit(network string, mine chan struct{}) bool {
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
func (q *networkQueue) next() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 {
		q.busy = false
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
