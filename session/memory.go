package session

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
)

var (
	// ErrBudget is returned when a charge does not fit into what is left. Nothing was spent.
	ErrBudget = errors.New("the budget does not admit this charge")
	// ErrName is returned when a name comes again with another charge. Nothing was spent, and what
	// the name stands for must not be drawn: it was not paid for.
	ErrName = errors.New("this name was charged before, with another cost or another mechanism")
)

// Memory is a host that forgets with the process. It is safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	filter  account.Filter
	spent   dp.Cost
	names   map[string]charged
	entries [][]byte
}

type charged struct {
	Charge
	sequence uint64
}

// NewMemory returns a host with a budget.
func NewMemory(f account.Filter) *Memory { return &Memory{filter: f, names: map[string]charged{}} }

// Charge implements [Host].
func (m *Memory) Charge(_ context.Context, c Charge) (Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.names[c.Name]; ok {
		if old.Charge != c {
			return Receipt{}, ErrName
		}
		return Receipt{Sequence: old.sequence, Again: true}, nil
	}
	if !m.filter.Admits(m.spent, c.Cost) {
		return Receipt{}, ErrBudget
	}
	m.spent = m.spent.Add(c.Cost)
	n := uint64(len(m.names) + 1)
	m.names[c.Name] = charged{c, n}
	return Receipt{Sequence: n}, nil
}

// Append implements [Host].
func (m *Memory) Append(_ context.Context, entry []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = append(m.entries, slices.Clone(entry))
	return nil
}

// Entries implements [Host].
func (m *Memory) Entries(context.Context) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([][]byte, len(m.entries))
	for i, e := range m.entries {
		out[i] = slices.Clone(e)
	}
	return out, nil
}

// Spent returns what was charged.
func (m *Memory) Spent() dp.Cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent
}
