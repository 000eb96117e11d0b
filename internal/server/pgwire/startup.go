package pgwire

import (
	"context"
	"crypto"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/internal/server/clientlimits"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// errSilent ends a connection without a word: there is nobody to tell, or nothing to say.
var errSilent = errors.New("the connection is closing")

// readStartup reads packets until there is one that begins a session, and answers the others: who
// wants TLS, and who cancels.
func (c *connection) readStartup() (*pgproto3.StartupMessage, error) {
	secure := false
	for range 3 { // GSS, TLS, and then the startup itself
		code, err := c.packets.expectStartup()
		switch {
		case errors.Is(err, errProxyHeader):
			return nil, fatal(protocolViolation, "a PROXY protocol header counts only once, and only from a trusted "+
				"proxy").withHint("the owner lists trusted proxies with --trust-proxy")
		case errors.Is(err, errPacketTooLong), errors.Is(err, errPacketLength):
			return nil, fatal(protocolViolation, "this is not the startup packet of a PostgreSQL client, or it is longer than 8 KiB")
		case err != nil:
			return nil, errSilent
		}
		message, err := c.backend.ReceiveStartupMessage()
		if err != nil || c.packets.unread > 0 {
			return nil,
				fatal(protocolViolation, "the startup packet cannot be read, or took too long to arrive; speak version 3 of "+
					"PostgreSQL's protocol")
		}
		switch m := message.(type) {
		case *pgproto3.GSSEncRequest:
			if _, err := c.packets.Write([]byte("N")); err != nil {
				return nil, errSilent
			}
		case *pgproto3.SSLRequest:
			if secure {
				return nil, fatal(protocolViolation, "the connection has TLS already")
			}
			if c.server.options.TLS == nil {
				if _, err := c.packets.Write([]byte("N")); err != nil {
					return nil, errSilent
				}
				continue
			}
			if err := c.startTLS(); err != nil {
				return nil, err
			}
			secure = true
		case *pgproto3.CancelRequest:
			c.server.executions.cancel(m.ProcessID, m.SecretKey)
			return nil, errSilent
		case *pgproto3.StartupMessage:
			if c.server.options.TLS != nil && !secure {
				return nil, &wireError{severity: "FATAL", code: invalidAuthorization, message: "the server takes connections with TLS only",
					hint: "connect with sslmode=require, or better with sslmode=verify-full"}
			}
			c.negotiate(code, m)
			return m, nil
		default:
			return nil, fatal(protocolViolation, "the startup packet cannot be read")
		}
	}
	return nil, fatal(protocolViolation, "too many requests before the startup")
}

// startTLS goes on with TLS. What came before the handshake and after the request was put there by
// somebody in between (CVE-2021-23214): it would be read as if it were secret.
func (c *connection) startTLS() error {
	if c.packets.buffered() > 0 {
		return fatal(protocolViolation, "there are bytes between the request for TLS and its handshake; somebody may have put them there")
	}
	if _, err := c.packets.Write([]byte("S")); err != nil {
		return errSilent
	}
	raw := clientlimits.NewConn(c.packets.raw, maxHandshakeBytes)
	config, shown := recordCertificate(c.server.options.TLS)
	t := tls.Server(raw, config)
	ctx, done := context.WithTimeout(c.server.base, c.server.options.StartupDeadline)
	defer done()
	if err := t.HandshakeContext(ctx); err != nil {
		return errSilent
	}
	raw.Widen()
	c.packets.raw, c.endpoint = t, endpointHash(shown())
	return nil
}

// negotiate tells clients of newer minor versions, and with extensions, that there is 3.0 and there
// are none.
func (c *connection) negotiate(code uint32, m *pgproto3.StartupMessage) {
	var unknown []string
	for name := range m.Parameters {
		if strings.HasPrefix(name, "_pq_.") {
			unknown = append(unknown, name)
			delete(m.Parameters, name)
		}
	}
	if code&0xffff != 0 || unknown != nil {
		c.packets.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: 3 << 16, UnrecognizedOptions: unknown})
	}
}

// setStartupDeadline is when a connection must have become a session.
func (c *connection) setStartupDeadline() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.evicted {
		return nil // its deadline is over
	}
	return c.packets.raw.SetDeadline(time.Now().Add(c.server.options.StartupDeadline))
}

// The ways to log in. The second is bound to the server's certificate, so that nobody in between
// can pass it on.
const (
	plainScram = "SCRAM-SHA-256"
	boundScram = "SCRAM-SHA-256-PLUS"
)

// authenticate finds out who is there, by SCRAM.
func (c *connection) authenticate(ctx context.Context, name string) error {
	offered := []string{plainScram}
	if c.endpoint != "" {
		offered = []string{boundScram, plainScram}
	}
	exchange, err := c.server.options.Users.Exchange(ctx, users.Attempt{Name: name, Address: c.address, Listener: "wire",
		Endpoint: c.endpoint})
	if err != nil {
		return loginError(err)
	}
	defer exchange.Close() // who hangs up half-way has tried, too
	c.packets.send(&pgproto3.AuthenticationSASL{AuthMechanisms: offered})
	if err := c.sendChallenge(pgproto3.AuthTypeSASL); err != nil {
		return err
	}
	first, err := c.readResponse()
	if err != nil {
		return err
	}
	m, ok := first.(*pgproto3.SASLInitialResponse)
	if !ok || !slices.Contains(offered, m.AuthMechanism) {
		return fatal(protocolViolation, "log in with "+joinNames(offered))
	}
	text := string(m.Data)
	if (m.AuthMechanism == boundScram) != strings.HasPrefix(text, "p=") {
		return fatal(protocolViolation, "the login announces one kind of channel binding and uses another")
	}
	for range 4 { // two are needed
		reply, done, err := exchange.Step(ctx, text)
		if err != nil {
			return loginError(err)
		}
		if done {
			c.packets.send(&pgproto3.AuthenticationSASLFinal{Data: []byte(reply)})
			c.user = exchange.User()
			return nil
		}
		c.packets.send(&pgproto3.AuthenticationSASLContinue{Data: []byte(reply)})
		if err := c.sendChallenge(pgproto3.AuthTypeSASLContinue); err != nil {
			return err
		}
		next, err := c.readResponse()
		if err != nil {
			return err
		}
		r, ok := next.(*pgproto3.SASLResponse)
		if !ok {
			return fatal(protocolViolation, "a password was expected")
		}
		text = string(r.Data)
	}
	return fatal(protocolViolation, "the login takes too many steps")
}

