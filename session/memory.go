package session

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
)

// ErrBudget is returned when a charge does not fit into what is left. Nothing was spent.
var ErrBudget = errors.New("the budget does not admit this charge")

// Memory is a host that forgets with the process. It is safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	filter  account.Filter
	spent   dp.Cost
	names   map[string]uint64
	entries [][]byte
}

// NewMemory returns a host with a budget.
func NewMemory(f account.Filter) *Memory { return &Memory{filter: f, names: map[string]uint64{}} }

// Charge implements [Host].
func (m *Memory) Charge(_ context.Context, c Charge) (Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n, ok := m.names[c.Name]; ok {
		return Receipt{Sequence: n, Again: true}, nil
	}
	if !m.filter.Admits(m.spent, c.Cost) {
		return Receipt{}, ErrBudget
	}
	m.spent = m.spent.Add(c.Cost)
	n := uint64(len(m.names) + 1)
	m.names[c.Name] = n
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
	return slices.Clone(m.entries), nil
}

// Spent returns what was charged.
func (m *Memory) Spent() dp.Cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent
}
