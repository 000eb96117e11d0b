package ledgertest

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

func Promise3OncePerRequest(t *testing.T, w World) {
	l := w.Open(t)
	c := Ask("r", Hospital(10))
	first := MustCharge(t, l, c)
	MustKeep(t, l, first.Sequence, "key", "42")
	for range 2 {
		again := MustCharge(t, l, c)
		if !again.Again || first.Again || again.Sequence != first.Sequence || again.Hash != first.Hash ||
			!again.Time.Equal(first.Time) || again.Cost != first.Cost || again.Balances[0] != first.Balances[0] {
			t.Fatalf("got %+v; want %+v", again, first)
		}
		// With no budget left, and with another limit, it is still the same request.
		c.Accounts = []ledger.Account{Hospital(1)}
		if again := MustCharge(t, l, c); !again.Again {
			t.Fatal("not known again")
		}
		if n := Spent(t, l, "hospital"); n != 1 {
			t.Fatalf("spent %d times", n)
		}
		// And after the ledger was closed and opened.
		MustClose(t, l)
		l = w.Open(t)
	}
	for _, differs := range []struct {
		name   string
		change func(*ledger.Charge)
	}{
		{"analyst", func(c *ledger.Charge) { c.Analyst = "ben" }},
		{"data set", func(c *ledger.Charge) { c.Dataset = "school" }},
		{"data version", func(c *ledger.Charge) { c.DataVersion = "v2" }},
		{"question or price", func(c *ledger.Charge) { c.Query = strings.Repeat("0", 64) }},
		{"question or price", func(c *ledger.Charge) { c.Cost.Rho++ }},
	} {
		name, other := differs.name, c
		differs.change(&other)
		var request *ledger.RequestError
		if _, err := l.Charge(ctx, other); !errors.As(err, &request) || request.Differs != name {
			t.Errorf("another %s: got %v; want a RequestError", name, err)
		}
	}
	// One charge pays for one answer.
	MustKeep(t, l, first.Sequence, "key", "42")
	if err := l.Keep(ctx, first.Sequence, "key", []byte("43")); !errors.Is(err, ledger.ErrKept) {
		t.Errorf("a second answer: got %v; want ErrKept", err)
	}
	if err := l.Keep(ctx, first.Sequence, "another key", []byte("42")); !errors.Is(err, ledger.ErrKept) {
		t.Errorf("a second key: got %v; want ErrKept", err)
	}
	for _, sequence := range []uint64{0, 2, 3, math.MaxUint64} {
		if err := l.Keep(ctx, sequence, "key", []byte("44")); !errors.Is(err, ledger.ErrUnpaid) {
			t.Errorf("an answer for record %d: got %v; want ErrUnpaid", sequence, err)
		}
	}
	if answer, found, err := l.Answer(ctx, "r"); string(answer) != "42" || !found || err != nil {
		t.Errorf("got %q, %v, %v", answer, found, err)
	}
	if answer, sequence, found, err := l.Recall(ctx, "key"); string(answer) != "42" || sequence != first.Sequence || !found || err != nil {
		t.Errorf("got %q, %d, %v, %v", answer, sequence, found, err)
	}
}

// Promise3ManyAtOnce: The same request at the same moment is charged once, and one of several
// answers to it counts.
func Promise3ManyAtOnce(t *testing.T, w World) {
	l := w.Open(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	fresh, kept := 0, map[string]bool{}
	for i := range 50 {
		wg.Go(func() {
			r, err := l.Charge(ctx, Ask("the same", Hospital(50)))
			if err != nil {
				t.Error(err)
				return
			}
			answer := fmt.Sprint("noise ", i)
			err = l.Keep(ctx, r.Sequence, "key", []byte(answer))
			mu.Lock()
			defer mu.Unlock()
			if !r.Again {
				fresh++
			}
			if err == nil {
				kept[answer] = true
			} else if !errors.Is(err, ledger.ErrKept) {
				t.Errorf("got %v; want ErrKept", err)
			}
		})
	}
	wg.Wait()
	answer, found, err := l.Answer(ctx, "the same")
	if fresh != 1 || len(kept) != 1 || !found || err != nil || !kept[string(answer)] {
		t.Errorf("charged %d times, kept %v, found %q, %v", fresh, kept, answer, err)
	}
	if n := Spent(t, l, "hospital"); n != 1 {
		t.Errorf("spent %d", n)
	}
}
