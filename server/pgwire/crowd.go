package pgwire

import (
	"errors"
	"sync"
	"syscall"
)

// reserve is how many connections may be open beyond a limit, without ever becoming a session: they are told that there are too many, or
// they cancel what a session does, which must work above all when the house is full.
const reserve = 32

// crowd counts connections: all of them, those of an address, and those of a user.
type crowd struct {
	all, perAddress, perUser int

	mu        sync.Mutex
	n         int
	addresses map[string]int
	users     map[string]int
	held      map[string]int // bytes of rows, by user
}

func newCrowd(o Options) *crowd {
	return &crowd{all: o.Connections, perAddress: o.PerAddress, perUser: o.PerUser, addresses: map[string]int{}, users: map[string]int{}, held: map[string]int{}}
}

// enter counts a connection, unless there is no room even to tell it so.
func (c *crowd) enter(address string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n >= c.all+reserve || c.addresses[address] >= c.perAddress+reserve {
		return false
	}
	c.n++
	c.addresses[address]++
	return true
}

func (c *crowd) leave(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
	less(c.addresses, address)
}

// full says why a connection that is counted cannot become a session.
func (c *crowd) full(address string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.n > c.all:
		return fatal(tooManyConnections, "the server has as many connections as it takes; try again later")
	case c.addresses[address] > c.perAddress:
		return fatal(tooManyConnections, "there are as many connections from this address as the server takes; close some")
	}
	return nil
}

// login counts a session of a user's.
func (c *crowd) login(user string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users[user] >= c.perUser {
		return false
	}
	c.users[user]++
	return true
}

func (c *crowd) logout(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	less(c.users, user)
}

// hold counts bytes that a user's sessions hold, more or fewer of them, unless these would be too many.
func (c *crowd) hold(user string, more int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if more > 0 && c.held[user]+more > maxHeldByUser {
		return false
	}
	if c.held[user] += more; c.held[user] == 0 {
		delete(c.held, user)
	}
	return true
}

func (c *crowd) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
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
