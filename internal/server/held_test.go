package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

// reading is a server with TLS and clients of it.
type reading struct {
	*Server
	url, token string
	pool       *x509.CertPool
}

func newReading(t *testing.T, patience time.Duration) *reading {
	t.Helper()
	return newReadingOf(t, world(t, ""), patience)
}

func newReadingOf(t *testing.T, c Config, patience time.Duration) *reading {
	t.Helper()
	dir := t.TempDir()
	c.Certificate, c.Key, c.Rate, c.patience = filepath.Join(dir, "crt"), filepath.Join(dir, "key"), 1_000_000, patience
	pool := x509.NewCertPool()
	pool.AddCert(issue(t, c.Certificate, c.Key, 1))
	token := tokenOf(t, c)
	s := opened(t, c)
	return &reading{s, "https://" + s.HTTPAddr().String(), token, pool}
}

// client is one of HTTP/2, with one connection, or of HTTP/1.
func (r *reading) client(t *testing.T, two bool) *http.Client {
	t.Helper()
	var p http.Protocols
	p.SetHTTP2(two)
	p.SetHTTP1(!two)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: r.pool}, Protocols: &p,
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 16 << 10, MaxReceiveBufferPerConnection: 3 << 20}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (r *reading) ask(t *testing.T, c *http.Client, sql, accept string) *http.Response {
	t.Helper()
	a, err := c.Do(r.request(t, strings.NewReader(fmt.Sprintf(`{"sql": %q}`, sql)), accept))
	if err != nil {
		t.Error(err)
		return &http.Response{Body: http.NoBody}
	}
	t.Cleanup(func() { a.Body.Close() })
	return a
}

func (r *reading) request(t *testing.T, body io.Reader, accept string) *http.Request {
	t.Helper()
	q, err := http.NewRequest("POST", r.url+"/v1/query", body)
	must(t, err)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Authorization", "Bearer "+r.token)
	q.Header.Set("Accept", accept)
	return q
}

// until waits for something that takes a while.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 3000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error(what)
}

// rows is a question that is free once it was asked, with an answer of so many rows of 1 KB.
func rows(n int) string {
	return fmt.Sprintf("SELECT a.n, g.i, repeat('x', 900) AS x FROM (SELECT count(*) AS n FROM patients) AS a, "+
		"generate_series(1, %d) AS g(i)", n)
}

// Answers that nobody reads are within their user's limit, whichever way they are asked for: who
// asks for more is told, with when to try again. Then they are dropped.
func TestUnreadAnswers(t *testing.T) {
	type way struct {
		two    bool
		accept string
		n      int // more than there is room for
	}
	others := []way{{true, "application/x-ndjson", 14}, {true, "text/csv", 18}, {false, "application/json", 10}}
	for _, c := range append([]way{{true, "application/json", 10}}, daily.Sample(t, others, 1)...) {
		t.Run(fmt.Sprintf("HTTP/2 %v, %s", c.two, c.accept), func(t *testing.T) {
			r := newReading(t, 10*time.Minute) // a busy machine needs long to ask for all of them
			client := r.client(t, c.two)
			r.ask(t, client, "SELECT count(*) FROM patients", "application/json").Body.Close()
			before := inUse()
			answers := make(chan *http.Response, c.n)
			for range c.n {
				go func() { answers <- r.ask(t, client, rows(8000), c.accept) }()
			}
			begun, told := []*http.Response{}, 0
			for range c.n {
				a := <-answers
				if a.StatusCode == http.StatusOK {
					begun = append(begun, a)
					continue
				}
				text, _ := io.ReadAll(a.Body)
				if a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "30" ||
					!bytes.Contains(text, []byte("read")) {
					t.Errorf("%s %s %s", a.Status, a.Header.Get("Retry-After"), text)
				}
				told++
			}
			counted, held := r.held.Held(), inUse()-before
			t.Logf("%d answers have begun and %d were refused; %d bytes are counted, %d in use", len(begun), told, counted, held)
			if len(begun) < 3 || told == 0 || counted > 64<<20 || held > 96<<20 {
				t.Error("this is not what is documented")
			}
			for _, a := range begun { // who reads gets all of it
				text, err := io.ReadAll(a.Body)
				if err != nil || len(text) < 8000*900 {
					t.Errorf("%d bytes, %v", len(text), err)
				}
			}
			until(t, "bytes are held for answers that were read", func() bool { return r.held.Held() == 0 })
		})
	}
}

