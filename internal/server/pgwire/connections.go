package pgwire

import (
	"errors"
	"sync"
	"syscall"

	"github.com/discreet-dp/discreet/internal/server/connlimit"
)

// reserve is how many connections may be open beyond a limit, without ever becoming a session: they
// are told that there are too many, or they cancel what a session does, which must work above all
// when the server is full.
const reserve = 32

// connections counts them, and what those who logged in have open.
type connections struct {
	all, perAddress, perUser int

	count connlimit.Counter

	mu    sync.Mutex
	users map[string]int
}

func newConnections(o Options) *connections {
	return &connections{all: o.Connections, perAddress: o.PerAddress, perUser: o.PerUser, users: map[string]int{}}
}

// enter counts a connection, unless there is no room even to tell it so.
func (c *connections) enter(address string) bool {
	return c.count.Enter(address, c.all+reserve, c.perAddress+reserve)
}

func (c *connections) leave(address string) { c.count.Leave(address) }

// full says why a connection that is counted cannot become a session.
func (c *connections) full(address string) error {
	switch all, here := c.count.Count(address); {
	case all > c.all:
		return fatal(tooManyConnections, "the server has as many connections as it takes; try again later")
	case here > c.perAddress:
		return fatal(tooManyConnections, "there are as many connections from this address as the server takes; close some")
	}
	return nil
}

// login counts a session of a user's.
func (c *connections) login(user string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users[user] >= c.perUser {
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
	all, _ := c.count.Count("")
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
