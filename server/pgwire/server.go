package pgwire

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"

	"github.com/discreet-dp/discreet/server/desk"
	"github.com/discreet-dp/discreet/server/users"
)

// Options are what the door needs and what it puts up with. Zero limits mean sensible ones.
type Options struct {
	Desk  *desk.Desk
	Users *users.Store
	TLS   *tls.Config // nil means plaintext; with it, plaintext is refused
	Log   *slog.Logger

	Version string

	Connections     int           // in all; 0 means 1000
	PerUser         int           // connections of one user; 0 means 100
	PerAddress      int           // connections of one address, before and after logging in; 0 means 200
	StartupDeadline time.Duration // for TLS, startup and login together; 0 means 15 s
	IdleDeadline    time.Duration // of a session that sends nothing; 0 means an hour
	MessageSize     int           // bytes of one message after login; 0 means 1 MiB. Before login it is 8 KiB.
}

// Server is the door.
type Server struct{ options Options }

// New returns a door that is not open yet.
func New(o Options) *Server { return &Server{o} }

// Serve takes connections until the listener is closed or Shutdown is called.
func (s *Server) Serve(l net.Listener) error { return nil }

// Shutdown takes no more connections, lets statements that run finish, tells idle sessions, and closes them. Where ctx ends first the rest is cut off.
func (s *Server) Shutdown(ctx context.Context) error { return nil }

// Connections is how many are open now.
func (s *Server) Connections() int { return 0 }
