package clientlimits

import (
	"container/list"
	"sync"
)

// Slots counts connections. It is safe for concurrent use.
type Slots struct {
	Most       int // in all
	PerAddress int
	// Beyond is how many may be open where there is no slot and nobody makes room, without ever
	// logging in: to be told so, or to cancel something.
	Beyond int

	mu         sync.Mutex
	all        int
	byAddress  map[string]int // only addresses that are there: strangers choose them
	guests     guestQueue
	beyond     guestQueue
	turnedAway TurnedAwayConnections
}

// TurnedAwayConnections is how often since the start there was no room, in all or for an address,
// and how often a guest had to make some.
type TurnedAwayConnections struct{ Full, Address, MadeRoom uint64 }

func (c *Slots) TurnedAway() TurnedAwayConnections {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turnedAway
}

type Slot struct {
	guest
	slots   *Slots
	holders int // how often somebody who is logged in holds it
	counted bool
	full    Full
}

// Full says why there is no slot.
type Full int

const (
	NotFull     Full = iota
	ServerFull       // all slots are those of users
	AddressFull      // all slots of the address are
)

// Newcomer is a connection that wants a slot.
type Newcomer struct {
	Address  string // the block that it is counted with
	Familiar bool   // somebody logged in from there before
	Proxy    bool   // the address is a proxy's, and so many people's
	Cut      func() // ends it, where it has to make room
}

// Enter gives a connection a slot, or returns nil.
func (c *Slots) Enter(n Newcomer) *Slot {
	s := &Slot{guest: guest{address: n.Address, familiar: n.Familiar, cut: n.Cut}, slots: c}
	s.forget = s.leave
	evicted, ok := c.enter(s, n.Proxy)
	if evicted != nil {
		evicted.cut()
	}
	if !ok {
		return nil
	}
	return s
}

// enter returns who has to go, and whether there is a slot.
func (c *Slots) enter(s *Slot, proxy bool) (evicted *guest, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byAddress == nil {
		c.byAddress = map[string]int{}
	}
	switch {
	case c.byAddress[s.address] >= c.PerAddress && !proxy:
		if evicted = c.guests.firstOfMost(func(g *guest) bool { return g.address == s.address }); evicted == nil {
			s.full = AddressFull
			c.turnedAway.Address++
		}
	case c.all >= c.Most:
		evicted = c.guests.firstOfMost(isStranger)
		if evicted == nil && s.familiar {
			evicted = c.guests.firstOfMost(isAnybody)
		}
		if evicted == nil {
			s.full = ServerFull
			c.turnedAway.Full++
		}
	case !s.familiar && c.guests.strangers >= c.Most-c.Most/5:
		evicted = c.guests.firstOfMost(isStranger)
	}
	if s.full != NotFull {
		if c.Beyond == 0 {
			return nil, false
		}
		if c.beyond.order.Len() >= c.Beyond {
			evicted = c.beyond.order.Front().Value.(*guest)
			evicted.forget()
		}
		c.beyond.push(&s.guest)
		return evicted, true
	}
	if evicted != nil {
		c.turnedAway.MadeRoom++
		evicted.forget()
	}
	s.counted = true
	c.all++
	c.byAddress[s.address]++
	c.guests.push(&s.guest)
	return evicted, true
}

func (s *Slot) leave() {
	s.dequeue()
	if s.counted {
		s.counted = false
		s.slots.all--
		decrement(s.slots.byAddress, s.address)
	}
}

// Full says whether this slot is for being told that there is none, and why.
func (s *Slot) Full() Full { return s.full }

// Hold gives a slot to somebody who is logged in, until Release, unless it is gone.
func (s *Slot) Hold() bool {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	if !s.counted {
		return false
	}
	s.holders++
	s.dequeue()
	s.familiar = true // as a guest again, it is no stranger's
	return true
}

// Release gives back what Hold took; then the slot is a guest's again, the last that came.
func (s *Slot) Release() {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	if s.holders--; s.holders == 0 && s.counted {
		s.slots.guests.push(&s.guest)
	}
}

// Leave says that the connection is gone. It can be said again.
func (s *Slot) Leave() {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	s.leave()
}

// Count says how many connections there are, and how many of them from an address.
func (c *Slots) Count(address string) (all, here int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all + c.beyond.order.Len(), c.byAddress[address]
}

// guestQueue has those who are not logged in, in the order in which they came.
type guestQueue struct {
	order     list.List // of *guest
	byAddress map[string]int
	strangers int
}

// guest is what a connection or a request is until somebody has logged in with it.
type guest struct {
	address  string
	familiar bool   // somebody logged in from the address before
	cut      func() // ends it, where it has to make room
	forget   func() // uncounts it, behind the lock of whoever counts it

	queue   *guestQueue // nil where it cannot be asked to make room
	element *list.Element
}

func isStranger(g *guest) bool { return !g.familiar }
func isAnybody(*guest) bool    { return true }

func (q *guestQueue) push(g *guest) {
	if q.byAddress == nil {
		q.byAddress = map[string]int{}
	}
	g.queue, g.element = q, q.order.PushBack(g)
	q.byAddress[g.address]++
	if !g.familiar {
		q.strangers++
	}
}

func (g *guest) dequeue() {
	q := g.queue
	if q == nil {
		return
	}
	q.order.Remove(g.element)
	decrement(q.byAddress, g.address)
	if !g.familiar {
		q.strangers--
	}
	g.queue, g.element = nil, nil
}

// firstOfMost is the first that came of the address with the most guests, among some of them.
func (q *guestQueue) firstOfMost(among func(*guest) bool) (found *guest) {
	most := 0
	for e := q.order.Front(); e != nil; e = e.Next() {
		if g := e.Value.(*guest); q.byAddress[g.address] > most && among(g) {
			most, found = q.byAddress[g.address], g
		}
	}
	return found
}

// decrement counts down, and forgets who is at zero.
func decrement(m map[string]int, key string) {
	if m[key]--; m[key] <= 0 {
		delete(m, key)
	}
}
