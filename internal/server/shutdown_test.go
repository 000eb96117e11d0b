package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/admission"
)

// asks begins a question and returns when it is with the dispatcher.
func asks(t *testing.T, s *Server) <-chan error {
	t.Helper()
	// Past the dispatcher, so that the data is open and what comes takes no time.
	if _, err := s.db.Ask(t.Context(), api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients"}); err != nil {
		t.Fatal(err)
	}
	left := make(chan error, 1)
	go func() {
		_, err := s.dispatcher.Ask(context.Background(), api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients"})
		left <- err
	}()
	for s.dispatcher.Stats().Running == 0 {
		runtime.Gosched()
	}
	return left
}

// What was paid for is answered; who comes meanwhile is not, and is told so.
func TestShutdown(t *testing.T) {
	t.Parallel() // it waits
	s, err := Open(t.Context(), world(t, "    release: {tick: 1s}\n"))
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	left := asks(t, s)
	if s.Ready() != nil {
		t.Error("it is not ready")
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case err := <-left:
		if err != nil && !errors.Is(err, admission.ErrEnding) { // it may have been on its way to its turn
			t.Error(err)
		}
	default:
		t.Error("the question was left behind")
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	r := httptest.NewRecorder()
	s.http.Handler.ServeHTTP(r, httptest.NewRequest("GET", "/readyz", nil))
	if r.Code != http.StatusServiceUnavailable || s.Ready() == nil {
		t.Errorf("/readyz says %d, %s", r.Code, r.Body)
	}
	for _, a := range []net.Addr{s.WireAddr(), s.HTTPAddr()} {
		if conn, err := net.Dial("tcp", a.String()); err == nil {
			conn.Close()
			t.Errorf("%v still listens", a)
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Errorf("a second time: %v", err)
	}
	db, err := discreet.Open(t.Context(), s.config.Policy) // the ledger is free again
	must(t, err)
	db.Close()
}

// Where the time is over, what runs is interrupted, and the ledger is closed all the same.
func TestShutdownCuts(t *testing.T) {
	s, err := Open(t.Context(), world(t, "    release: {tick: 2s}\n"))
	must(t, err)
	go s.Serve()
	left := asks(t, s)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Shutdown(ctx); err != nil && !errors.Is(err, ErrCut) {
		t.Error(err)
	}
	<-left
	db, err := discreet.Open(t.Context(), s.config.Policy)
	must(t, err)
	db.Close()
}

// A server whose tick is longer than its time for ending is no server that crashed.
func TestShutdownBeforeTheTick(t *testing.T) {
	s, err := Open(t.Context(), world(t, "    release: {tick: 60s}\n"))
	must(t, err)
	go s.Serve()
	left := asks(t, s)
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	begin := time.Now()
	if err := s.Shutdown(ctx); err != nil && !errors.Is(err, ErrCut) {
		t.Error(err)
	}
	if took := time.Since(begin); took >= interruptTime {
		t.Errorf("it took %v", took)
	}
	<-left
	db, err := discreet.Open(t.Context(), s.config.Policy) // which is refused while the ledger is open
	must(t, err)
	db.Close()
}

// A listener that closes by itself ends Serve.
func TestListenerFails(t *testing.T) {
	c := world(t, "")
	c.Listen = ""
	s, err := Open(t.Context(), c)
	must(t, err)
	s.web.Close()
	if err := s.Serve(); !errors.Is(err, errUnexpected) {
		t.Errorf("got %v", err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
