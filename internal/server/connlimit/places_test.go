package connlimit

import (
	"fmt"
	"testing"
)

// crowd opens connections, and knows who is still there.
type crowd struct {
	Places
	open map[string]*Place
}

func (c *crowd) comes(name, address string, familiar bool) *Place {
	if c.open == nil {
		c.open = map[string]*Place{}
	}
	p := c.Enter(Newcomer{Address: address, Familiar: familiar, Cut: func() { delete(c.open, name) }})
	if p != nil {
		c.open[name] = p
	}
	return p
}

func (c *crowd) here(t *testing.T, name string, want bool) {
	t.Helper()
	if (c.open[name] != nil) != want {
		t.Errorf("%s is here: %v", name, !want)
	}
}

// Who comes first of the address with the most makes room, and nobody else.
func TestFullestMakesRoom(t *testing.T) {
	c := crowd{Places: Places{Most: 10, PerAddress: 6}}
	c.comes("honest", "h", false)
	for i := range 6 {
		c.comes(fmt.Sprint("a", i), "a", false)
	}
	c.comes("b0", "b", false) // eight strangers, which is all but a fifth
	c.comes("b1", "b", false)
	c.here(t, "a0", false)
	for _, name := range []string{"honest", "a1", "b0", "b1"} {
		c.here(t, name, true)
	}
	c.comes("a6", "a", false)
	c.comes("a7", "a", false) // six of one address are enough
	c.here(t, "a1", false)
	c.here(t, "honest", true)
	if all, here := c.Count("a"); all != 8 || here != 5 {
		t.Errorf("%d, %d of them of a", all, here)
	}
	if got := c.TurnedAway(); got != (TurnedAway{MadeRoom: 3}) {
		t.Errorf("counted were %+v", got)
	}
}

// However many strangers come, from wherever, those who are known stay and find room.
func TestStrangersKeepNobodyOut(t *testing.T) {
	c := crowd{Places: Places{Most: 10, PerAddress: 4}}
	if !c.comes("user", "u", false).Hold() {
		t.Fatal("no place")
	}
	c.comes("waiting", "w", true)
	for i := range 100 {
		c.comes(fmt.Sprint("s", i), fmt.Sprint("s", i), false)
	}
	c.here(t, "user", true)
	c.here(t, "waiting", true)
	for i := range 4 {
		if p := c.comes(fmt.Sprint("f", i), "f", true); p == nil || !p.Hold() {
			t.Errorf("no place for the %d. who is known", i+1)
		}
	}
	for i := range 100 {
		c.comes(fmt.Sprint("t", i), fmt.Sprint("t", i), false)
	}
	for i := range 4 {
		c.here(t, fmt.Sprint("f", i), true)
	}
	c.here(t, "waiting", true)
	if all, _ := c.Count(""); all != 10 {
		t.Errorf("%d are there", all)
	}
}

// Where users have all places there is room for being told so, and no more.
func TestUsersFillIt(t *testing.T) {
	c := crowd{Places: Places{Most: 4, PerAddress: 2, Beyond: 2}}
	for _, address := range []string{"a", "a", "b", "b"} {
		c.comes("user", address, true).Hold()
	}
	for i, want := range []Full{AddressFull, ServerFull, ServerFull} {
		p := c.comes(fmt.Sprint("more", i), []string{"a", "c", "d"}[i], true)
		if p == nil || p.Full() != want || p.Hold() {
			t.Errorf("the %d. more: %+v", i+1, p)
		}
	}
	c.here(t, "more0", false)
	c.here(t, "more1", true)
	if all, _ := c.Count(""); all != 6 {
		t.Errorf("%d are there", all)
	}
	if got := c.TurnedAway(); got != (TurnedAway{Full: 2, Address: 1}) {
		t.Errorf("counted were %+v", got)
	}
	none := crowd{Places: Places{Most: 1, PerAddress: 1}}
	none.comes("user", "a", true).Hold()
	if none.comes("other", "b", true) != nil {
		t.Error("there was a place")
	}
}

// A place is a guest's again when nobody who is logged in has it; all counts end at nothing.
func TestRelease(t *testing.T) {
	c := crowd{Places: Places{Most: 2, PerAddress: 2}}
	p := c.comes("page", "a", false)
	p.Hold()
	p.Hold()
	p.Release()
	c.comes("x", "b", true)
	c.comes("y", "b", true)
	c.here(t, "page", true)
	p.Release()
	c.comes("z", "c", true)
	c.comes("zz", "c", true)
	if len(c.open) != 2 {
		t.Errorf("there are %v", c.open)
	}
	p.Leave()
	for _, q := range c.open {
		q.Leave()
		q.Leave()
	}
	if all, _ := c.Count(""); all != 0 || len(c.from)+len(c.guestsOf)+c.guests.Len()+c.strangers != 0 {
		t.Errorf("%d are left: %+v", all, &c.Places)
	}
}
