package admission

import (
	"context"
	"errors"
)

// ErrRevoked: whoever asked may not any more. Nothing was charged.
var ErrRevoked = errors.New("your account was revoked, or has another password; nothing was charged; ask the owner of the data")

type stillKey struct{}

// Checked returns a context for the questions of somebody whom a door let in. The check is made
// again when the turn of a question comes, which can be long after: who is revoked while they wait
// is charged nothing and told nothing.
func Checked(ctx context.Context, check func(context.Context) error) context.Context {
	return context.WithValue(ctx, stillKey{}, check)
}

// still makes the check.
func still(ctx context.Context) error {
	if check, ok := ctx.Value(stillKey{}).(func(context.Context) error); ok && check(ctx) != nil {
		return ErrRevoked
	}
	return nil
}
