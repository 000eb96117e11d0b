package clientlimits

import (
	"fmt"
	"testing"
)

// testSlots opens connections, and knows who is still there.
type testSlots struct {
	Slots
	open map[string]*Slot
}

func (c *testSlots) connect(name, address string, familiar bool) *Slot {
	if c.open == nil {
		c.open = map[string]*Slot{}
	}
	p := c.Enter(Newcomer{Address: address, Familiar: familiar, Cut: func() { delete(c.open, name) }})
	if p != nil {
		c.open[name] = p
	}
	return p
}

func (c *testSlots) checkHere(t *testing.T, name string, want bool) {
	t.Helper()
	if (c.open[name] != nil) != want {
		t.Errorf("%s is here: %v", name, !want)
	}
}

// Who comes first of the address with the most makes room, and nobody else.
func TestFullestMakesRoom(t *testing.T) {
	c := testSlots{Slots: Slots{Most: 10, PerAddress: 6}}
	c.connect("honest", "h", false)
	for i := range 6 {
		c.connect(fmt.Sprint("a", i), "a", false)
	}
	c.connect("b0", "b", false) // eight strangers, which is all but a fifth
	c.connect("b1", "b", false)
	c.checkHere(t, "a0", false)
	for _, name := range []string{"honest", "a1", "b0", "b1"} {
		c.checkHere(t, name, true)
	}
	c.connect("a6", "a", false)
	c.connect("a7", "a", false) // six of one address are enough
	c.checkHere(t, "a1", false)
	c.checkHere(t, "honest", true)
	if all, here := c.Count("a"); all != 8 || here != 5 {
		t.Errorf("%d, %d of them of a", all, here)
	}
	if got := c.TurnedAway(); got != (TurnedAwayConnections{MadeRoom: 3}) {
		t.Errorf("counted were %+v", got)
	}
}

// However many strangers come, from wherever, those who are known stay and find room.
func TestStrangersKeepNobodyOut(t *testing.T) {
	c := testSlots{Slots: Slots{Most: 10, PerAddress: 4}}
	if !c.connect("user", "u", false).Hold() {
		t.Fatal("no slot")
	}
	c.connect("waiting", "w", true)
	for i := range 100 {
		c.connect(fmt.Sprint("s", i), fmt.Sprint("s", i), false)
	}
	c.checkHere(t, "user", true)
	c.checkHere(t, "waiting", true)
	for i := range 4 {
		if p := c.connect(fmt.Sprint("f", i), "f", true); p == nil || !p.Hold() {
			t.Errorf("no slot for the %d. who is known", i+1)
		}
	}
	for i := range 100 {
		c.connect(fmt.Sprint("t", i), fmt.Sprint("t", i), false)
	}
	for i := range 4 {
		c.checkHere(t, fmt.Sprint("f", i), true)
	}
	c.checkHere(t, "waiting", true)
	if all, _ := c.Count(""); all != 10 {
		t.Errorf("%d are there", all)
	}
}

// Where users have all slots there is room for being told so, and no more.
func TestUsersFillIt(t *testing.T) {
	c := testSlots{Slots: Slots{Most: 4, PerAddress: 2, Beyond: 2}}
	for _, address := range []string{"a", "a", "b", "b"} {
		c.connect("user", address, true).Hold()
	}
	for i, want := range []Full{AddressFull, ServerFull, ServerFull} {
		p := c.connect(fmt.Sprint("more", i), []string{"a", "c", "d"}[i], true)
		if p == nil || p.Full() != want || p.Hold() {
			t.Errorf("the %d. more: %+v", i+1, p)
		}
	}
	c.checkHere(t, "more0", false)
	c.checkHere(t, "more1", true)
	if all, _ := c.Count(""); all != 6 {
		t.Errorf("%d are there", all)
	}
	if got := c.TurnedAway(); got != (TurnedAwayConnections{Full: 2, Address: 1}) {
		t.Errorf("counted were %+v", got)
	}
	none := testSlots{Slots: Slots{Most: 1, PerAddress: 1}}
	none.connect("user", "a", true).Hold()
	if none.connect("other", "b", true) != nil {
		t.Error("there was a slot")
	}
}

// A slot is a guest's again when nobody who is logged in has it; all counts end at nothing.
func TestRelease(t *testing.T) {
	c := testSlots{Slots: Slots{Most: 2, PerAddress: 2}}
	p := c.connect("page", "a", false)
	p.Hold()
	p.Hold()
	p.Release()
	c.connect("x", "b", true)
	c.connect("y", "b", true)
	c.checkHere(t, "page", true)
	p.Release()
	c.connect("z", "c", true)
	c.connect("zz", "c", true)
	if len(c.open) != 2 {
		t.Errorf("there are %v", c.open)
	}
	p.Leave()
	for _, q := range c.open {
		q.Leave()
		q.Leave()
	}
	if all, _ := c.Count(""); all != 0 || len(c.byAddress)+len(c.guests.byAddress)+c.guests.order.Len()+c.guests.strangers != 0 {
		t.Errorf("%d are left: %+v", all, &c.Slots)
	}
}
