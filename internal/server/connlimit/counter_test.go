package connlimit

import "testing"

func TestCounter(t *testing.T) {
	var c Counter
	for i, want := range []bool{true, true, false} { // two from one address
		if c.Enter("a", 3, 2) != want {
			t.Errorf("the %d. of a", i+1)
		}
	}
	if !c.Enter("b", 3, 2) || c.Enter("d", 3, 2) { // three in all
		t.Error("others")
	}
	if all, here := c.Count("a"); all != 3 || here != 2 {
		t.Errorf("%d, %d of them from a", all, here)
	}
	c.Leave("a")
	if !c.Enter("d", 3, 2) {
		t.Error("nobody made room")
	}
	for _, address := range []string{"a", "b", "d"} {
		c.Leave(address)
	}
	if all, _ := c.Count(""); all != 0 || len(c.from) != 0 {
		t.Errorf("%d are left, of %v", all, c.from)
	}
}
