package server

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

func (h *hostile) secure(c net.Conn, protocols ...string) *tls.Conn {
	return tls.Client(c, h.secured(protocols...))
}

func pgError(m *pgproto3.ErrorResponse) error {
	return &pgconn.PgError{Code: m.Code, Message: m.Message}
}

// halfRequest sends a head that does not end.
func (h *hostile) halfRequest(ctx context.Context) error {
	raw, err := h.open(ctx, h.HTTP)
	if err != nil {
		return err
	}
	c := h.secure(raw, "http/1.1")
	defer c.Close()
	if _, err := c.Write([]byte("POST /v1/query HTTP/1.1\r\nHost: x\r\nX: ")); err != nil {
		return err
	}
	for range 120 {
		h.rest(ctx, 500*time.Millisecond)
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
	}
	return errUnanswered
}

// request sends one from an address, without keeping its connection.
func (h *hostile) request(ctx context.Context, address, method, at, token, body string) error {
	c := h.client(address, h.n%2 == 0)
	defer c.CloseIdleConnections()
	_, err := fetchWith(ctx, c, method, "https://"+h.HTTP+at, token, body)
	return err
}

func (h *hostile) wrongSignIn(ctx context.Context) error {
	body, err := json.Marshal(map[string]string{"name": h.name(), "password": "correct horse battery"})
	if err != nil {
		return err
	}
	return h.request(ctx, h.stranger(), "POST", "/v1/signin", "", string(body))
}

func (h *hostile) wrongCookie(ctx context.Context) error {
	c := h.client(h.stranger(), h.n%2 == 0)
	defer c.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, "GET", "https://"+h.HTTP+"/v1/me", nil)
	if err != nil {
		return err
	}
	secret := fmt.Sprintf("%064x", h.dice.Uint64())
	if h.n%4 < 2 {
		r.AddCookie(&http.Cookie{Name: "__Host-discreet_session", Value: secret})
	} else {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	a, err := c.Do(r)
	if err != nil {
		return err
	}
	io.Copy(io.Discard, a.Body)
	a.Body.Close()
	return &statusError{status: a.StatusCode}
}

// ask sends a question over HTTP with the client's account.
func (h *hostile) ask(ctx context.Context, at, text string) error {
	if h.web == nil {
		h.web = h.client(h.home(), true)
	}
	_, err := fetchWith(ctx, h.web, "POST", "https://"+h.HTTP+at, h.who.Token, fmt.Sprintf(`{"dataset": "hospital", "sql": %q}`, text))
	return err
}

func (h *hostile) expensivePrice(ctx context.Context) error {
	return h.ask(ctx, "/v1/explain", h.expensive())
}

func (h *hostile) newQuestionsHTTP(ctx context.Context) error {
	return h.ask(ctx, "/v1/query", h.fresh())
}

func (h *hostile) deafOne(ctx context.Context) error {
	return h.deaf(ctx, h.client(h.home(), false), 1)
}
func (h *hostile) deafTwo(ctx context.Context) error {
	return h.deaf(ctx, h.client(h.home(), true), 20)
}

// deaf asks for large answers and reads nothing of them.
func (h *hostile) deaf(ctx context.Context, c *http.Client, streams int) error {
	defer c.CloseIdleConnections()
	results := make(chan error, streams)
	for range streams {
		go func() {
			results <- func() error {
				r, err := http.NewRequestWithContext(ctx, "POST", "https://"+h.HTTP+"/v1/query",
					strings.NewReader(fmt.Sprintf(`{"dataset": "hospital", "sql": %q}`, rows(8000))))
				if err != nil {
					return err
				}
				r.Header.Set("Authorization", "Bearer "+h.who.Token)
				r.Header.Set("Content-Type", "application/json")
				a, err := c.Do(r)
				if err != nil {
					return err
				}
				defer a.Body.Close()
				if a.StatusCode != http.StatusOK {
					h.rest(ctx, time.Second)
					return &statusError{status: a.StatusCode}
				}
				h.rest(ctx, 45*time.Second)
				_, err = io.Copy(io.Discard, a.Body)
				return err
			}()
		}()
	}
	var err error
	for range streams {
		if e := <-results; e != nil {
			err = e
		}
	}
	return err
}

