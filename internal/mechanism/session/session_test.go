package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
)

var (
	ctx  = context.Background()
	half = dp.Cost{Epsilon: dp.One / 2, Rho: dp.One / 8}
)

func TestChargedOncePerName(t *testing.T) {
	m := NewMemory(account.PureFilter(dp.One))
	c := Charge{Name: "round 1", Mechanisms: "laplace b=2", Cost: half}
	first, err := m.Charge(ctx, c)
	if err != nil || first.Again || first.Sequence != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	for range 3 {
		again, err := m.Charge(ctx, c)
		if err != nil || !again.Again || again.Sequence != first.Sequence {
			t.Errorf("%+v, %v", again, err)
		}
	}
	if m.Spent() != half {
		t.Errorf("spent %v", m.Spent())
	}
	// The same name for something else is not paid for.
	for _, other := range []Charge{
		{"round 1", "laplace b=2", dp.Cost{Epsilon: dp.One / 4}},
		{"round 1", "laplace b=2", dp.Cost{Epsilon: dp.One}},
		{"round 1", "laplace b=1", half},
	} {
		if r, err := m.Charge(ctx, other); !errors.Is(err, ErrName) || r != (Receipt{}) || m.Spent() != half {
			t.Errorf("%+v: %+v, %v, spent %v", other, r, err, m.Spent())
		}
	}
	c.Name = "round 2"
	if r, err := m.Charge(ctx, c); err != nil || r.Again || r.Sequence != 2 || m.Spent() != half.Add(half) {
		t.Errorf("%+v, %v, spent %v", r, err, m.Spent())
	}
}

// A charge that does not fit spends nothing, leaves no name behind, and does not stand in the way
// of one that fits.
func TestRefusedOverBudget(t *testing.T) {
	m := NewMemory(account.PureFilter(dp.One * 3 / 4))
	if _, err := m.Charge(ctx, Charge{Name: "a", Cost: half}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r, err := m.Charge(ctx, Charge{Name: "b", Cost: half}); !errors.Is(err, ErrBudget) || r != (Receipt{}) || m.Spent() != half {
			t.Errorf("%+v, %v, spent %v", r, err, m.Spent())
		}
	}
	// What was paid for before stays paid.
	if r, err := m.Charge(ctx, Charge{Name: "a", Cost: half}); err != nil || !r.Again {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := m.Charge(ctx, Charge{Name: "b", Cost: dp.Cost{Epsilon: dp.One / 4}}); err != nil || r.Again || r.Sequence != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := m.Charge(ctx, Charge{Name: "c", Cost: dp.Cost{Epsilon: 1}}); !errors.Is(err, ErrBudget) {
		t.Errorf("%v", err)
	}
}

// The journal keeps its order, and nobody else's hands are on it.
func TestJournal(t *testing.T) {
	m := NewMemory(account.PureFilter(dp.One))
	if e, err := m.Entries(ctx); err != nil || len(e) != 0 {
		t.Fatalf("%v, %v", e, err)
	}
	text := []byte("first")
	for _, e := range [][]byte{text, {}, []byte("third")} {
		if err := m.Append(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	text[0] = 'x'
	entries, _ := m.Entries(ctx)
	entries[2][0] = 'x'
	entries, err := m.Entries(ctx)
	if err != nil || len(entries) != 3 || string(entries[0]) != "first" || len(entries[1]) != 0 || string(entries[2]) != "third" {
		t.Errorf("%q, %v", entries, err)
	}
}

func TestConcurrent(t *testing.T) {
	m := NewMemory(account.PureFilter(dp.One * 10))
	var wg sync.WaitGroup
	var mu sync.Mutex
	fresh := map[string]int{}
	for range 8 {
		wg.Go(func() {
			for i := range 30 {
				c := Charge{Name: fmt.Sprint("round ", i), Cost: half}
				r, err := m.Charge(ctx, c)
				if err == nil && !r.Again {
					mu.Lock()
					fresh[c.Name]++
					mu.Unlock()
				}
				if err := m.Append(ctx, []byte(c.Name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if len(fresh) != 20 || m.Spent().Epsilon != dp.One*10 {
		t.Errorf("%d names were charged, %v spent", len(fresh), m.Spent())
	}
	for name, n := range fresh {
		if n != 1 {
			t.Errorf("%s was charged %d times", name, n)
		}
	}
	if e, _ := m.Entries(ctx); len(e) != 240 || !slices.ContainsFunc(e, func(b []byte) bool { return string(b) == "round 29" }) {
		t.Errorf("%d entries", len(e))
	}
}
