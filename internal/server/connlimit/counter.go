// Package connlimit limits what strangers cost: how many connections there are, in all and from
// each address, and how much each may send before anybody knows who it is.
package connlimit

import "sync"

// Counter counts connections. The zero value is nobody. It is safe for concurrent use.
type Counter struct {
	mu   sync.Mutex
	all  int
	from map[string]int // only addresses that are there: strangers choose them
}

// Enter counts a connection from an address, unless there are so many already, in all or from this
// one.
func (c *Counter) Enter(address string, most, perAddress int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= most || c.from[address] >= perAddress {
		return false
	}
	if c.from == nil {
		c.from = map[string]int{}
	}
	c.all++
	c.from[address]++
	return true
}

// Leave counts one fewer.
func (c *Counter) Leave(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.from[address]--; c.from[address] == 0 {
		delete(c.from, address)
	}
}

// Count says how many are there, and how many of them from an address.
func (c *Counter) Count(address string) (all, here int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all, c.from[address]
}
