package admission

import (
	"context"
	"errors"
)

// Why somebody whom a door let in is not asked for. Nothing was charged.
var (
	// ErrRevoked: they may not ask any more.
	ErrRevoked = errors.New("your account was revoked, or has another password; nothing was charged; ask the owner of the data")
	// ErrUnchecked: nobody knows whether they may.
	ErrUnchecked = errors.New("nobody can be let in now, because the users cannot be read; nothing was charged; ask again in a while")
)

type stillKey struct{}

// Checked returns a context for the questions of somebody whom a door let in. The check is made
// again when the turn of a question comes, which can be long after: who is revoked while they wait
// is charged nothing and told nothing. It returns nil, [ErrRevoked], or another error where the
// users cannot be read.
func Checked(ctx context.Context, check func(context.Context) error) context.Context {
	return context.WithValue(ctx, stillKey{}, check)
}

// still makes the check.
func still(ctx context.Context) error {
	check, ok := ctx.Value(stillKey{}).(func(context.Context) error)
	if !ok {
		return nil
	}
	err := check(ctx)
	if err != nil && !errors.Is(err, ErrRevoked) {
		return ErrUnchecked
	}
	return err
}
