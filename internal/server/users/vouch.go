package users

import (
	"context"

	"github.com/discreet-dp/discreet/internal/username"
)

// Vouched lets somebody in whom a provider vouches for that the owner trusts, if there is such a
// user. It is an attempt like every other: it is in the trail, and who has to wait has to wait here
// too.
//
// The name is the user's to the last byte. Somebody who types their own name may write it in
// several ways, which are one: here they have proved who they are by a password. At a provider ana,
// ａna and ana with a soft hyphen in it are three people, and only one of them is Ana.
func (s *Store) Vouched(ctx context.Context, a Attempt) (User, error) {
	if username.Check(a.Name) != "" {
		s.trail.add(a, outDenied, "")
		return User{}, ErrDenied
	}
	if err := s.locked(a); err != nil {
		return User{}, err
	}
	r, err := s.lookup(ctx, a.Name)
	if err != nil {
		return User{}, err
	}
	return s.settle(a, r, func() bool { return true })
}
