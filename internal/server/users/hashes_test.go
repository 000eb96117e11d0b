package users

import (
	"context"
	"strings"
	"testing"
	"time"
)

// occupy takes places for hashes until the function that it returns is called.
func occupy(s *Store, n int, familiar bool) (release func()) {
	held, free := make(chan struct{}), make(chan struct{})
	for range n {
		go s.hashes.run(ctx, familiar, func() {
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
	defer occupy(f.Store, 4, true)()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := f.hashes.run(gone, true, func() { t.Error("a fifth hash ran") }); err != context.Canceled {
		t.Error(err)
	}
}

// Who comes from where somebody came in before waits for no stranger, however many of them there
// are and whatever they guess at.
func TestStrangersDelayNobody(t *testing.T) {
	f := setUp(t)
	_, err := f.Password(ctx, from("ana", home), f.password)
	must(t, err)
	release := occupy(f.Store, strange, false)
	defer release()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := f.hashes.run(gone, false, func() { t.Error("strangers have more places than they may") }); err != context.Canceled {
		t.Error(err)
	}
	for i := range f.hashes.turns[0] { // as many names as there are turns
		f.hashes.turns[0][i] <- struct{}{}
	}
	c, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := f.Password(c, from("ana", home), f.password); err != nil {
		t.Error(err)
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
	fake, real := f.fakeHash("bob"), newHash(today, random(16), "x")
	cost := func(hash string) string { return strings.Join(strings.Split(hash, "$")[:4], "$") }
	if cost(fake) != cost(real) || len(fake) != len(real) || matches(fake, "x") {
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
			f.guard.abandon(pairOf(other), true)
		}
		end()
		locked(t, <-result, time.Second)
	})
	if n != 0 {
		t.Errorf("%d hashes for somebody who was locked out while waiting", n)
	}
}