// unsentBody says how long its body is, and sends none.
func (h *hostile) unsentBody(ctx context.Context) error {
	body, out := io.Pipe()
	defer out.Close()
	c := h.client(h.home(), true)
	defer c.CloseIdleConnections()
	ctx, stop := context.WithTimeout(ctx, 40*time.Second)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, "POST", "https://"+h.HTTP+"/v1/query", body)
	if err != nil {
		return err
	}
	r.ContentLength = 1 << 20
	r.Header.Set("Authorization", "Bearer "+h.who.Token)
	r.Header.Set("Content-Type", "application/json")
	a, err := c.Do(r)
	if err != nil {
		return err
	}
	a.Body.Close()
	h.rest(ctx, time.Second)
	return &statusError{status: a.StatusCode}
}

// sparseSession opens a session and asks it for ever.
func (h *hostile) sparseSession(ctx context.Context) error {
	if h.web == nil {
		h.web = h.client(h.home(), true)
	}
	at := "https://" + h.HTTP + "/v1/sessions"
	text, err := fetchWith(ctx, h.web, "POST", at, h.who.Token, `{"kind": "sparse", "dataset": "hospital", "epsilon": 0.01}`)
	if err != nil {
		h.rest(ctx, time.Second)
		return err
	}
	var session struct{ ID string }
	if err := json.Unmarshal([]byte(text), &session); err != nil {
		return err
	}
	for i := range 200 {
		if _, err := fetchWith(ctx, h.web, "POST", at+"/"+session.ID+"/ask", h.who.Token,
			fmt.Sprintf(`{"sql": "SELECT COUNT(*) FROM patients WHERE age > %d", "threshold": 1000000}`, i%90)); err != nil {
			return err
		}
	}
	return nil
}

func (h *hostile) strangeResets(ctx context.Context) error {
	return h.resets(ctx, h.stranger(), "GET", "/v1/signin", "", "")
}

func (h *hostile) ownResets(ctx context.Context) error {
	return h.resets(ctx, h.home(), "POST", "/v1/query", h.who.Token, `{"dataset": "hospital", "sql": "SELECT COUNT(*) FROM patients"}`)
}

// resets opens streams of HTTP/2 and resets each at once (CVE-2023-44487).
func (h *hostile) resets(ctx context.Context, address, method, at, token, body string) error {
	raw, err := h.dial(ctx, h.HTTP, address)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { raw.Close() })()
	defer raw.Close()
	c := h.secure(raw, "h2")
	if _, err := c.Write(append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0, nil)...)); err != nil {
		return err
	}
	over := make(chan error, 1)
	go func() { over <- wait(c, time.Minute) }()
	var head []byte
	fields := []string{":method", method, ":scheme", "https", ":authority", "127.0.0.1", ":path", at}
	if token != "" {
		fields = append(fields, "authorization", "Bearer "+token, "content-type", "application/json")
	}
	for i := 0; i < len(fields); i += 2 { // literals that are not indexed, as HPACK writes them
		head = append(append(append(append(append(head, 0), byte(len(fields[i]))), fields[i]...), byte(len(fields[i+1]))), fields[i+1]...)
	}
	for n := range uint32(20_000) {
		stream := 2*n + 1
		flags := byte(4) // the end of the head
		if body == "" {
			flags |= 1 // and of the stream
		}
		b := frame(1, flags, stream, head)
		if body != "" {
			b = append(b, frame(0, 1, stream, []byte(body))...)
		}
		if _, err := c.Write(append(b, frame(3, 0, stream, binary.BigEndian.AppendUint32(nil, 8))...)); err != nil {
			return err
		}
		if n%50 == 49 {
			select {
			case err := <-over:
				return err
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return nil
}

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}
