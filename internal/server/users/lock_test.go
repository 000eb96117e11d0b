package users

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/lru"
)

// Four failures are free; the fifth makes one wait a second, and each one after it twice as long,
// up to 15 minutes.
func TestWaitsGrow(t *testing.T) {
	for _, listener := range []struct {
		name string
		try  func(*fixture, string) error
	}{
		{"exchange", func(f *fixture, password string) error {
			_, err := login(f.Store, from("ana", home), password)
			return err
		}},
		{"password", func(f *fixture, password string) error {
			_, err := f.Password(ctx, from("ana", home), password)
			return err
		}},
	} {
		t.Run(listener.name, func(t *testing.T) {
			f := setUp(t)
			for range 4 {
				denied(t, listener.try(f, "wrong"))
			}
			must(t, listener.try(f, f.password)) // and is forgiven
			for range 5 {
				denied(t, listener.try(f, "wrong"))
			}
			for _, wait := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900} {
				wait *= time.Second
				locked(t, listener.try(f, f.password), wait) // the right one does not come in either
				f.turn(wait - time.Nanosecond)
				locked(t, listener.try(f, f.password), time.Nanosecond)
				f.turn(time.Nanosecond)
				denied(t, listener.try(f, "wrong"))
			}
			f.turn(longestWait)
			must(t, listener.try(f, f.password))
			denied(t, listener.try(f, "wrong"))
		})
	}
}

// Nobody gets more guesses by making them at once.
func TestGuessesAtOnce(t *testing.T) {
	f := setUp(t)
	for name, try := range map[string]func(string) error{
		"exchange": func(a string) error { _, err := login(f.Store, from("ana", a), "wrong"); return err },
		"password": func(a string) error { _, err := f.Password(ctx, from("ana", a), "wrong"); return err },
	} {
		var wait sync.WaitGroup
		var tried, refused atomic.Int64
		for range 40 {
			wait.Go(func() {
				var l *LockedError
				switch err := try("198.51.100." + fmt.Sprint(len(name)+int(name[0]))); {
				case err == ErrDenied:
					tried.Add(1)
				case errors.As(err, &l):
					refused.Add(1)
				}
			})
		}
		wait.Wait()
		if tried.Load() != 5 || refused.Load() != 35 {
			t.Errorf("%s: %d guesses and %d refusals", name, tried.Load(), refused.Load())
		}
	}
}

// Many connections of a program that has the right password come in at once.
func TestPoolsComeIn(t *testing.T) {
	f := setUp(t)
	var wait sync.WaitGroup
	for range 40 {
		wait.Go(func() {
			_, err := login(f.Store, from("ana", home), f.password)
			must(t, err)
			_, err = f.Password(ctx, from("ana", home), f.password)
			must(t, err)
		})
	}
	wait.Wait()
}

// Whoever hangs up before the proof has failed; whoever hangs up before a word has not.
func TestAbandoned(t *testing.T) {
	f := setUp(t)
	for range 50 {
		e, err := f.Exchange(ctx, from("ana", home))
		must(t, err)
		e.Close()
	}
	for range 5 {
		e, _ := open1(t, f, from("ana", home))
		e.Close()
		e.Close()
	}
	_, err := f.Exchange(ctx, from("ana", home))
	locked(t, err, time.Second)
	// Of several that were begun before, those that come after the wait began are not decided.
	f.turn(time.Second)
	a, right := open1(t, f, from("ana", home))
	b, _ := open1(t, f, from("ana", home))
	b.Close()
	_, done, err := a.Step(ctx, right)
	locked(t, err, 2*time.Second)
	if done || a.User() != (User{}) {
		t.Error("came in while locked")
	}
}

// One address that tries many names has to wait, whatever the name; those who came in from there
// before need not.
func TestAddress(t *testing.T) {
	f := setUp(t)
	_, err := f.Add(ctx, "bob", Analyst, "")
	must(t, err)
	_, err = login(f.Store, from("ana", home), f.password)
	must(t, err)
	for i := range 30 {
		denied(t, second(login(f.Store, from(fmt.Sprint("name", i), home), "wrong")))
	}
	locked(t, second(login(f.Store, from("bob", home), "wrong")), time.Second)
	must(t, second(login(f.Store, from("ana", home), f.password)))
	must(t, second(login(f.Store, from("ana", "192.0.2.2"), f.password)))
	// Also by a server that has just begun.
	again := f.again(t)
	for i := range 30 {
		denied(t, second(login(again, from(fmt.Sprint("name", i), home), "wrong")))
	}
	locked(t, second(login(again, from("bob", home), "wrong")), time.Second)
	must(t, second(login(again, from("ana", home), f.password)))
	f.turn(trustTime)
	for i := range 30 {
		denied(t, second(login(again, from(fmt.Sprint("more", i), "192.0.2.2"), "wrong")))
	}
	locked(t, second(login(again, from("ana", "192.0.2.2"), f.password)), time.Second) // that is long ago
}

