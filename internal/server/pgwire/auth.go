package pgwire

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/internal/server/users"
)

// The ways to log in. The second is bound to the server's certificate, so that nobody in between
// can pass it on.
const (
	plainScram = "SCRAM-SHA-256"
	boundScram = "SCRAM-SHA-256-PLUS"
)

// login finds out who is there, by SCRAM.
func (s *session) login(ctx context.Context, name string) error {
	offered := []string{plainScram}
	if s.endpoint != "" {
		offered = []string{boundScram, plainScram}
	}
	exchange, err := s.server.options.Users.Exchange(ctx, users.Attempt{Name: name, Address: s.address, Door: "wire", Endpoint: s.endpoint})
	if err != nil {
		return denied(err)
	}
	defer exchange.Close() // who hangs up half-way has tried, too
	s.conn.send(&pgproto3.AuthenticationSASL{AuthMechanisms: offered})
	if err := s.await(pgproto3.AuthTypeSASL); err != nil {
		return err
	}
	first, err := s.response()
	if err != nil {
		return err
	}
	m, ok := first.(*pgproto3.SASLInitialResponse)
	if !ok || !slices.Contains(offered, m.AuthMechanism) {
		return fatal(protocolViolation, "the way to log in is "+list(offered))
	}
	text := string(m.Data)
	if (m.AuthMechanism == boundScram) != strings.HasPrefix(text, "p=") {
		return fatal(protocolViolation, "the login says one thing of channel binding and does another")
	}
	for range 4 { // two are needed
		reply, done, err := exchange.Step(ctx, text)
		if err != nil {
			return denied(err)
		}
		if done {
			s.conn.send(&pgproto3.AuthenticationSASLFinal{Data: []byte(reply)})
			s.user = exchange.User()
			return nil
		}
		s.conn.send(&pgproto3.AuthenticationSASLContinue{Data: []byte(reply)})
		if err := s.await(pgproto3.AuthTypeSASLContinue); err != nil {
			return err
		}
		next, err := s.response()
		if err != nil {
			return err
		}
		r, ok := next.(*pgproto3.SASLResponse)
		if !ok {
			return fatal(protocolViolation, "a password was expected")
		}
		text = string(r.Data)
	}
	return fatal(protocolViolation, "the login does not end")
}

// denied is the same for every reason but one: who is locked out learns that waiting helps.
func denied(err error) error {
	var locked *users.LockedError
	if errors.As(err, &locked) {
		return lockedOut(locked)
	}
	if errors.Is(err, users.ErrDenied) {
		return fatal(invalidPassword, users.ErrDenied.Error())
	}
	return fatal(cannotConnectNow, "nobody can log in now, because the users cannot be read; try again in a while")
}

// lockedOut says after how long it is worth to try again, as HTTP does.
func lockedOut(e *users.LockedError) *wireError {
	return fatal(invalidAuthorization, e.Error()+"; try again in "+seconds(e.Wait))
}

// seconds writes how long to wait, rounded up, for people to read.
func seconds(wait time.Duration) string {
	return max(time.Second, (wait + time.Second - 1).Truncate(time.Second)).String()
}

func (s *session) await(kind uint32) error {
	if s.backend.SetAuthType(kind) != nil || s.conn.flush() != nil {
		return errSilent
	}
	return nil
}

// response is a message of the login.
func (s *session) response() (pgproto3.FrontendMessage, error) {
	kind, err := s.conn.message(startupSize)
	switch {
	case errors.Is(err, errLong), errors.Is(err, errShort):
		return nil, fatal(protocolViolation, "before login a message has at most 8 KiB")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fatal(invalidAuthorization, "the login took too long")
	case err != nil:
		return nil, errSilent
	case kind != 'p':
		return nil, fatal(protocolViolation, "a password was expected, and something else came")
	}
	m, err := s.backend.Receive()
	if err != nil || s.conn.left > 0 {
		return nil, fatal(protocolViolation, "the message cannot be read, or took too long to arrive")
	}
	return m, nil
}

// database finds the dataset, which has to be one that the user may ask or, for an owner, any.
func (s *session) database(name string) error {
	p := s.server.options.Dispatcher.DB().Policy()
	if name == "" {
		name = s.user.Name // as PostgreSQL does
	}
	d := p.Datasets[name]
	if d != nil {
		_, s.analyst = d.Analysts[s.user.Name]
	}
	if d == nil || !s.analyst && s.user.Role != users.Owner {
		var may []string
		for _, n := range p.Names() {
			if _, listed := p.Datasets[n].Analysts[s.user.Name]; listed || s.user.Role == users.Owner {
				may = append(may, n)
			}
		}
		slices.Sort(may)
		e := fatal(noDatabase, "there is no database of this name for you: databases are the datasets of the policy")
		if len(may) > 0 {
			e.hint = "yours are " + list(may)
		}
		return e
	}
	s.dataset = d
	return nil
}
