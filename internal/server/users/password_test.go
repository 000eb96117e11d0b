package users

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// occupy takes places for hashes until the function that it returns is called.
func occupy(s *Store, n int) (release func()) {
	held, free := make(chan struct{}), make(chan struct{})
	for range n {
		go s.hashes.run(ctx, func() {
			held <- struct{}{}
			<-free
		})
	}
	for range n {
		<-held
	}
	return func() { close(free) }
}

// hashed returns how many hashes a function lets run.
func hashed(s *Store, f func()) int64 {
	before := s.hashes.begun.Load()
	f()
	return s.hashes.begun.Load() - before
}

func TestHashesAtOnce(t *testing.T) {
	f := setUp(t)
	defer occupy(f.Store, 4)()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := f.hashes.run(gone, func() { t.Error("a fifth hash ran") }); err != context.Canceled {
		t.Error(err)
	}
}

// Who comes from where somebody came in before waits for no stranger, however many of them there
// are and whatever they guess at.
func TestStrangersDelayNobody(t *testing.T) {
	f := setUp(t)
	_, err := f.Password(ctx, from("ana", home), f.password)
	must(t, err)
	end, err := f.hashes.turn(ctx, pairOf(from("bob", "198.51.100.1")), false)
	must(t, err)
	defer end()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := second(f.Password(gone, from("ana", "198.51.100.2"), f.password)); err != context.Canceled {
		t.Errorf("strangers have more places than they may: %v", err)
	}
	c, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := f.Password(c, from("ana", home), f.password); err != nil {
		t.Error(err)
	}
}

// Who comes from somewhere new waits for one guess of each network, and not for all that one sends;
// and of those that wait, one address has no more decided than it may guess.
func TestStrangersWaitInTurn(t *testing.T) {
	f := setUp(t)
	end, err := f.hashes.turn(ctx, pair{}, false)
	must(t, err)
	results := make(chan error, 100)
	waits := func(n int) {
		for f.hashes.strangers.length() != n {
			time.Sleep(time.Millisecond)
		}
	}
	for i := range 100 {
		a := from(fmt.Sprint("name", i), fmt.Sprintf("2001:db8:0:%x::1", i%2)) // two blocks of one network
		go func() { results <- second(f.Password(ctx, a, "wrong")) }()
		waits(i + 1)
	}
	newcomer := make(chan error, 1)
	go func() { newcomer <- second(f.Password(ctx, from("ana", "198.51.100.1"), f.password)) }()
	waits(101)
	n := hashed(f.Store, func() {
		end()
		must(t, <-newcomer)
	})
	// One of them was before, and one may have begun since.
	if n > 3 {
		t.Errorf("%d hashes before somebody else's turn", n)
	}
	n += hashed(f.Store, func() {
		for range 100 {
			<-results
		}
	})
	if n > 2*int64(addressRule.free)+1 {
		t.Errorf("%d hashes for two addresses and somebody", n)
	}
	if q := &f.hashes.strangers; q.length() != 0 || len(q.order)+len(q.waiting) != 0 || q.busy {
		t.Errorf("left is %+v", q.order)
	}
}

func (q *networkQueue) length() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, all := range q.waiting {
		n += len(all)
	}
	return n
}

// Who hangs up while they wait leaves nothing behind, also where their turn comes at that moment.
func TestQuitting(t *testing.T) {
	q := &networkQueue{}
	var all sync.WaitGroup
	inside := 0 // the place is its lock
	for i := range 200 {
		all.Go(func() {
			c, cancel := context.WithTimeout(ctx, time.Duration(i%7)*time.Millisecond)
			defer cancel()
			if leave, err := q.enter(c, fmt.Sprint(i%5)); err == nil {
				inside++
				time.Sleep(100 * time.Microsecond)
				leave()
			}
		})
	}
	all.Wait()
	if q.busy || len(q.order)+len(q.waiting) != 0 || inside == 0 {
		t.Errorf("%d were inside, and left are %v", inside, q.order)
	}
}