// loginError is the same for every reason but one: who is locked out learns that waiting helps.
func loginError(err error) error {
	var locked *users.LockedError
	if errors.As(err, &locked) {
		return lockoutError(locked)
	}
	if errors.Is(err, users.ErrDenied) {
		return fatal(invalidPassword, users.ErrDenied.Error())
	}
	return fatal(cannotConnectNow, "nobody can log in now, because the users cannot be read; try again in a while")
}

// lockoutError says after how long it is worth to try again, as HTTP does.
func lockoutError(e *users.LockedError) *wireError {
	return fatal(invalidAuthorization, e.Error()+"; try again in "+formatWait(e.Wait))
}

// formatWait writes how long to wait, rounded up, for people to read.
func formatWait(wait time.Duration) string {
	return max(time.Second, (wait + time.Second - 1).Truncate(time.Second)).String()
}

func (c *connection) sendChallenge(kind uint32) error {
	if c.backend.SetAuthType(kind) != nil || c.packets.flush() != nil {
		return errSilent
	}
	return nil
}

func (c *connection) readResponse() (pgproto3.FrontendMessage, error) {
	kind, err := c.packets.expectMessage(maxStartupBytes)
	switch {
	case errors.Is(err, errPacketTooLong), errors.Is(err, errPacketLength):
		return nil, fatal(protocolViolation, "before login a message can have at most 8 KiB")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fatal(invalidAuthorization, "the login took too long")
	case err != nil:
		return nil, errSilent
	case kind != 'p':
		return nil, fatal(protocolViolation, "a password was expected, but something else came")
	}
	m, err := c.backend.Receive()
	if err != nil || c.packets.unread > 0 {
		return nil, fatal(protocolViolation, "the message cannot be read, or took too long to arrive")
	}
	return m, nil
}

// chooseDataset finds the dataset, which has to be one that the user may ask or, for an owner, any.
func (c *connection) chooseDataset(name string) error {
	p := c.server.options.Dispatcher.DB().Policy()
	if name == "" {
		name = c.user.Name // as PostgreSQL does
	}
	d := p.Datasets[name]
	if d != nil {
		_, c.analyst = d.Analysts[c.user.Name]
	}
	if d == nil || !c.analyst && c.user.Role != users.Owner {
		var may []string
		for _, n := range p.Names() {
			if _, listed := p.Datasets[n].Analysts[c.user.Name]; listed || c.user.Role == users.Owner {
				may = append(may, n)
			}
		}
		slices.Sort(may)
		e := fatal(noDatabase, "you have no database of this name: databases are the datasets of the policy")
		if len(may) > 0 {
			e.hint = "yours are " + joinNames(may)
		}
		return e
	}
	c.dataset = d
	return nil
}

// recordCertificate is a configuration that notes which certificate a handshake shows: one that is
// renewed while the server runs is not known before. Nobody resumes an earlier connection, because
// none is shown then.
func recordCertificate(c *tls.Config) (config *tls.Config, shown func() *tls.Certificate) {
	config = c.Clone()
	config.SessionTicketsDisabled = true
	choose := c.GetCertificate
	switch {
	case c.GetConfigForClient != nil, choose == nil && len(c.Certificates) != 1, choose != nil && len(c.Certificates) > 0:
		return config, func() *tls.Certificate { return nil } // it may choose among several
	case choose == nil:
		choose = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &c.Certificates[0], nil }
	}
	var last *tls.Certificate
	config.Certificates = nil
	config.GetCertificate = func(hello *tls.ClientHelloInfo) (found *tls.Certificate, err error) {
		last, err = choose(hello)
		return last, err
	}
	return config, func() *tls.Certificate { return last }
}

// endpointHash is the hash of the server's certificate that logins can be bound to (RFC 5929,
// section 4.1). It is empty where none is known, or where the RFC does not say which hash.
func endpointHash(c *tls.Certificate) string {
	if c == nil || len(c.Certificate) == 0 {
		return ""
	}
	der := c.Certificate[0]
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return ""
	}
	var h crypto.Hash
	switch leaf.SignatureAlgorithm {
	case x509.SHA1WithRSA, x509.ECDSAWithSHA1, x509.SHA256WithRSA, x509.SHA256WithRSAPSS, x509.ECDSAWithSHA256:
		h = crypto.SHA256
	case x509.SHA384WithRSA, x509.SHA384WithRSAPSS, x509.ECDSAWithSHA384:
		h = crypto.SHA384
	case x509.SHA512WithRSA, x509.SHA512WithRSAPSS, x509.ECDSAWithSHA512:
		h = crypto.SHA512
	default:
		return ""
	}
	sum := h.New()
	sum.Write(der)
	return string(sum.Sum(nil))
}
