package pgwire

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/internal/server/connlimit"
)

// errSilent ends a connection without a word: there is nobody to tell, or nothing to say.
var errSilent = errors.New("the connection ends")

// startup reads packets until there is one that begins a session, and answers the others: who wants
// TLS, and who cancels.
func (s *session) startup() (*pgproto3.StartupMessage, error) {
	secure := false
	for range 3 { // GSS, TLS, and then the startup itself
		code, err := s.conn.startup()
		switch {
		case errors.Is(err, errProxy):
			return nil, fatal(protocolViolation, "this is a header of the PROXY protocol, which counts only from a proxy that is trusted, "+
				"and once").hinting("the owner lists proxies with --trust-proxy")
		case errors.Is(err, errLong), errors.Is(err, errShort):
			return nil, fatal(protocolViolation, "this is not the startup of a PostgreSQL client, or it is longer than 8 KiB")
		case err != nil:
			return nil, errSilent
		}
		message, err := s.backend.ReceiveStartupMessage()
		if err != nil || s.conn.left > 0 {
			return nil,
				fatal(protocolViolation, "the startup packet cannot be read, or took too long to arrive; speak version 3 of "+
					"PostgreSQL's protocol")
		}
		switch m := message.(type) {
		case *pgproto3.GSSEncRequest:
			if _, err := s.conn.Write([]byte("N")); err != nil {
				return nil, errSilent
			}
		case *pgproto3.SSLRequest:
			if secure {
				return nil, fatal(protocolViolation, "the connection has TLS already")
			}
			if s.server.options.TLS == nil {
				if _, err := s.conn.Write([]byte("N")); err != nil {
					return nil, errSilent
				}
				continue
			}
			if err := s.secure(); err != nil {
				return nil, err
			}
			secure = true
		case *pgproto3.CancelRequest:
			s.server.byPID.cancel(m.ProcessID, m.SecretKey)
			return nil, errSilent
		case *pgproto3.StartupMessage:
			if s.server.options.TLS != nil && !secure {
				return nil, &wireError{severity: "FATAL", code: invalidAuthorization, message: "the server takes connections with TLS only",
					hint: "connect with sslmode=require, or better with sslmode=verify-full"}
			}
			s.negotiate(code, m)
			return m, nil
		default:
			return nil, fatal(protocolViolation, "the startup packet cannot be read")
		}
	}
	return nil, fatal(protocolViolation, "too many requests before the startup")
}

// secure goes on with TLS. What came before the handshake and after the request was put there by
// somebody in between (CVE-2021-23214): it would be read as if it were secret.
func (s *session) secure() error {
	if s.conn.ahead() > 0 {
		return fatal(protocolViolation, "there are bytes between the request for TLS and its handshake; somebody may have put them there")
	}
	if _, err := s.conn.Write([]byte("S")); err != nil {
		return errSilent
	}
	raw := connlimit.NewConn(s.conn.raw, handshakeSize)
	config, shown := witnessed(s.server.options.TLS)
	t := tls.Server(raw, config)
	ctx, done := context.WithTimeout(s.server.base, s.server.options.StartupDeadline)
	defer done()
	if err := t.HandshakeContext(ctx); err != nil {
		return errSilent
	}
	raw.Widen()
	s.conn.raw, s.endpoint = t, endpoint(shown())
	return nil
}

// negotiate tells clients of newer minor versions, and with extensions, that there is 3.0 and there
// are none.
func (s *session) negotiate(code uint32, m *pgproto3.StartupMessage) {
	var unknown []string
	for name := range m.Parameters {
		if strings.HasPrefix(name, "_pq_.") {
			unknown = append(unknown, name)
			delete(m.Parameters, name)
		}
	}
	if code&0xffff != 0 || unknown != nil {
		s.conn.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: 3 << 16, UnrecognizedOptions: unknown})
	}
}

// deadline is when a connection must have become a session.
func (s *session) deadline() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pushed {
		return nil // its deadline is over
	}
	return s.conn.raw.SetDeadline(time.Now().Add(s.server.options.StartupDeadline))
}
