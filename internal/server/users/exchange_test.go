package users

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"
)

const home = "192.0.2.1"

func TestExchange(t *testing.T) {
	f := setUp(t)
	u, err := login(f.Store, from("ana", home), f.password)
	if err != nil || u.Name != "ana" || u.Role != Analyst || !u.Created.Equal(f.at) {
		t.Errorf("got %+v, %v", u, err)
	}
	for _, password := range []string{f.password + "x", "x", strings.ToUpper(f.password)} {
		u, err := login(f.Store, from("ana", home), password)
		denied(t, err)
		if u != (User{}) {
			t.Errorf("got %+v", u)
		}
	}
	for _, name := range []string{"bob", "", "Ana", "ana ", "ana\x00", strings.Repeat("a", 1<<16)} {
		_, err := login(f.Store, from(name, home), f.password)
		denied(t, err)
	}
}

// The steps of somebody who is not there look like those of somebody who is.
func TestUnknownNamesLookKnown(t *testing.T) {
	f := setUp(t)
	shape := regexp.MustCompile(`^r=clientnonce[A-Za-z0-9+/]{32},s=([A-Za-z0-9+/]{22}==),i=64$`)
	salt := func(name string) string {
		e, err := f.Exchange(ctx, from(name, home))
		require(t, err)
		reply, done, err := e.Step(ctx, "n,,n=,r=clientnonce")
		if err != nil || done || !shape.MatchString(reply) {
			t.Fatalf("%q, %v, %v", reply, done, err)
		}
		nonce, _, _ := strings.Cut(strings.TrimPrefix(reply, "r="), ",")
		_, _, err = e.Step(ctx, "c=biws,r="+nonce+",p="+base64.StdEncoding.EncodeToString(make([]byte, 32)))
		denied(t, err)
		return shape.FindStringSubmatch(reply)[1]
	}
	known, unknown := salt("ana"), salt("bob")
	if known == unknown || unknown != salt("bob") || known != salt("ana") {
		t.Error("salts are not one for each name")
	}
	// Nor does it show that a name gets an account, or another password.
	if _, err := f.Add(ctx, "bob", Analyst, ""); err != nil || salt("bob") != unknown {
		t.Errorf("a new user has another salt, %v", err)
	}
	if _, err := f.SetPassword(ctx, "ana", ""); err != nil || salt("ana") != known {
		t.Errorf("a new password has another salt, %v", err)
	}
	if other := setUp(t); string(other.keys.salt("ana")) == string(f.keys.salt("ana")) {
		t.Error("two files have one salt")
	}
}

// open1 begins an exchange and returns the proof that would end it.
func open1(t *testing.T, f *fixture, a Attempt) (*Exchange, string) {
	t.Helper()
	e, err := f.Exchange(ctx, a)
	require(t, err)
	client, err := driver(f.password)
	require(t, err)
	c := client.NewConversation()
	first, err := c.Step("")
	require(t, err)
	reply, _, err := e.Step(ctx, first)
	require(t, err)
	final, err := c.Step(reply)
	require(t, err)
	return e, final
}

func TestProofs(t *testing.T) {
	f := setUp(t)
	_, old := open1(t, f, from("ana", home))
	flip := func(s string) string { // another character that base64 reads
		i := strings.LastIndex(s, ",p=") + 3
		c := byte('A')
		if s[i] == c {
			c = 'B'
		}
		return s[:i] + string(c) + s[i+1:]
	}
	for what, tamper := range map[string]func(final string) string{
		"a replayed message":   func(string) string { return old },
		"a tampered proof":     flip,
		"no proof":             func(s string) string { return s[:strings.LastIndex(s, ",p=")] },
		"an empty proof":       func(s string) string { return s[:strings.LastIndex(s, ",p=")+3] },
		"half a proof":         func(s string) string { return s[:strings.LastIndex(s, ",p=")+3+24] },
		"another nonce":        func(s string) string { return strings.Replace(s, ",r=", ",r=x", 1) },
		"a longer nonce":       func(s string) string { return strings.Replace(s, ",p=", "x,p=", 1) },
		"another channel flag": func(s string) string { return strings.Replace(s, "c=biws", "c=eSws", 1) },
		"an extension":         func(s string) string { return strings.Replace(s, ",p=", ",m=x,p=", 1) },
		"nothing":              func(string) string { return "" },
		"a zero byte":          func(s string) string { return s + "\x00" },
		"a book":               func(s string) string { return s + strings.Repeat("=", 1<<20) },
	} {
		f.turn(longestWait)
		e, final := open1(t, f, from("ana", home))
		reply, done, err := e.Step(ctx, tamper(final))
		if err != ErrDenied || done || reply != "" || e.User() != (User{}) {
			t.Errorf("%s: %q, %v, %v, %+v", what, reply, done, err, e.User())
		}
		// It is over, for the right proof too.
		if _, done, err := e.Step(ctx, final); err != ErrDenied || done || e.User() != (User{}) {
			t.Errorf("%s, and then the right proof: %v, %v", what, done, err)
		}
	}
	f.turn(longestWait)
	e, final := open1(t, f, from("ana", home))
	if reply, done, err := e.Step(ctx, final); err != nil || !done || !strings.HasPrefix(reply, "v=") || e.User().Name != "ana" {
		t.Errorf("the right proof: %q, %v, %v", reply, done, err)
	}
	if _, done, err := e.Step(ctx, final); err != ErrDenied || done {
		t.Errorf("the right proof again: %v, %v", done, err)
	}
}