// deaf is a connection that is not read any more once it is told so.
type deaf struct {
	net.Conn
	now  chan struct{}
	done chan struct{}
}

func (d *deaf) Read(p []byte) (int, error) {
	select {
	case <-d.now:
		<-d.done
		return 0, io.EOF
	default:
		return d.Conn.Read(p)
	}
}

// Who reads nothing is cut off, be it one stream or the whole connection, and what was held for
// them is given back.
func TestDeafClients(t *testing.T) {
	t.Parallel() // it waits
	r := newReading(t, time.Second)
	begun := r.ask(t, r.client(t, true), rows(8000), "application/json")
	until(t, "a stream that nobody reads is held", func() bool { return r.held.Held() == 0 })
	if text, err := io.ReadAll(begun.Body); err == nil {
		t.Errorf("all of it came: %d bytes", len(text))
	}
	r.ask(t, r.client(t, false), rows(8000), "application/x-ndjson")
	until(t, "a connection of HTTP/1 that nobody reads is held", func() bool { return r.held.Held() == 0 })
	until(t, "the owner is not told", func() bool { return r.turnedAway()["unread"] == 2 })
	d := &deaf{now: make(chan struct{}), done: make(chan struct{})}
	defer close(d.done)
	client := r.client(t, true)
	client.Transport.(*http.Transport).HTTP2.MaxReceiveBufferPerStream = 3 << 20
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (c net.Conn, err error) {
		d.Conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return d, err
	}
	r.ask(t, client, "SELECT count(*) FROM patients", "application/json").Body.Close()
	close(d.now)
	for range 4 {
		go client.Do(r.request(t, strings.NewReader(fmt.Sprintf(`{"sql": %q}`, rows(8000))), "application/json"))
	}
	until(t, "nothing was asked", func() bool { return r.held.Held() > 8<<20 })
	until(t, "a connection of HTTP/2 that nobody reads is held", func() bool { return r.held.Held() == 0 })
}

// Who is slow, and goes on, gets all of it: twice as long as nothing may be read.
func TestSlowReaders(t *testing.T) {
	t.Parallel() // it waits
	for _, two := range []bool{true, false} {
		t.Run(fmt.Sprintf("HTTP/2 %v", two), func(t *testing.T) {
			t.Parallel()
			r := newReading(t, 4*time.Second)
			a := r.ask(t, r.client(t, two), rows(8000), "application/json")
			read, b := 0, make([]byte, 16<<10)
			for {
				n, err := a.Body.Read(b)
				read += n
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("after %d bytes: %v", read, err)
				}
				time.Sleep(time.Duration(n) * 8 * time.Second / (8000 * 900))
			}
			if read < 8000*900 {
				t.Errorf("%d bytes", read)
			}
		})
	}
}

// Bodies count from when their length is there, with what they will be read into.
func TestUnsentBodies(t *testing.T) {
	t.Parallel() // it waits
	r := newReading(t, time.Minute)
	client := r.client(t, true)
	for i := range 8 {
		body, out := io.Pipe()
		defer out.Close()
		q := r.request(t, body, "application/json")
		q.ContentLength = 1 << 20
		if i < 3 { // of 16 MiB each
			before := r.held.Held()
			go client.Do(q)
			until(t, "it does not come", func() bool { return r.held.Held() > before })
			continue
		}
		a, err := client.Do(q)
		must(t, err)
		text, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if a.StatusCode != http.StatusTooManyRequests || !bytes.Contains(text, []byte(`"spent":false`)) {
			t.Errorf("%s %s", a.Status, text)
		}
	}
	if n := r.held.Held(); n > 64<<20 {
		t.Errorf("%d bytes are counted", n)
	}
	if n := r.turnedAway()["memory_user"]; n != 5 {
		t.Errorf("%d were turned away, by what the owner is told", n)
	}
}
