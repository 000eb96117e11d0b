package client

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestNobodyIsAsked: where one server cannot answer, no other is charged.
func TestNobodyIsAsked(t *testing.T) {
	ctx, q := context.Background(), Question{SQL: "SELECT COUNT(*) FROM patients"}
	north, poor := open(t, "north", pure, 50, nil), open(t, "poor", "{epsilon: 0.6, per_query: {default: 0.5, max: 0.5}}", 60, nil)
	gone := httptest.NewServer(nil)
	gone.Close()
	before := north.left(t)
	stranger, err := New(poor.address, "wrong")
	must(t, err)
	must(t, errorOf(Together(north.Server, poor.Server).Ask(ctx, Question{SQL: "SELECT COUNT(*) FROM visits"})))
	after := north.left(t)
	elsewhere := poor.reach(t, "elsewhere", poor.address+"/nowhere")
	for want, s := range map[string]*Server{
		"refused": poor.reach(t, "away", gone.URL), "more than what is left": poor.Server, "token": stranger, "no such dataset": elsewhere,
	} {
		_, err := Together(north.Server, s).Ask(ctx, q)
		var unasked *Unasked
		if !errors.As(err, &unasked) || !strings.Contains(err.Error(), want) || len(unasked.Failures) != 1 ||
			unasked.Failures[0].Server != s.Name {
			t.Errorf("it says %v; want %q", err, want)
		}
	}
	if now := north.left(t); now != after || after == before {
		t.Errorf("there was %s before, %s after and %s now", before, after, now)
	}
}

// TestBrokenWire: a question whose answer is lost is asked again under its name, and charged once;
// where that does not help either, who was charged is said, and the request asks again for nothing.
func TestBrokenWire(t *testing.T) {
	ctx, q := context.Background(), Question{SQL: "SELECT COUNT(*) FROM patients", Epsilon: 0}
	north, south := open(t, "north", pure, 50, nil), open(t, "southern", pure, 60, nil)
	far, wire := south.breaking(t, "far")
	both := Together(north.Server, far)
	wire.mute.Store(1)
	a, err := both.Ask(ctx, q)
	if err != nil || wire.asked.Load() != 2 || north.left(t) != "9.5 -" || south.left(t) != "9.5 -" {
		t.Fatalf("%v, asked %d times, left %s and %s", err, wire.asked.Load(), north.left(t), south.left(t))
	}
	if r := a.Servers[1].Answer.Receipt; r.Hash == "" {
		t.Errorf("the receipt is %+v", r)
	}

	for _, c := range []struct {
		sql        string
		mute, deaf int32
		left       string // at the far server, after the failure
	}{
		{"SELECT COUNT(*) FROM visits", maxTries, 0, "9 -"}, {"SELECT SUM(cost) FROM visits", 0, maxTries, "9 -"},
	} {
		wire.mute.Store(c.mute)
		wire.deaf.Store(c.deaf)
		_, err := both.Ask(ctx, Question{SQL: c.sql})
		var partial *Partial
		if !errors.As(err, &partial) || len(partial.Answered) != 1 || partial.Answered[0].Server != "north" ||
			partial.Failures[0].Server != "far" || partial.Failures[0].Spent != nil || partial.Failures[0].Kind != "away" ||
			!strings.Contains(err.Error(), "It is not known whether far has charged. north has answered, for epsilon 0.5") {
			t.Fatalf("%s: %v", c.sql, err)
		}
		if left := south.left(t); left != c.left {
			t.Errorf("%s: the far server has %s left", c.sql, left)
		}
		paid := north.left(t)
		wire.mute.Store(0)
		wire.deaf.Store(0)
		a, err := both.Ask(ctx, Question{SQL: c.sql, Request: partial.Request})
		if err != nil || north.left(t) != paid || !a.Servers[0].Answer.Receipt.Free ||
			a.Servers[0].Answer.Receipt.Hash != partial.Answered[0].Answer.Receipt.Hash {
			t.Errorf("%s: asked again it is %v; %s and %s", c.sql, err, paid, north.left(t))
		}
	}
	if north.left(t) != "8.5 -" || south.left(t) != "8.5 -" {
		t.Errorf("three questions were asked, and %s and %s are left", north.left(t), south.left(t))
	}
}

// TestInterrupted: who gives up is told who was charged.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	north, south := open(t, "north", pure, 50, nil), open(t, "southern", pure, 60, nil)
	far, wire := south.breaking(t, "far")
	wire.deaf.Store(1)
	wire.Config.Handler = stopping(wire.Config.Handler, cancel)
	_, err := Together(north.Server, far).Ask(ctx, Question{SQL: "SELECT COUNT(*) FROM patients"})
	var partial *Partial
	if !errors.As(err, &partial) || partial.Request == "" {
		t.Errorf("it says %v", err)
	}
	if left := south.left(t); left != "10 -" {
		t.Errorf("%s are left at the server that was not asked", left)
	}
}

// TestTokenOfAnother: a token that was copied from one server to another is sent to neither.
func TestTokenOfAnother(t *testing.T) {
	var heard atomic.Int32
	server := func() *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
		t.Cleanup(s.Close)
		return s
	}
	one, other := server(), server()
	to := func(name, address, token string) *Server {
		s, err := New(address, token)
		must(t, err)
		s.Name = name
		return s
	}
	_, err := Together(to("one", one.URL, "secret"), to("other", other.URL, " secret\n")).Price(t.Context(), Question{SQL: "SELECT 1"})
	if err == nil || !strings.Contains(err.Error(), "other and one have the same token") || heard.Load() != 0 {
		t.Errorf("%v; %d requests were sent", err, heard.Load())
	}
	// Two datasets of one server have one token, whatever this machine is called.
	again := strings.Replace(one.URL, "127.0.0.1", "localhost", 1) + "/clinic"
	must(t, Together(to("one", one.URL, "secret"), to("again", again, "secret")).check())
}

// TestChangedMeanwhile: a request whose data has changed cannot be asked again, and nobody is told
// to.
func TestChangedMeanwhile(t *testing.T) {
	ctx, q := t.Context(), Question{SQL: "SELECT COUNT(*) FROM patients"}
	north, south := open(t, "north", pure, 50, nil), open(t, "southern", pure, 60, nil)
	far, wire := south.breaking(t, "far")
	wire.deaf.Store(maxTries)
	_, err := Together(north.Server, far).Ask(ctx, q)
	var partial *Partial
	if !errors.As(err, &partial) || !strings.Contains(err.Error(), "Ask again with the request "+partial.Request) {
		t.Fatal(err)
	}
	north.hospital.Patients = north.hospital.Patients[:40]
	must(t, north.hospital.Write(north.data))
	q.Request = partial.Request
	_, err = Together(north.Server, far).Ask(ctx, q)
	if !errors.As(err, &partial) || partial.Failures[0].Kind != kindOtherRequest ||
		!strings.Contains(err.Error(), "another data version") ||
		!strings.Contains(err.Error(), "cannot be sent again to north: ask without it") {
		t.Fatal(err)
	}
	q.Request = ""
	a, err := Together(north.Server, far).Ask(ctx, q)
	if err != nil || a.Servers[0].Answer.Receipt.Free || !a.Servers[1].Answer.Receipt.Free || north.left(t) != "9 -" ||
		south.left(t) != "9.5 -" {
		t.Errorf("%+v, %v; %s and %s are left", a, err, north.left(t), south.left(t))
	}
}
