package users

import "context"

// Exchange is a SCRAM-SHA-256 conversation with somebody who wants to come in. It counts as one attempt.
type Exchange struct{}

// Exchange begins a conversation. Locked names and addresses get a [*LockedError] here.
func (s *Store) Exchange(ctx context.Context, a Attempt) (*Exchange, error) { return nil, ErrDenied }

// Step takes the client's message and returns the server's. After the last step, done is true, and the user is in.
func (e *Exchange) Step(ctx context.Context, message string) (reply string, done bool, err error) {
	return "", false, ErrDenied
}

// User is who came in, after Step said done.
func (e *Exchange) User() User { return User{} }