// A name that is guessed from many addresses gives each of them one guess. Its user comes in, from
// wherever.
func TestManyAddresses(t *testing.T) {
	f := setUp(t)
	_, err := login(f.Store, from("ana", home), f.password)
	must(t, err)
	for i := range 19 {
		denied(t, second(login(f.Store, from("ana", fmt.Sprint("203.0.113.", i)), "wrong")))
	}
	denied(t, second(login(f.Store, from("ana", "203.0.113.18"), "wrong"))) // the 20th: it is an attack
	locked(t, second(login(f.Store, from("ana", "203.0.113.18"), "wrong")), 2*time.Minute)
	for i := 100; i < 200; i++ {
		address := fmt.Sprint("203.0.113.", i)
		denied(t, second(login(f.Store, from("ana", address), "wrong")))
		locked(t, second(login(f.Store, from("ana", address), "wrong")), time.Minute)
	}
	must(t, second(login(f.Store, from("ana", "198.51.100.7"), f.password))) // from anywhere, at the first try
	for range 4 {
		denied(t, second(login(f.Store, from("ana", home), "wrong"))) // from home, with as many mistakes as ever
	}
	must(t, second(login(f.Store, from("ana", home), f.password)))
	// It passes.
	f.turn(time.Hour)
	denied(t, second(login(f.Store, from("ana", "203.0.113.250"), "wrong")))
	denied(t, second(login(f.Store, from("ana", "203.0.113.250"), "wrong")))
}

// A name is guessed at 1,000 times and then 600 times an hour, from however many addresses,
// whatever else is tried meanwhile. Where its user came in before nothing of it is felt.
func TestGuessesOfAName(t *testing.T) {
	f := setUp(t)
	_, err := login(f.Store, from("ana", home), f.password)
	must(t, err)
	guesses, next := 0, 0
	attack := func(name string, times int) {
		wrong := func() bool { guesses++; return false }
		for range times {
			next++
			f.attempts.guard.attempt(pair{name, fmt.Sprint("a", next)}, wrong)
		}
	}
	attack("ana", 1200)
	if guesses != 1000 {
		t.Errorf("%d guesses at once", guesses)
	}
	locked(t, second(login(f.Store, from("ana", "198.51.100.7"), f.password)), 6*time.Second)
	must(t, second(login(f.Store, from("ana", home), f.password)))
	must(t, second(f.Password(ctx, from("ana", home), f.password)))
	for i := range 2 * maxTallies { // names of nobody do not make it forgotten
		f.attempts.guard.attempt(pair{fmt.Sprint("n", i), fmt.Sprint("b", i)}, func() bool { return false })
	}
	guesses = 0
	for range 600 {
		f.turn(6 * time.Second)
		attack("ana", 3)
	}
	if guesses != 600 {
		t.Errorf("%d guesses in an hour", guesses)
	}
	// A name of nobody behaves alike.
	guesses = 0
	attack("nobody", 1200)
	if guesses != 1000 {
		t.Errorf("%d guesses of a name of nobody", guesses)
	}
	locked(t, second(login(f.Store, from("nobody", "198.51.100.7"), "wrong")), 6*time.Second)
	f.turn(time.Minute)
	must(t, second(login(f.Store, from("ana", "198.51.100.7"), f.password)))
}

// However many other names are tried, a name of nobody is forgotten no sooner than a user's: else
// who fills the memory with them would see who has an account.
func TestFloodOfNamesTellsNobody(t *testing.T) {
	f := setUp(t)
	wrong := func() bool { return false }
	for i := range 1000 {
		for _, name := range []string{"ana", "nobody"} {
			f.attempts.guard.attempt(pair{name, fmt.Sprint("a", i)}, wrong)
		}
	}
	for i := range 2 * maxTallies {
		f.attempts.guard.attempt(pair{fmt.Sprint("n", i), fmt.Sprint("b", i)}, wrong)
	}
	for _, name := range []string{"ana", "nobody"} {
		if wait := f.attempts.guard.wait(pair{name, "198.51.100.7"}); wait != wholeRule.most {
			t.Errorf("%s waits for %v", name, wait)
		}
	}
}

