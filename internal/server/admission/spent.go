package admission

import (
	"sync"

	"github.com/discreet-dp/discreet/dp"
)

// spent adds up what the answers of a session cost.
type spent struct {
	mu   sync.Mutex
	cost dp.Cost
}

func (s *spent) add(c dp.Cost) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cost = s.cost.Add(c)
}

func (s *spent) sum() dp.Cost {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cost
}
