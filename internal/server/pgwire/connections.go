package pgwire

import (
	"errors"
	"sync"
	"syscall"

	"github.com/discreet-dp/discreet/internal/server/connlimit"
)

// reserve is how many connections may be open beyond a limit, without ever becoming a session: they
// are told that there are too many, or they cancel what a session does, which must work above all
// when the server is full of sessions.
const reserve = 32

// connections counts them, and what those who logged in have open.
type connections struct {
	perUser int

	places *connlimit.Places

	mu     sync.Mutex
	users  map[string]int
	turned uint64 // how often a user had as many as a user can have
}

func newConnections(o Options) *connections {
	return &connections{perUser: o.PerUser, places: &connlimit.Places{Most: o.Connections, PerAddress: o.PerAddress, Beyond: reserve},
		users: map[string]int{}}
}

// noPlace says why a connection that is counted cannot become a session.
func noPlace(p *connlimit.Place) error {
	switch p.Full() {
	case connlimit.ServerFull:
		return fatal(tooManyConnections, "the server has as many connections as it takes; try again later")
	case connlimit.AddressFull:
		return fatal(tooManyConnections, "there are as many connections from this address as the server takes; close some")
	}
	return nil
}

// login counts a session of a user's.
func (c *connections) login(user string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users[user] >= c.perUser {
		c.turned++
		return false
	}
	c.users[user]++
	return true
}

func (c *connections) logout(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	less(c.users, user)
}

func (c *connections) size() int {
	all, _ := c.places.Count("")
	return all
}

// less counts down, and forgets who is at zero: the keys are chosen by strangers.
func less(m map[string]int, key string) {
	if m[key]--; m[key] <= 0 {
		delete(m, key)
	}
}

// passing says whether accepting may work again soon.
func passing(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