// Addresses that somebody came in from are known, in whichever way, and after a new start.
func TestFamiliar(t *testing.T) {
	f := setUp(t)
	token, _, err := f.NewToken(ctx, "ana", "", time.Time{})
	must(t, err)
	_, err = f.Token(ctx, from("", "198.51.100.1"), token)
	must(t, err)
	_, err = f.Password(ctx, from("ana", "2001:db8::1"), f.password)
	must(t, err)
	denied(t, second(login(f.Store, from("ana", "198.51.100.3"), "wrong")))
	for _, s := range []*Store{f.Store, f.again(t)} {
		for address, want := range map[string]bool{"198.51.100.1": true, "::ffff:198.51.100.1": true, "2001:db8::2": true,
			"2001:db8:0:1::2": false, "198.51.100.3": false, "": false} {
			if s.Familiar(address) != want {
				t.Errorf("%s is familiar: %v", address, !want)
			}
		}
	}
	f.turn(trustTime)
	if f.Familiar("198.51.100.1") {
		t.Error("that is long ago")
	}
}

// A network of IPv6 is one address.
func TestNetworks(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"2001:db8::1", "2001:db8::ffff:1", true},
		{"2001:db8::1%eth0", "2001:db8::2", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		{"::ffff:192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"127.0.0.1", "127.1.2.3", true},
		{"127.0.0.1", "::1", true},
		{"::ffff:127.0.0.1", "127.0.0.1", true},
		{"127.0.0.1", "192.0.2.1", false},
		{"", "192.0.2.2", false},
		{"not an address", "not an address", true},
	} {
		if got := pairOf(from("ana", c.a)) == pairOf(from("ana", c.b)); got != c.same {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
	if pairOf(from("a b", "")) != pairOf(from(strings.Repeat("x", 1000), "")) || pairOf(from("ana", "")) == pairOf(from("Ana", "")) {
		t.Error("names are not counted as they should be")
	}
}

// However many names there are, memory is bounded, and who came in is not forgotten.
func TestMemoryIsBounded(t *testing.T) {
	f := setUp(t)
	g := f.attempts.guard
	g.attempt(pair{"ana", home}, func() bool { return true })
	for i := range 3 * maxTallies {
		g.attempt(pair{fmt.Sprint("n", i), fmt.Sprint("a", i)}, func() bool { return false })
	}
	for what, n := range map[string]int{"pairs": g.pairs.Len(), "addresses": g.addresses.Len()} {
		if n != maxTallies {
			t.Errorf("%d %s", n, what)
		}
	}
	if !g.trusts(pair{"ana", home}, f.hand.now()) {
		t.Error("ana was forgotten")
	}
}

// A clock that goes back locks nobody out for longer than the longest wait.
func TestClockGoesBack(t *testing.T) {
	f := setUp(t)
	for range 5 {
		denied(t, second(login(f.Store, from("ana", home), "wrong")))
	}
	f.turn(-240 * time.Hour)
	locked(t, second(login(f.Store, from("ana", home), f.password)), longestWait)
	f.turn(241 * time.Hour)
	must(t, second(login(f.Store, from("ana", home), f.password)))
}

func second[T any](_ T, err error) error { return err }

func TestTrail(t *testing.T) {
	f := setUp(t)
	must(t, second(login(f.Store, from("ana", home), f.password)))
	denied(t, second(login(f.Store, from("ana", home), "wrong")))
	denied(t, second(login(f.Store, from("bob\n\x1b[2J"+strings.Repeat("x", 1<<16), home), "wrong")))
	e, _ := open1(t, f, from("ana", home))
	e.Close()
	must(t, f.Revoke(ctx, "ana"))
	denied(t, second(f.Password(ctx, from("ana", "192.0.2.9"), f.password)))
	all, err := f.Logins(ctx, "", 10)
	must(t, err)
	var got []string
	for _, l := range all {
		if !l.At.Equal(f.at) || !l.Until.Equal(f.at) || l.Count != 1 || l.Listener != "wire" {
			t.Errorf("got %+v", l)
		}
		got = append(got, fmt.Sprintf("%.12s %s %s", l.Name, l.Address, l.Outcome))
		if len(l.Name) > 64 {
			t.Errorf("a name of %d bytes", len(l.Name))
		}
	}
	want := "ana 192.0.2.9 revoked|ana 192.0.2.1 abandoned|bob??[2Jxxxx 192.0.2.1 denied|ana 192.0.2.1 denied|ana 192.0.2.1 in"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if l, err := f.Logins(ctx, "ana", 2); err != nil || len(l) != 2 || l[0].Outcome != "revoked" {
		t.Errorf("got %+v, %v", l, err)
	}
	for _, n := range []int{0, -1} {
		if l, err := f.Logins(ctx, "", n); err != nil || len(l) != 0 {
			t.Errorf("got %+v, %v", l, err)
		}
	}
}

// A flood is a few lines, and a program that uses its token often is one an hour.
func TestTrailIsFolded(t *testing.T) {
	f := setUp(t)
	secret, token, err := f.NewToken(ctx, "ana", "", time.Time{})
	must(t, err)
	web := Attempt{Address: home, Listener: "http"}
	for range 100 {
		must(t, second(f.Token(ctx, web, secret)))
		f.turn(time.Second)
	}
	l, err := f.Logins(ctx, "", 10)
	if err != nil || len(l) != 1 || l[0].Count != 100 || l[0].Name != "ana" || l[0].Token != token.ID ||
		l[0].Until.Sub(l[0].At) != 99*time.Second {
		t.Errorf("got %+v, %v", l, err)
	}
	f.turn(time.Hour)
	must(t, second(f.Token(ctx, web, secret)))
	for i := range 1000 {
		f.attempts.trail.add(from(fmt.Sprint("name", i), fmt.Sprintf("2001:db8::%x", i)), loginDenied, "")
	}
	l, err = f.Logins(ctx, "", 100)
	if err != nil || len(l) != 2+maxLinesPerHour+1 || l[0].Name != severalNames || l[0].Address != "2001:db8::/64" ||
		l[0].Count != 1000-maxLinesPerHour {
		t.Errorf("%d lines, %+v, %v", len(l), l[0], err)
	}
	// Another process sees it when this one ends.
	f.attempts.trail.add(from("name0", "2001:db8::0"), loginDenied, "")
	must(t, f.Close())
	if l, err := f.again(t).Logins(ctx, "name0", 1); err != nil || len(l) != 1 || l[0].Count != 2 {
		t.Errorf("got %+v, %v", l, err)
	}
}

// However many lines strangers write, from however many networks, who came in before neither waits
// for them nor gets a new line for each request, which would drive out who else came in.
func TestTrailOfStrangersIsTheirs(t *testing.T) {
	f := setUp(t)
	secret, _, err := f.NewToken(ctx, "ana", "", time.Time{})
	must(t, err)
	web := Attempt{Address: home, Listener: "http"}
	f.attempts.trail.succeeded.lines, f.attempts.trail.failed.lines = lru.New[lineKey, *line](10), lru.New[lineKey, *line](10)
	for i := range 5 {
		must(t, second(f.Token(ctx, web, secret)))
		for j := range 20 {
			denied(t, second(f.Token(ctx, Attempt{Address: fmt.Sprintf("10.0.%d.%d", i, j), Listener: "http"}, "dsc_x")))
		}
	}
	if l, err := f.Logins(ctx, "ana", 10); err != nil || len(l) != 1 || l[0].Count != 5 {
		t.Errorf("got %+v, %v", l, err)
	}
	// One of them is being written, which takes as long as the disk does.
	f.attempts.trail.failed.mu.Lock()
	f.attempts.trail.writing.Lock()
	defer f.attempts.trail.writing.Unlock()
	defer f.attempts.trail.failed.mu.Unlock()
	done := make(chan error, 1)
	go func() { done <- second(f.Token(ctx, web, secret)) }()
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(10 * time.Second):
		t.Error("who came in before waits for a stranger's line")
	}
}

// The trail does not grow for ever, and failures do not drive out who came in.
func TestTrailIsTrimmed(t *testing.T) {
	f := setUp(t)
	must(t, second(login(f.Store, from("ana", home), f.password)))
	for i := range 50 {
		must(t, f.attempts.trail.add(from("ana", fmt.Sprint("10.0.0.", i)), loginDenied, ""))
	}
	must(t, f.attempts.trail.trim(10))
	l, err := f.Logins(ctx, "", 100)
	if err != nil || len(l) != 11 || l[0].Address != "10.0.0.49" || l[9].Address != "10.0.0.40" || l[10].Outcome != "in" {
		t.Errorf("%d lines, %v", len(l), err)
	}
}

// Nobody comes in without a line.
func TestNoLineNoEntry(t *testing.T) {
	f := setUp(t)
	_, err := f.db.Exec("DROP TABLE main.logins")
	must(t, err)
	if u, err := login(f.Store, from("ana", home), f.password); err == nil || u != (User{}) {
		t.Errorf("got %+v, %v", u, err)
	}
	secret, _, err := f.NewToken(ctx, "ana", "", time.Time{})
	must(t, err)
	if u, err := f.Token(ctx, Attempt{}, secret); err == nil || u != (User{}) {
		t.Errorf("got %+v, %v", u, err)
	}
}
