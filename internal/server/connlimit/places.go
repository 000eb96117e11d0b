// Package connlimit limits what strangers cost: how many connections there are, in all and from
// each address, who makes room when there are as many as may be, and how much each may send before
// anybody knows who it is.
//
// A connection on which nobody has logged in is a guest. Where there is no room for a newcomer, a
// guest makes some, so that whoever opens connections and says nothing keeps nobody out: of the
// addresses with the most guests the one that came first. A fifth of all connections is for those
// who are logged in and for guests from addresses that somebody logged in from before, and
// strangers never take the place of these.
package connlimit

import (
	"container/list"
	"sync"
)

// Places counts connections. It is safe for concurrent use.
type Places struct {
	Most       int // in all
	PerAddress int
	// Beyond is how many may be open where there is no room and nobody makes any, without ever
	// logging in: to be told so, or to cancel something.
	Beyond int

	mu        sync.Mutex
	all       int
	from      map[string]int // only addresses that are there: strangers choose them
	guests    list.List      // those that came first are first
	guestsOf  map[string]int
	strangers int
	beyond    list.List
	turned    TurnedAway
}

// TurnedAway is how often since the start there was no room, in all or for an address, and how
// often a guest had to make some.
type TurnedAway struct{ Full, Address, MadeRoom uint64 }

// TurnedAway is what was counted of it.
func (c *Places) TurnedAway() TurnedAway {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turned
}

// Place is what one connection has.
type Place struct {
	in       *Places
	address  string
	familiar bool
	cut      func()

	queue   *list.List // that it is in, or nil
	element *list.Element
	held    int // how often somebody who is logged in holds it
	counted bool
	full    Full
}

// Full says why there is no room.
type Full int

// The reasons.
const (
	HasRoom     Full = iota
	ServerFull       // all places are those of users
	AddressFull      // all places of the address are
)

// Newcomer is a connection that wants a place.
type Newcomer struct {
	Address  string // the block that it is counted with
	Familiar bool   // somebody logged in from there before
	Several  bool   // the address is a proxy's, and so many people's
	Cut      func() // ends it, where it has to make room
}

// Enter gives a connection a place, or returns nil.
func (c *Places) Enter(n Newcomer) *Place {
	p := &Place{in: c, address: n.Address, familiar: n.Familiar, cut: n.Cut}
	out, ok := c.enter(p, n.Several)
	if out != nil {
		out.cut()
	}
	if !ok {
		return nil
	}
	return p
}

// enter returns who has to go, and whether there is a place.
func (c *Places) enter(p *Place, several bool) (out *Place, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.from == nil {
		c.from, c.guestsOf = map[string]int{}, map[string]int{}
	}
	switch {
	case c.from[p.address] >= c.PerAddress && !several:
		if out = c.fullest(&c.guests, func(g *Place) bool { return g.address == p.address }); out == nil {
			p.full = AddressFull
		}
	case c.all >= c.Most:
		out = c.fullest(&c.guests, func(g *Place) bool { return !g.familiar })
		if out == nil && p.familiar {
			out = c.fullest(&c.guests, func(*Place) bool { return true })
		}
		if out == nil {
			p.full = ServerFull
		}
	case !p.familiar && c.strangers >= c.Most-c.Most/5:
		out = c.fullest(&c.guests, func(g *Place) bool { return !g.familiar })
	}
	switch p.full {
	case ServerFull:
		c.turned.Full++
	case AddressFull:
		c.turned.Address++
	}
	if p.full != HasRoom {
		if c.Beyond == 0 {
			return nil, false
		}
		if c.beyond.Len() >= c.Beyond {
			out = c.beyond.Front().Value.(*Place)
			out.leave()
		}
		p.queue, p.element = &c.beyond, c.beyond.PushBack(p)
		return out, true
	}
	if out != nil {
		c.turned.MadeRoom++
		out.leave()
	}
	p.counted = true
	c.all++
	c.from[p.address]++
	p.wait()
	return out, true
}

// fullest is the first that came of the address with the most guests, among some of them.
func (c *Places) fullest(of *list.List, among func(*Place) bool) (found *Place) {
	most := 0
	for e := of.Front(); e != nil; e = e.Next() {
		if p := e.Value.(*Place); c.guestsOf[p.address] > most && among(p) {
			most, found = c.guestsOf[p.address], p
		}
	}
	return found
}

// wait makes a place a guest's.
func (p *Place) wait() {
	c := p.in
	p.queue, p.element = &c.guests, c.guests.PushBack(p)
	c.guestsOf[p.address]++
	if !p.familiar {
		c.strangers++
	}
}

// unqueue makes a place one that nobody can be asked to leave.
func (p *Place) unqueue() {
	c := p.in
	if p.queue == nil {
		return
	}
	p.queue.Remove(p.element)
	if p.queue == &c.guests {
		less(c.guestsOf, p.address)
		if !p.familiar {
			c.strangers--
		}
	}
	p.queue, p.element = nil, nil
}

// leave forgets a place.
func (p *Place) leave() {
	p.unqueue()
	if p.counted {
		p.counted = false
		p.in.all--
		less(p.in.from, p.address)
	}
}

// Full says whether this place is for being told that there is no room, and why.
func (p *Place) Full() Full { return p.full }

// Hold gives a place to somebody who is logged in, until Release, unless it is gone.
func (p *Place) Hold() bool {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	if !p.counted {
		return false
	}
	p.held++
	p.unqueue()
	p.familiar = true // as a guest again, it is no stranger's
	return true
}

// Release gives back what Hold took; then the place is a guest's again, the last that came.
func (p *Place) Release() {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	if p.held--; p.held == 0 && p.counted {
		p.wait()
	}
}

// Leave says that the connection is gone. It can be said again.
func (p *Place) Leave() {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	p.leave()
}

// Count says how many connections there are, and how many of them from an address.
func (c *Places) Count(address string) (all, here int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all + c.beyond.Len(), c.from[address]
}

// less counts down, and forgets who is at zero.
func less(m map[string]int, key string) {
	if m[key]--; m[key] <= 0 {
		delete(m, key)
	}
}