// A name that nobody has, or that was revoked, costs a hash as any other, and one like it.
func TestEveryNameIsHashed(t *testing.T) {
	f := setUp(t)
	_, err := f.Add(ctx, "carl", Analyst, "")
	must(t, err)
	must(t, f.Revoke(ctx, "carl"))
	for _, name := range []string{"ana", "bob", "carl", "", "no name"} {
		for _, password := range []string{"wrong", "", strings.Repeat("x", 1000)} {
			f.turn(longestWait)
			if n := hashed(f.Store, func() { denied(t, second(f.Password(ctx, from(name, home), password))) }); n != 1 {
				t.Errorf("%q with a password of %d: %d hashes", name, len(password), n)
			}
		}
	}
	fake, real := f.keys.fakeHash("bob"), newHash(hashCost, random(16), "x")
	cost := func(hash string) string { return strings.Join(strings.Split(hash, "$")[:4], "$") }
	if cost(fake) != cost(real) || len(fake) != len(real) || hashMatches(fake, "x") {
		t.Errorf("a fake hash is unlike a real one: %s, %s", fake, real)
	}
}

// asked is a context that tells when somebody begins to wait for its end.
type asked struct {
	context.Context
	waiting chan struct{}
}

func (a asked) Done() <-chan struct{} {
	select {
	case a.waiting <- struct{}{}:
	default:
	}
	return a.Context.Done()
}

// Whoever is locked out costs no hash, also where that happens while they wait for their turn.
func TestLockedIsNotHashed(t *testing.T) {
	f := setUp(t)
	for range 5 {
		denied(t, second(f.Password(ctx, from("ana", home), "wrong")))
	}
	if n := hashed(f.Store, func() { locked(t, second(f.Password(ctx, from("ana", home), f.password)), time.Second) }); n != 0 {
		t.Errorf("%d hashes for somebody who is locked out", n)
	}
	// Nor do they wait behind others to be told.
	end, err := f.hashes.turn(ctx, pairOf(from("ana", home)), false)
	must(t, err)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	locked(t, second(f.Password(gone, from("ana", home), f.password)), time.Second)
	end()
	other := from("ana", "192.0.2.77")
	n := hashed(f.Store, func() {
		end, err := f.hashes.turn(ctx, pairOf(other), false)
		must(t, err)
		c, result := asked{ctx, make(chan struct{}, 1)}, make(chan error)
		go func() { result <- second(f.Password(c, other, f.password)) }()
		<-c.waiting
		for range 5 {
			f.attempts.guard.abandon(pairOf(other))
		}
		end()
		locked(t, <-result, time.Second)
	})
	if n != 0 {
		t.Errorf("%d hashes for somebody who was locked out while waiting", n)
	}
}

// A flood of strangers takes a quarter of a processor.
func TestStrangersRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, begin := newHashes(), time.Now()
		for range 3 {
			end, err := h.turn(t.Context(), pairOf(from("ana", "192.0.2.77")), false)
			must(t, err)
			time.Sleep(100 * time.Millisecond)
			end()
		}
		if took := time.Since(begin); took != 900*time.Millisecond {
			t.Errorf("300 ms of guesses took %v", took)
		}
		synctest.Wait()
	})
}

// A name beyond ASCII is one name, in whatever form it comes, at both listeners: it lets in, and
// what was tried under one form counts for the other. Names that nobody has behave as those do.
func TestNamesBeyondASCII(t *testing.T) {
	f := setUp(t)
	password, err := f.Add(ctx, "josé", Analyst, "")
	must(t, err)
	for _, name := range []string{"josé", "jose\u0301"} {
		if u, err := login(f.Store, from(name, home), password); err != nil || u.Name != "josé" {
			t.Errorf("%q by SCRAM: %v %v", name, u, err)
		}
		if u, err := f.Password(ctx, from(name, home), password); err != nil || u.Name != "josé" {
			t.Errorf("%q by password: %v %v", name, u, err)
		}
	}
	if _, err := f.Add(ctx, "jose\u0301", Analyst, ""); err == nil {
		t.Error("two users look alike")
	}
	// The same number of failures locks out who exists and who does not, under one form or two.
	tries := func(names ...string) int {
		for n := 1; n < 100; n++ {
			_, err := login(f.Store, from(names[n%len(names)], "10.0.0.9"), "wrong password")
			var locked *LockedError
			if errors.As(err, &locked) {
				return n
			}
			if !errors.Is(err, ErrDenied) {
				t.Fatalf("%q: %v", names, err)
			}
		}
		return 0
	}
	want := tries("ana")
	for _, names := range [][]string{{"josé", "jose\u0301"}, {"rené", "rene\u0301"}, {"\u202enobody"}} {
		if got := tries(names...); got != want || want == 0 {
			t.Errorf("%q: locked out after %d, and ana after %d", names, got, want)
		}
	}
}
