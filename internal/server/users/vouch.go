package users

import (
	"context"

	"github.com/discreet-dp/discreet/internal/username"
)

// Vouched lets somebody in whom a provider vouches for that the owner trusts, if there is such a
// user. It is an attempt like every other: it is in the trail, and who has to wait has to wait here
// too.
func (s *Store) Vouched(ctx context.Context, a Attempt) (User, error) {
	a.Name = username.Canonical(a.Name)
	if err := s.locked(a); err != nil {
		return User{}, err
	}
	r, err := s.lookup(ctx, a.Name)
	if err != nil {
		return User{}, err
	}
	return s.settle(a, r, func() bool { return true })
}
