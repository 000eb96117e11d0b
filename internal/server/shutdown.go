package server

import (
	"context"
	"errors"
	"time"
)

// interruptTime is how long interrupted questions have to notice.
const interruptTime = 5 * time.Second

// ErrCut: the time for ending was over, and questions were interrupted. What was charged for them
// stays charged.
var ErrCut = errors.New("running questions were interrupted; what was charged for them stays charged")

// Shutdown ends in order: see the package comment. When ctx ends, what still runs is interrupted,
// and the error is [ErrCut].
func (s *Server) Shutdown(ctx context.Context) error {
	s.end.Lock()
	defer s.end.Unlock()
	if s.closed {
		return nil
	}
	s.ending.Store(true)
	// The wire finishes statements that run while the dispatcher does. Programs at the other
	// listener can still ask whether the server is ready.
	wire := make(chan error, 1)
	go func() { wire <- s.pg.Shutdown(ctx) }()
	drained := s.dispatcher.Drain(ctx)
	<-wire
	if s.http.Shutdown(ctx) != nil {
		s.config.Log.Warn("open connections were cut off") // what they were sent is remembered, and free to ask again
	}
	s.cut()
	s.http.Close()
	var cut error
	if drained != nil {
		cut = ErrCut
		late, stop := context.WithTimeout(context.Background(), interruptTime)
		defer stop()
		drained = s.dispatcher.Drain(late)
	}
	s.closed = true
	if drained != nil {
		// Something does not react. The data that it works on is not closed under its feet. The
		// ledger is: what comes now is told to nobody, and a ledger that nobody closed is that of a
		// crash.
		return errors.Join(cut, s.db.Abandon())
	}
	return errors.Join(cut, s.close())
}

// close closes what is open, the ledger last.
func (s *Server) close() error {
	var all []error
	if s.cut != nil {
		s.cut()
	}
	if s.wire != nil {
		s.wire.Close() // a second time, where the server of the wire has closed it
	}
	if s.web != nil {
		s.web.Close()
	}
	if s.sandbox != nil {
		all = append(all, s.sandbox.Close())
	}
	if s.users != nil {
		all = append(all, s.users.Close())
	}
	if s.db != nil {
		all = append(all, s.db.Close())
	}
	return errors.Join(all...)
}
