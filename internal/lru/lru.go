// Package lru keeps what was used last, up to a size: what is asked again and again is made once,
// and what strangers can have somebody remember has a bound. Most of it can be made again, so that
// to forget it costs time and nothing else. Whoever keeps something else, such as a tally, says
// what is lost with it.
package lru

import (
	"container/list"
	"sync"
)

// Map keeps values by their keys. It is safe for concurrent use; whoever gets a value shares it
// with others, and does not change it without a lock of their own. The zero value keeps nothing.
type Map[K comparable, V any] struct {
	mu      sync.Mutex
	maxSize int
	size    int
	entries map[K]*list.Element
	order   list.List // of entries, the one that was used last in front
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int
}

// New returns a map for values of a size of at most so much, all together.
func New[K comparable, V any](most int) *Map[K, V] {
	return &Map[K, V]{maxSize: most, entries: map[K]*list.Element{}}
}

// Get returns what is kept under a key.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.entries[key]
	if !ok {
		return value, false
	}
	m.order.MoveToFront(at)
	return at.Value.(entry[K, V]).value, true
}

// oneValueShare is which part of the whole size one value may take.
const oneValueShare = 16

// Put keeps a value of a size. Those that were not used for longest are forgotten for it; one that
// is large is not kept.
func (m *Map[K, V]) Put(key K, value V, size int) {
	if size = max(size, 1); size > max(1, m.maxSize/oneValueShare) || m.maxSize == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok := m.entries[key]; ok {
		m.remove(at)
	}
	m.entries[key] = m.order.PushFront(entry[K, V]{key, value, size})
	for m.size += size; m.size > m.maxSize; {
		m.remove(m.order.Back())
	}
}

func (m *Map[K, V]) remove(at *list.Element) {
	e := m.order.Remove(at).(entry[K, V])
	delete(m.entries, e.key)
	m.size -= e.size
}

// Remove forgets a key.
func (m *Map[K, V]) Remove(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok := m.entries[key]; ok {
		m.remove(at)
	}
}

// Len is how many values are kept.
func (m *Map[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.entries)
}
