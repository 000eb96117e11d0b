package clientlimits

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// Each limit holds, and says whose it is.
func TestLimits(t *testing.T) {
	c := NewCounter(Limits{User: 100, Floor: 10, Server: 200})
	full := func(err error, others bool) bool {
		var e *FullError
		return errors.As(err, &e) && e.Others == others && e.Wait > 0
	}
	a, b := c.Share("ana", 60), c.Share("ana", 60)
	for i, want := range []bool{true, true, false} {
		if err := a.Take(30); (err == nil) != want || !want && !full(err, false) {
			t.Errorf("the %d. take: %v", i+1, err)
		}
	}
	if err := b.Take(40); err != nil {
		t.Error(err)
	}
	if err := b.Take(1); !full(err, false) {
		t.Errorf("beyond the user's limit: %v", err)
	}
	for _, user := range []string{"ben", "cy"} {
		if err := c.Share(user, 0).Take(60); err != nil {
			t.Error(err)
		}
	}
	d := c.Share("dora", 0)
	if err := d.Take(21); !full(err, true) { // of 200, 90 + 50 + 50 are taken
		t.Errorf("beyond the server's limit: %v", err)
	}
	if err := d.Take(20); err != nil {
		t.Error(err)
	}
	if err := c.Share("eli", 0).Take(10); err != nil {
		t.Errorf("of one's own floor: %v", err)
	}
	if err := c.Share("eli", 0).Take(1); !full(err, true) {
		t.Error(err)
	}
}

// Who holds little may have one thing that is larger than a limit, and the server's stays.
func TestLarge(t *testing.T) {
	c := NewCounter(Limits{User: 100, Server: 1000})
	a := c.Share("ana", 60)
	if a.Take(15) != nil || a.Take(900) != nil {
		t.Error("one large thing")
	}
	if a.Take(1) == nil || c.Share("ana", 0).Take(1) == nil {
		t.Error("something beside it")
	}
	if c.Share("ben", 0).Take(86) == nil {
		t.Error("more than the server has")
	}
	a.Close()
	if err := a.Reserve(40); err != nil || a.Reserve(30) != nil || c.Held() != 40 {
		t.Error(err, c.Held())
	}
}

// Whatever is taken and given, the sums are those of the shares, and nobody stays who holds
// nothing.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	c := NewCounter(Limits{User: 500, Floor: 50, Server: 800})
	var all []*Share
	for range 20 {
		all = append(all, c.Share(string(rune('a'+r.IntN(6))), 300))
	}
	for range 20_000 {
		s := all[r.IntN(len(all))]
		switch r.IntN(5) {
		case 0:
			s.Close()
		case 1:
			s.Give(r.IntN(100))
		case 2:
			s.Reserve(r.IntN(200))
		default:
			s.Take(r.IntN(200))
		}
		users, sum := map[string]int{}, 0
		for _, s := range all {
			users[s.user] += s.held
			sum += s.held
		}
		beyond := 0
		for _, n := range users {
			beyond += max(0, n-50)
		}
		if c.all != sum || c.beyond != beyond || beyond > 800 {
			t.Fatalf("%d, %d beyond; want %d, %d", c.all, c.beyond, sum, beyond)
		}
	}
	for _, s := range all {
		s.Close()
	}
	if c.all != 0 || c.beyond != 0 || len(c.users) != 0 {
		t.Error(c.all, c.beyond, c.users)
	}
	var none *Share
	none.Give(1)
	none.Close()
	if none.Take(1<<40) != nil || none.Reserve(1<<40) != nil {
		t.Error("nobody's share is full")
	}
}
