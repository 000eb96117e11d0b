// Package crowd counts who is there: all connections of a door, and those of each address.
package crowd

import "sync"

// Crowd counts connections. The zero value is nobody. It is safe for concurrent use.
type Crowd struct {
	mu   sync.Mutex
	all  int
	from map[string]int // only addresses that are there: strangers choose them
}

// Enter counts a connection from an address, unless there are so many already, in all or from this one.
func (c *Crowd) Enter(address string, most, perAddress int) bool {
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
func (c *Crowd) Leave(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.from[address]--; c.from[address] == 0 {
		delete(c.from, address)
	}
}

// Count says how many are there, and how many of them from an address.
func (c *Crowd) Count(address string) (all, here int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all, c.from[address]
}
