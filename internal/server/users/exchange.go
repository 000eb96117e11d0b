package users

import (
	"context"
	"encoding/base64"
	"strings"
	"sync"

	"github.com/xdg-go/scram"

	"github.com/discreet-dp/discreet/internal/username"
)

// maxMessageBytes is how much a client may say at once; RFC 5802's messages have some hundred
// bytes.
const maxMessageBytes = 4096

// Exchange is a SCRAM-SHA-256 conversation with somebody who wants to come in. It counts as one
// attempt. Whoever begins one must Close it.
type Exchange struct {
	s *Store
	a Attempt

	mu    sync.Mutex
	stage stage
	known *row // when it began
	talk  *scram.ServerConversation
	user  User
}

type stage int

const (
	silent   stage = iota // the client has said nothing yet
	salted                // it was told its salt, and owes a proof
	finished              // it was counted
)

// Exchange begins a conversation. Locked names and addresses get a [*LockedError] here. The name is
// the attempt's: as in PostgreSQL, what the client writes into its message is not looked at.
func (s *Store) Exchange(ctx context.Context, a Attempt) (*Exchange, error) {
	a.Name = username.Canonical(a.Name)
	if err := s.attempts.refuseLocked(a); err != nil {
		return nil, err
	}
	known, err := s.findUser(ctx, a.Name)
	if err != nil {
		return nil, err
	}
	keys := s.keys.fakeKeys(a.Name)
	if known != nil {
		if keys, err = readKeys(known.scram); err != nil {
			return nil, err
		}
	}
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return keys, nil })
	if err != nil {
		return nil, err
	}
	server.WithNonceGenerator(func() string { return base64.StdEncoding.EncodeToString(random(24)) })
	e := &Exchange{s: s, a: a, known: known, talk: server.NewConversation()}
	if a.Endpoint != "" {
		e.talk = server.NewConversationWithChannelBinding(scram.ChannelBinding{Type: scram.ChannelBindingTLSServerEndpoint,
			Data: []byte(a.Endpoint)})
	}
	return e, nil
}

// Step takes the client's message and returns the server's. After the last step, done is true, and
// the user is in. After an error the conversation is over.
func (e *Exchange) Step(ctx context.Context, message string) (reply string, done bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch e.stage {
	case silent:
		reply, err = e.first(message)
		return reply, false, err
	case salted:
		reply, err = e.final(ctx, message)
		return reply, err == nil, err
	}
	return "", false, ErrDenied
}

// first takes the client's nonce and gives it ours, with the salt.
func (e *Exchange) first(message string) (string, error) {
	e.stage = salted
	if len(message) <= maxMessageBytes && isPlain(message) {
		// Somebody who wants to be somebody else (an authzid) is not let in, as in PostgreSQL.
		if reply, err := e.talk.Step(message); err == nil && e.talk.AuthzID() == "" {
			return reply, nil
		}
	}
	e.stage = finished
	_, err := e.s.attempts.decide(e.a, e.known, func() bool { return false })
	return "", err
}

// final takes the client's proof and gives it ours.
func (e *Exchange) final(ctx context.Context, message string) (reply string, err error) {
	e.stage = finished
	// Whoever was revoked, or got another password, since the first message is judged by what holds
	// now.
	now, err := e.s.findUser(ctx, e.a.Name)
	if err != nil {
		e.s.attempts.guard.abandon(pairOf(e.a))
		return "", err
	}
	proof := func() bool {
		if len(message) > maxMessageBytes || !isPlain(message) {
			return false
		}
		text, err := e.talk.Step(message)
		reply = text
		same := now != nil && e.known != nil && now.scram == e.known.scram
		return err == nil && e.talk.Valid() && same
	}
	if e.user, err = e.s.attempts.decide(e.a, now, proof); err != nil {
		return "", err
	}
	return reply, nil
}

// isPlain reports whether a message has no character that SCRAM's messages cannot have.
func isPlain(message string) bool { return !strings.ContainsAny(message, "\x00\r\n") }

// User is who came in, after Step said done.
func (e *Exchange) User() User {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.user
}

// Close ends a conversation. One that got its salt and owes the proof counts as a failure; a client
// that said nothing, as psql before it asks for a password, has tried nothing. Close can be called
// again, and after the last step it does nothing.
func (e *Exchange) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stage == salted {
		e.s.attempts.guard.abandon(pairOf(e.a))
		e.s.attempts.trail.add(e.a, loginAbandoned, "")
	}
	e.stage = finished
}
