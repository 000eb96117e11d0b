package sandbox

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// MaxNumbers is how many noisy numbers an answer has at most. Trying is free, so nobody would stop
// at larger ones, which on the data are paid for: their noise is drawn number by number, and once
// that has begun nobody can stop it.
const MaxNumbers = 200_000

// boundedEngine is the data as one question has it, whose answer has to be small.
type boundedEngine struct {
	fixedEngine
	numbers, maxNumbers int
}

// Run runs a query, unless there would be too many numbers.
func (s *boundedEngine) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	for _, m := range q.Measures {
		s.numbers += q.Groups() * len(m.At)
	}
	if err := s.refuseLarge(); err != nil {
		return nil, err
	}
	out, err := s.fixedEngine.Run(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, m := range out.Measures {
		s.numbers += m.Len() // for all private keys that were found
	}
	return out, s.refuseLarge()
}

// refuseLarge refuses an answer that has come to be too large.
func (s *boundedEngine) refuseLarge() error {
	if s.numbers <= s.maxNumbers {
		return nil
	}
	return api.Refuse("ask for fewer groups or aggregates at a time here; quote says what it costs on the data",
		"the sandbox makes up to %d noisy numbers, and this answer has more", s.maxNumbers)
}
