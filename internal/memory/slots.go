package memory

import (
	"context"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
)

// Memory is what was released, in the ledger, and which of it is known here. What is in the slots
// of families stays, so it is read once. An answer that is found nowhere is looked for again.
type Memory struct {
	ledger   ledger.Ledger
	arrivals arrivals

	taking   sync.Mutex      // one at a time takes slots
	reserved map[string]bool // taken, and perhaps not kept yet

	mu    sync.Mutex
	known map[string]*source
	cells int
}

// New returns the memory of a ledger.
func New(l ledger.Ledger) *Memory { return &Memory{ledger: l} }

// The ledger keeps what a price admits, and 2 MB more for what the values are of: this does not
// compile where it does not.
const _ = uint(ledger.MaxAnswer - 2<<20 - pricing.MaxBytes)

// maxReserved is how many slots are remembered as reserved. Those that were kept are found in the
// ledger.
const maxReserved = 1 << 12

// maxRemembered is how many noisy numbers are remembered: eight bytes each.
const maxRemembered = 1 << 20

func (m *Memory) get(key string) *source {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[key]
}

func (m *Memory) put(key string, s *source) {
	size := 16
	for _, v := range s.values {
		size += len(v)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if size > maxRemembered/16 {
		return
	}
	if m.known == nil || m.cells+size > maxRemembered {
		m.known, m.cells = map[string]*source{}, 0
	}
	m.known[key] = s
	m.cells += size
}

// find returns what is in a slot, or nil.
func (m *Memory) find(ctx context.Context, key string) (*source, error) {
	if s := m.get(key); s != nil {
		return s, nil
	}
	text, sequence, found, err := m.ledger.Recall(ctx, key)
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
	m.put(key, s)
	return s, nil
}

// take returns the first free slot of each family, where there is one, and reserves it. Families
// that are named twice get two.
func (m *Memory) take(ctx context.Context, families [][]string) ([][]string, error) {
	m.taking.Lock()
	defer m.taking.Unlock()
	if len(m.reserved) > maxReserved || m.reserved == nil {
		m.reserved = map[string]bool{} // two answers in one slot do no harm: the first is found
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
				s, err := m.find(ctx, slot(family, n))
				if err != nil {
					return nil, err
				}
				if s == nil && !m.reserved[slot(family, n)] {
					out[i] = append(out[i], slot(family, n))
					m.reserved[slot(family, n)] = true
					break
				}
			}
			taken[family] = n + 1
		}
	}
	return out, nil
}

// giveBack frees slots in which nothing was kept.
func (m *Memory) giveBack(where [][]string) {
	m.taking.Lock()
	defer m.taking.Unlock()
	for _, all := range where {
		for _, slot := range all {
			delete(m.reserved, slot)
		}
	}
}

// Keep stores what was bought, where it is found by itself and by questions that can be made of it.
func (m *Memory) Keep(ctx context.Context, sequence uint64, buys []*pricing.Purchase, bought []*answers.Released, version string) error {
	defer m.arrivals.note(sequence)()
	found := make([][]string, len(buys))
	for i, b := range buys {
		found[i] = families(b, version)
	}
	where, err := m.take(ctx, found)
	if err != nil { // what was paid for is kept nevertheless
		where = make([][]string, len(buys))
	}
	key := ledger.JoinKeys(append([]string{keyOf(buys, version)}, slices.Concat(where...)...)...)
	if ledger.ValidateKey(key) != nil { // so many, with such long names, that there is no room for families
		m.giveBack(where)
		key, where = keyOf(buys, version), make([][]string, len(buys))
	}
	stored, err := encode(buys, bought, where)
	if err == nil {
		err = m.ledger.Keep(ctx, sequence, key, stored)
	}
	if err != nil {
		m.giveBack(where)
	}
	return err
}

// families are those under which a purchase is found: itself at another price, and what is made of
// its groups.
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

// keyOf names the answers of several purchases that are bought together. Each is found by its own
// name.
func keyOf(buys []*pricing.Purchase, version string) string {
	keys := make([]string, len(buys))
	for i, b := range buys {
		keys[i] = b.Key(version)
	}
	return ledger.JoinKeys(keys...)
}
