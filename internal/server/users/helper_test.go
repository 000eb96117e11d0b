package users

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/xdg-go/scram"

	"github.com/discreet-dp/discreet/internal/test/testpg"
)

var ctx = context.Background()

// hand is a clock that is moved by hand.
type hand struct {
	mu sync.Mutex
	at time.Time
}

func (h *hand) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hand) turn(by time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(by)
}

// fixture is a store with a user ana, and a clock.
type fixture struct {
	*Store
	*hand
	path, password string
}

// inDatabase says where the next fixtures are; see TestInDatabase.
var inDatabase bool

var schemas atomic.Int64

func nowhere(t testing.TB) string {
	t.Helper()
	if !inDatabase {
		return filepath.Join(t.TempDir(), "hospital.users")
	}
	return testpg.Shared(t).URL() + fmt.Sprintf("&schema=users_%d", schemas.Add(1))
}

func setUp(t testing.TB) *fixture {
	t.Helper()
	cheap(t)
	f := &fixture{hand: &hand{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, path: nowhere(t)}
	f.Store = f.again(t)
	var err error
	if f.password, err = f.Add(ctx, "ana", Analyst, ""); err != nil {
		t.Fatal(err)
	}
	return f
}

// cheap makes hashes cost little: the tests hash often. TestCosts is about what they cost others.
func cheap(t testing.TB) {
	memory, rounds := hashCost.memory, scramRounds
	hashCost.memory, scramRounds = 64, 64
	t.Cleanup(func() { hashCost.memory, scramRounds = memory, rounds })
}

// again opens the same users once more, as another process would.
func (f *fixture) again(t testing.TB) *Store {
	t.Helper()
	s, err := openAt(f.path, true, f.hand.now)
	require(t, err)
	t.Cleanup(func() { s.Close() })
	s.hashes.rest = 0 // the tests guess often
	return s
}

func from(name, address string) Attempt {
	return Attempt{Name: name, Address: address, Listener: "wire"}
}

// login does what a driver does.
func login(s *Store, a Attempt, password string) (User, error) {
	e, err := s.Exchange(ctx, a)
	if err != nil {
		return User{}, err
	}
	defer e.Close()
	client, err := driver(password)
	if err != nil {
		return User{}, err
	}
	return talk(e, client.NewConversation())
}

var drivers sync.Map

// driver returns the client of a password. A client remembers what it has derived for a salt, which
// takes it long.
func driver(password string) (*scram.Client, error) {
	if c, ok := drivers.Load(password); ok {
		return c.(*scram.Client), nil
	}
	c, err := scram.SHA256.NewClient("", password, "")
	if err == nil {
		drivers.Store(password, c.WithMinIterations(scramRounds))
	}
	return c, err
}

func talk(e *Exchange, c *scram.ClientConversation) (User, error) {
	message, err := c.Step("")
	if err != nil {
		return User{}, err
	}
	for {
		reply, done, err := e.Step(ctx, message)
		if err != nil {
			return User{}, err
		}
		if message, err = c.Step(reply); err != nil {
			return User{}, err
		}
		if done {
			if !c.Valid() {
				return User{}, errors.New("the server did not prove that it knows the password")
			}
			return e.User(), nil
		}
	}
}

// denied wants the one error that says nothing.
func denied(t testing.TB, err error) {
	t.Helper()
	if err != ErrDenied {
		t.Errorf("got %v; want ErrDenied", err)
	}
}

func locked(t testing.TB, err error, wait time.Duration) {
	t.Helper()
	var l *LockedError
	if !errors.As(err, &l) || l.Wait != wait {
		t.Errorf("got %#v; want a wait of %v", err, wait)
	}
}

// require ends the test where something went wrong; must goes on, and can be called beside it.
func require(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
