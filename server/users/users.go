package users

import (
	"context"
	"errors"
	"time"
)

// Role is what a user may do. An owner sees the ledger and everybody's budget and asks nothing, unless the policy lists them as an analyst too.
type Role string

// The roles.
const (
	Owner   Role = "owner"
	Analyst Role = "analyst"
)

// User is somebody who may come in.
type User struct {
	Name    string
	Role    Role
	Created time.Time
	Revoked time.Time // zero while they may come in
}

// Token is a password for programs, without its secret.
type Token struct {
	ID      string
	User    string
	Label   string
	Created time.Time
	Expires time.Time // zero means never
	Revoked time.Time
	Used    time.Time // about when it was last used
}

// Attempt says who tries to come in, and where.
type Attempt struct {
	Name    string
	Address string // of the peer, without its port
	Door    string // wire or http
}

// Login is one line of the trail.
type Login struct {
	At      time.Time
	Name    string
	Address string
	Door    string
	Outcome string // in, denied, locked, expired or revoked
}

// What an attempt can get but a user.
var (
	ErrDenied  = errors.New("the name, the password or the token is wrong, or no longer counts")
	ErrUnknown = errors.New("there is no such user")
)

// LockedError: too many failed attempts; try again later.
type LockedError struct{ Wait time.Duration }

func (e *LockedError) Error() string { return "too many failed attempts; try again later" }

// Store is the file. It is safe for concurrent use.
type Store struct{}

// Open opens the users at a path, and makes the file where there is none.
func Open(path string) (*Store, error) { return nil, errors.ErrUnsupported }

// Close closes the file.
func (s *Store) Close() error { return nil }

// Add adds a user with a password; with a drawn one, which is returned, where it is empty.
func (s *Store) Add(ctx context.Context, name string, role Role, password string) (string, error) {
	return "", errors.ErrUnsupported
}

// SetPassword gives a user another password, and lets them in again who was revoked.
func (s *Store) SetPassword(ctx context.Context, name, password string) (string, error) {
	return "", errors.ErrUnsupported
}

// Revoke keeps a user out, with all tokens, from now on.
func (s *Store) Revoke(ctx context.Context, name string) error { return errors.ErrUnsupported }

// List returns all users by name.
func (s *Store) List(ctx context.Context) ([]User, error) { return nil, errors.ErrUnsupported }

// NewToken draws a token for a user, and returns its secret, which is stored nowhere.
func (s *Store) NewToken(ctx context.Context, name, label string, expires time.Time) (secret string, t Token, err error) {
	return "", Token{}, errors.ErrUnsupported
}

// Tokens lists the tokens of a user; of everybody, where the name is empty.
func (s *Store) Tokens(ctx context.Context, name string) ([]Token, error) {
	return nil, errors.ErrUnsupported
}

// RevokeToken ends a token.
func (s *Store) RevokeToken(ctx context.Context, id string) error { return errors.ErrUnsupported }

// Logins returns the last n lines of the trail, of one name or of all, the newest first.
func (s *Store) Logins(ctx context.Context, name string, n int) ([]Login, error) {
	return nil, errors.ErrUnsupported
}

// Password checks a password, by argon2id.
func (s *Store) Password(ctx context.Context, a Attempt, password string) (User, error) {
	return User{}, ErrDenied
}

// Token checks a token.
func (s *Store) Token(ctx context.Context, a Attempt, secret string) (User, error) {
	return User{}, ErrDenied
}

// Still says whether somebody who came in is still a user: nil, or ErrDenied. It is asked before every statement, so it is cheap.
func (s *Store) Still(ctx context.Context, name string) error { return ErrDenied }
