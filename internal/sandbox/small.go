package sandbox

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// MostNumbers is how many noisy numbers an answer has at most. Trying is free, so nobody would stop
// at larger ones, which on the data are paid for: their noise is drawn number by number, and once
// that has begun nobody can stop it.
const MostNumbers = 200_000

// small is the data as one question has it, whose answer has to be small.
type small struct {
	still
	numbers, most int
}

// Run runs a query, unless there would be too many numbers.
func (s *small) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	for _, m := range q.Measures {
		s.numbers += q.Groups() * len(m.At)
	}
	if err := s.fits(); err != nil {
		return nil, err
	}
	out, err := s.still.Run(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, m := range out.Measures {
		s.numbers += m.Len() // for all private keys that were found
	}
	return out, s.fits()
}

// fits refuses an answer that has come to be too large.
func (s *small) fits() error {
	if s.numbers <= s.most {
		return nil
	}
	return api.Refuse("ask for fewer groups or aggregates at a time here; quote says what it costs on the data",
		"the sandbox makes up to %d noisy numbers, and this answer has more", s.most)
}
