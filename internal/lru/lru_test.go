package lru_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/lru"
)

func TestMap(t *testing.T) {
	m := lru.New[string, int](32)
	for i := range 33 {
		m.Put(fmt.Sprint(i), i, 1)
		if v, ok := m.Get("0"); i < 32 && (!ok || v != 0) {
			t.Fatalf("after %d the first is %v, %v", i, v, ok)
		}
	}
	if _, ok := m.Get("1"); ok || m.Len() != 32 {
		t.Errorf("%d are kept, and the one that was not used longest is among them: %v", m.Len(), ok)
	}
	m.Put("0", 7, 2)
	if v, _ := m.Get("0"); v != 7 || m.Len() != 31 {
		t.Errorf("the first is %d, of %d", v, m.Len())
	}
	m.Put("large", 1, 3)
	if _, ok := m.Get("large"); ok {
		t.Error("what is large was kept")
	}
	var none lru.Map[string, int]
	none.Put("a", 1, 1)
	if _, ok := none.Get("a"); ok {
		t.Error("a map without a size kept something")
	}
}

func TestConcurrent(t *testing.T) {
	m := lru.New[int, int](100)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 10_000 {
				m.Put(i%300, i%300, 1)
				if v, ok := m.Get((i + 7) % 300); ok && v != (i+7)%300 {
					t.Errorf("%d is another's", v)
				}
			}
		})
	}
	all.Wait()
	if m.Len() > 100 {
		t.Errorf("%d are kept", m.Len())
	}
}
