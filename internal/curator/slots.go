package curator

import (
	"context"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
)

// slots remembers what is in the slots of families. What was kept under a key stays, so it is read once. An answer that is
// found nowhere is looked for again.
type slots struct {
	taking   sync.Mutex      // one at a time takes slots
	reserved map[string]bool // taken, and perhaps not kept yet

	mu    sync.Mutex
	known map[string]*source
	cells int
}

// The ledger keeps what a price admits, and 2 MB more for what the values are of: this does not compile where it does not.
const _ = uint(ledger.MaxAnswer - 2<<20 - pricing.MaxBytes)

// maxReserved is how many slots are remembered as reserved. Those that were kept are found in the ledger.
const maxReserved = 1 << 12

// maxRemembered is how many noisy numbers are remembered: eight bytes each.
const maxRemembered = 1 << 20

func (p *slots) get(key string) *source {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[key]
}

func (p *slots) put(key string, s *source) {
	size := 16
	for _, v := range s.values {
		size += len(v)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if size > maxRemembered/16 {
		return
	}
	if p.known == nil || p.cells+size > maxRemembered {
		p.known, p.cells = map[string]*source{}, 0
	}
	p.known[key] = s
	p.cells += size
}

// at returns what is in a slot, or nil.
func (c *Curator) at(ctx context.Context, key string) (*source, error) {
	if s := c.slots.get(key); s != nil {
		return s, nil
	}
	text, sequence, found, err := c.ledger.Recall(ctx, key)
	if err != nil || !found {
		return nil, err
	}
	s, err := decodeSource(text, key)
	if err != nil {
		s = &source{} // the slot is taken, and by nothing that can be used
	}
	s.sequence = sequence
	for _, n := range s.noise {
		s.variances = append(s.variances, variance(n))
	}
	c.slots.put(key, s)
	return s, nil
}

// take returns the first free slot of each family, where there is one, and reserves it. Families that are named twice get two.
func (c *Curator) take(ctx context.Context, families [][]string) ([][]string, error) {
	c.slots.taking.Lock()
	defer c.slots.taking.Unlock()
	if len(c.slots.reserved) > maxReserved || c.slots.reserved == nil {
		c.slots.reserved = map[string]bool{} // two answers in one slot do no harm: the first is found
	}
	taken := map[string]int{}
	out := make([][]string, len(families))
	for i, all := range families {
		for k, family := range all {
			most := sameSlots
			if k > 0 {
				most = cellSlots
			}
			n := taken[family]
			for ; n < most; n++ {
				s, err := c.at(ctx, slot(family, n))
				if err != nil {
					return nil, err
				}
				if s == nil && !c.slots.reserved[slot(family, n)] {
					out[i] = append(out[i], slot(family, n))
					c.slots.reserved[slot(family, n)] = true
					break
				}
			}
			taken[family] = n + 1
		}
	}
	return out, nil
}

// giveBack frees slots in which nothing was kept.
func (c *Curator) giveBack(where [][]string) {
	c.slots.taking.Lock()
	defer c.slots.taking.Unlock()
	for _, all := range where {
		for _, slot := range all {
			delete(c.slots.reserved, slot)
		}
	}
}

// keep stores what was bought, where it is found by itself and by questions that can be made of it.
func (c *Curator) keep(ctx context.Context, sequence uint64, buys []*pricing.Purchase, bought []*answers.Released, version string) error {
	defer c.fresh.begin(sequence)()
	found := make([][]string, len(buys))
	for i, b := range buys {
		found[i] = families(b, version)
	}
	where, err := c.take(ctx, found)
	if err != nil { // what was paid for is kept nevertheless
		where = make([][]string, len(buys))
	}
	key := ledger.JoinKeys(append([]string{keyOf(buys, version)}, slices.Concat(where...)...)...)
	if ledger.ValidateKey(key) != nil { // so many, with such long names, that there is no room for families
		c.giveBack(where)
		key, where = keyOf(buys, version), make([][]string, len(buys))
	}
	stored, err := encode(buys, bought, where)
	if err == nil {
		err = c.ledger.Keep(ctx, sequence, key, stored)
	}
	if err != nil {
		c.giveBack(where)
	}
	return err
}

// families are those under which a purchase is found: itself at another price, and what is made of its groups.
func families(b *pricing.Purchase, version string) []string {
	if !b.Reusable() {
		return nil
	}
	out := []string{sameFamily(b, version)}
	if family, _, ok := cellKeys(b); ok {
		out = append(out, placed(version, "cells", family))
	}
	return out
}

// keyOf names the answers of several purchases that are bought together. Each is found by its own name.
func keyOf(buys []*pricing.Purchase, version string) string {
	keys := make([]string, len(buys))
	for i, b := range buys {
		keys[i] = b.Key(version)
	}
	return ledger.JoinKeys(keys...)
}
