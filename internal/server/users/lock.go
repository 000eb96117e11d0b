package users

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/server/clientaddr"
)

// LockedError: too many failed attempts.
type LockedError struct{ Wait time.Duration }

func (e *LockedError) Error() string { return "too many failed attempts" }

// pair is who tries and from where, as the guard counts them.
type pair struct{ name, address string }

// pairOf makes names that nobody can have one, and the addresses of one network one.
func pairOf(a Attempt) pair {
	p := pair{a.Name, clientaddr.Block(clean(a.Address, 64))}
	if Name(a.Name) != nil {
		p.name = ""
	}
	return p
}

// rule says how failures become waits.
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
	tallies     = 16 << 10 // of each kind, in memory
	trust       = 30 * 24 * time.Hour
)

// tally counts the failures of one thing.
type tally struct {
	failures int
	at       time.Time // up to when failures were forgotten
	until    time.Time // nobody comes in before
}

// settle forgets failures that are old.
func (t *tally) settle(r rule, now time.Time) {
	if t.failures == 0 || now.Before(t.at) {
		t.at = now
		return
	}
	n := now.Sub(t.at) / r.drain
	t.at = t.at.Add(n * r.drain)
	t.failures = max(0, t.failures-int(min(n, 1<<20)))
}

// fail counts a failure under a rule.
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
	mu        sync.Mutex
	now       func() time.Time
	pairs     *recent[pair, *tally]
	addresses *recent[string, *tally]
	seed      maphash.Seed
	names     [tallies]attacked          // by what the seed makes of them: nothing is forgotten, and names of nobody behave alike
	trusted   *recent[pair, time.Time]   // only who came in is here, so a flood of names drives nobody out
	familiar  *recent[string, time.Time] // addresses that somebody came in from

	remember func() map[pair]time.Time // who came in before this process began
	once     sync.Once
}

func newGuard(now func() time.Time, remember func() map[pair]time.Time) *guard {
	return &guard{
		now: now, remember: remember,
		pairs: newRecent[pair, *tally](tallies), addresses: newRecent[string, *tally](tallies),
		seed:    maphash.MakeSeed(),
		trusted: newRecent[pair, time.Time](tallies), familiar: newRecent[string, time.Time](tallies),
	}
}

// wait says how long a pair has to wait.
func (g *guard) wait(p pair) time.Duration {
	g.once.Do(g.recall)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting(p, g.now())
}

// recall fills in who came in before this process began.
func (g *guard) recall() {
	before := g.remember()
	g.mu.Lock()
	defer g.mu.Unlock()
	for p, at := range before {
		g.trusted.put(p, at)
		if before, ok := g.familiar.get(p.address); !ok || before.Before(at) {
			g.familiar.put(p.address, at)
		}
	}
}

// came notes an address that somebody came in from.
func (g *guard) came(address string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.familiar.put(address, g.now())
}

// knows reports whether somebody came in from an address lately.
func (g *guard) knows(address string) bool {
	g.once.Do(g.recall)
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.familiar.get(address)
	return ok && g.now().Sub(at) < trust
}

func (g *guard) waiting(p pair, now time.Time) time.Duration {
	var wait time.Duration
	if t, ok := g.pairs.get(p); ok {
		wait = max(wait, t.until.Sub(now))
	}
	if g.trusts(p, now) {
		return min(max(wait, 0), longestWait)
	}
	if t, ok := g.addresses.get(p.address); ok {
		wait = max(wait, t.until.Sub(now))
	}
	wait = max(wait, min(g.name(p).whole.until.Sub(now), wholeRule.most))
	// A clock that was set back must not lock anybody out for longer.
	return min(max(wait, 0), longestWait)
}

// name is what is known of a name. A few names share it, which ones nobody knows.
func (g *guard) name(p pair) *attacked { return &g.names[maphash.String(g.seed, p.name)%tallies] }

// trusts reports whether this name came in from this address lately.
func (g *guard) trusts(p pair, now time.Time) bool {
	at, ok := g.trusted.get(p)
	return ok && now.Sub(at) < trust
}

// attempt decides an attempt and counts it, in one step: however many come at once, none is decided
// that should have waited for another to fail. It returns how long to wait where it was not
// decided.
func (g *guard) attempt(p pair, proof func() bool) time.Duration {
	g.once.Do(g.recall)
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if wait := g.waiting(p, now); wait > 0 {
		return wait
	}
	if proof() {
		g.pairs.drop(p)
		g.trusted.put(p, now)
		g.familiar.put(p.address, now)
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
	counted(g.pairs, p).fail(r, now)
	counted(g.addresses, p.address).fail(addressRule, now)
}

// counted returns the tally of a key.
func counted[K comparable, T any](in *recent[K, *T], key K) *T {
	t, ok := in.get(key)
	if !ok {
		t = new(T)
		in.put(key, t)
	}
	return t
}
