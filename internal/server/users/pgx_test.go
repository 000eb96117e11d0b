package users

import (
	"context"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

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
		if err != nil {
			t.Fatal(err)
		}
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