func TestFirstMessages(t *testing.T) {
	f := setUp(t)
	for _, m := range []string{"", "n", "n,,", "n,,n=", "n,,n=,r", "x,,n=,r=abc", "n,a=bob,n=,r=abc", "n,,m=x,n=,r=abc",
		"p=tls-unique,,n=,r=abc", "p=tls-server-end-point,,n=,r=abc",
		"p=,,n=,r=abc", "n,,n=,r=abc\x00", "n,,n=,r=" + strings.Repeat("a", 1<<20), "\xff\xfe"} {
		f.turn(longestWait)
		e, err := f.Exchange(ctx, from("ana", home))
		require(t, err)
		if reply, done, err := e.Step(ctx, m); err != ErrDenied || done || reply != "" {
			t.Errorf("%.40q: %q, %v, %v", m, reply, done, err)
		}
		if _, _, err := e.Step(ctx, "n,,n=,r=abc"); err != ErrDenied {
			t.Errorf("%.40q was forgiven", m)
		}
	}
}

// A client says n (I cannot bind), y (I can, and you cannot) or p (I do).
func TestChannelBinding(t *testing.T) {
	f := setUp(t)
	const certificate = "the hash of a certificate"
	bound := from("ana", home)
	bound.Endpoint = certificate
	client, err := driver(f.password)
	require(t, err)
	binding := func(data string) *scram.ClientConversation {
		return client.NewConversationWithChannelBinding(scram.ChannelBinding{Type: scram.ChannelBindingTLSServerEndpoint,
			Data: []byte(data)})
	}
	for _, c := range []struct {
		what string
		a    Attempt
		c    *scram.ClientConversation
		in   bool
	}{
		{"n without", from("ana", home), client.NewConversation(), true},
		{"n with", bound, client.NewConversation(), true},
		{"y without", from("ana", home), client.NewConversationAdvertisingChannelBinding(), true},
		{"y with: somebody in between took PLUS away", bound, client.NewConversationAdvertisingChannelBinding(), false},
		{"p without", from("ana", home), binding(certificate), false},
		{"p with", bound, binding(certificate), true},
		{"p with another certificate", bound, binding("the hash of another"), false},
	} {
		f.turn(longestWait)
		e, err := f.Exchange(ctx, c.a)
		must(t, err)
		u, err := talk(e, c.c)
		if c.in && (err != nil || u.Name != "ana") || !c.in && err != ErrDenied {
			t.Errorf("%s: %+v, %v", c.what, u, err)
		}
	}
}

// What changes while an exchange is open counts.
func TestChangedMeanwhile(t *testing.T) {
	f := setUp(t)
	other := f.again(t)
	e, final := open1(t, f, from("ana", home))
	must(t, other.Revoke(ctx, "ana"))
	_, _, err := e.Step(ctx, final)
	denied(t, err)

	_, err = other.SetPassword(ctx, "ana", "correct horse battery")
	must(t, err)
	f.password = "correct horse battery"
	e, final = open1(t, f, from("ana", home))
	_, err = other.SetPassword(ctx, "ana", "another horse battery")
	must(t, err)
	_, _, err = e.Step(ctx, final)
	denied(t, err)
	if _, err := login(f.Store, from("ana", home), "another horse battery"); err != nil {
		t.Error(err)
	}
	// A store that is closed lets nobody in.
	e, final = open1(t, &fixture{Store: other, password: "another horse battery"}, from("ana", home))
	must(t, other.Close())
	if _, done, err := e.Step(ctx, final); err == nil || done || errors.Is(err, ErrDenied) {
		t.Errorf("got %v, %v", done, err)
	}
	must(t, other.Close())
}

// serve lets one client in over the wire protocol, or not.
func serve(s *Store, c net.Conn) error {
	defer c.Close()
	b := pgproto3.NewBackend(c, c)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return err
	}
	e, err := s.Exchange(ctx, from("ana", home))
	if err != nil {
		return err
	}
	defer e.Close()
	send := func(m pgproto3.BackendMessage) error {
		b.Send(m)
		return b.Flush()
	}
	if err := send(&pgproto3.AuthenticationSASL{AuthMechanisms: []string{"SCRAM-SHA-256"}}); err != nil {
		return err
	}
	for kind := uint32(pgproto3.AuthTypeSASL); ; kind = pgproto3.AuthTypeSASLContinue {
		if err := b.SetAuthType(kind); err != nil {
			return err
		}
		m, err := b.Receive()
		if err != nil {
			return err
		}
		var text []byte
		switch m := m.(type) {
		case *pgproto3.SASLInitialResponse:
			text = m.Data
		case *pgproto3.SASLResponse:
			text = m.Data
		}
		reply, done, err := e.Step(ctx, string(text))
		switch {
		case err != nil:
			return send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: err.Error()})
		case done:
			b.Send(&pgproto3.AuthenticationSASLFinal{Data: []byte(reply)})
			b.Send(&pgproto3.AuthenticationOk{})
			return send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		}
		if err := send(&pgproto3.AuthenticationSASLContinue{Data: []byte(reply)}); err != nil {
			return err
		}
	}
}

// pgx has a client of its own, and comes in with the right password only.
func TestPgx(t *testing.T) {
	f := setUp(t)
	for password, in := range map[string]bool{f.password: true, f.password + "x": false} {
		config, err := pgconn.ParseConfig("postgres://ana@127.0.0.1:1/hospital?sslmode=disable")
		require(t, err)
		ended := make(chan error, 1)
		config.Password = password
		config.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"127.0.0.1"}, nil }
		config.DialFunc = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() { ended <- serve(f.Store, ours) }()
			return theirs, nil
		}
		c, err := pgconn.ConnectConfig(ctx, config)
		if (err == nil) != in {
			t.Errorf("in with %q: %v", password, err)
		}
		must(t, <-ended)
		if c != nil {
			c.Conn().Close()
		}
	}
}
