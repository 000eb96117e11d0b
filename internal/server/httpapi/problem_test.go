package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/server/admission"
)

// TestPanics: a panic is a fixed problem, and cuts what has begun.
func TestPanics(t *testing.T) {
	w := newWorld(t)
	w.api.router.mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("pid 37 has HIV") })
	w.api.router.mux.HandleFunc("GET /late", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, strings.Repeat("x", 100000))
		panic("pid 37 has HIV")
	})
	document := w.document
	w.document = nil // these are planted, and so not documented
	got := w.want(w.call("GET", "/panic", "ana", ""), 500)
	w.fitsIn(document, got.body)
	if got.get("kind") != "unexpected" || strings.Contains(got.body+w.log.String(), "HIV") ||
		!strings.Contains(w.log.String(), "a panic was caught") {
		t.Error(got.body, w.log)
	}
	response, err := w.server.Client().Do(w.request("GET", "/late", "ana", ""))
	if err == nil {
		_, err = io.ReadAll(response.Body)
	}
	if err == nil {
		t.Error("half an answer looks like a whole one")
	}
	w.want(w.call("GET", "/v1/me", "ana", ""), 200)
}

func (w *world) fitsIn(document map[string]any, text string) {
	w.t.Helper()
	w.document = document
	w.fits("problem", map[string]any{"$ref": "#/components/schemas/Problem"}, text)
	w.document = nil
}

// deadlines remembers which deadlines for reading were set.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error { d.set = append(d.set, t); return nil }

// TestDeadlineIsTakenAway: while a question is answered no deadline for reading is left, or
// net/http would take it for a client that hung up and the question would be canceled.
func TestDeadlineIsTakenAway(t *testing.T) {
	w := newWorld(t)
	for _, c := range [][3]string{{"POST", "/v1/query", count}, {"POST", "/v1/query", ""}, {"GET", "/v1/receipts", ""}} {
		body := c[2]
		r := httptest.NewRequest(c[0], c[1], strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+w.tokens["ana"])
		r.Header.Set("Content-Type", "application/json")
		d := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		w.api.layers.handler().ServeHTTP(d, r)
		if len(d.set) == 0 || !d.set[len(d.set)-1].IsZero() || body != "" && d.set[0].IsZero() {
			t.Errorf("%v: %v", c, d.set)
		}
	}
}

// broken is a body that ends badly.
type broken struct{ error }

func (b broken) Read([]byte) (int, error) { return 0, b.error }

type late struct{ error }

func (late) Timeout() bool   { return true }
func (late) Temporary() bool { return true }

func TestBodyThatDoesNotCome(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		err    error
		status int
	}{{late{errors.New("late")}, 408}, {io.ErrUnexpectedEOF, 400}} {
		r := httptest.NewRequest("POST", "/v1/query", broken{c.err})
		r.Header.Set("Authorization", "Bearer "+w.tokens["ana"])
		got := httptest.NewRecorder()
		w.api.layers.handler().ServeHTTP(got, r)
		if got.Code != c.status || got.Header().Get("Connection") != "close" {
			t.Errorf("%v: %d %s", c.err, got.Code, got.Body)
		}
		w.fits("body", map[string]any{"$ref": "#/components/schemas/Problem"}, got.Body.String())
	}
}

// TestLogHasNoData: the log has who, where and what came of it, and nothing of texts, answers,
// secrets and time.
func TestLogHasNoData(t *testing.T) {
	w := newWorld(t)
	w.call("POST", "/v1/query", "ana", `{"sql":"SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV'"}`)
	w.call("GET", "/v1/datasets/private-name?x=private-name", "ana", "")
	w.call("GET", "/private-name", "ana", "")
	w.call("GET", "/v1/me", "", "", "Authorization", basic("private-name", "private-name"))
	text := w.log.String()
	if strings.Contains(text, "HIV") || strings.Contains(text, "private-name") || strings.Contains(text, w.tokens["ana"]) ||
		strings.Contains(text, "duration") {
		t.Error(text)
	}
	if !strings.Contains(text, `request=the-same user=ana address=127.0.0.1 method=POST route="POST /v1/query" status=200`) {
		t.Error(text)
	}
	if n := bytes.Count([]byte(text), []byte("\n")); n != 3 { // a stranger's is for debugging
		t.Errorf("%d lines", n)
	}
}

// Requests are counted by their length before they are read, also those that wait for no turn: who
// sends long ones all the time is told when to come again, and nobody else is. An owner never is.
func TestRequestsAreCounted(t *testing.T) {
	w := newWorld(t)
	defer func(before time.Duration) { longestPause = before }(longestPause)
	longestPause = 20 * time.Millisecond
	w.configure(func(o *Options) { o.Dispatcher = admission.New(w.db, admission.Options{Patience: -1}) })
	rows := `{"rows": [{"a": 1}]` + strings.Repeat(" ", 900_000) + `}` // long, and soon read: what was counted comes back with time
	for _, user := range []string{"ana", "olga"} {
		statuses := map[int]int{}
		for range 8 {
			got := w.call("POST", "/v1/models/none/predict", user, rows)
			statuses[got.status]++
			if got.status == 429 && (got.get("kind") != "limit" || got.get("spent") != false || got.header.Get("Retry-After") == "") {
				t.Error(got.body)
			}
		}
		if limited := statuses[429] > 0; limited != (user == "ana") || statuses[404] == 0 || len(statuses) > 2 {
			t.Errorf("%s: %v", user, statuses)
		}
	}
	limited := 0
	for i := range 300 { // short ones count too, after some dozens
		if got := w.call("GET", "/v1/datasets", "ben", ""); got.status == 429 {
			limited++
		} else if got.status != 200 {
			t.Errorf("request %d: %d", i, got.status)
		}
		if i < 150 && limited > 0 {
			t.Fatalf("request %d was one too many", i)
		}
	}
	if limited == 0 {
		t.Error("nobody was told to wait")
	}
}

// TestBrokenConnections: garbage, half a request and half a body harm nobody, and cost nothing.
func TestBrokenConnections(t *testing.T) {
	w := newWorld(t)
	address := strings.TrimPrefix(w.server.URL, "http://")
	head := "POST /v1/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + w.tokens["ana"] + "\r\nContent-Type: application/json\r\n"
	for name, text := range map[string]string{
		"TLS":                  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"PostgreSQL":           "\x00\x00\x00\x08\x04\xd2\x16\x2f",
		"zeros":                strings.Repeat("\x00", 4096),
		"half a line":          "GET /v1/m",
		"half a head":          head,
		"half a body":          head + "Content-Length: 100\r\n\r\n{\"sql\":",
		"a broken chunk":       head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		"two lengths":          head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
		"a negative length":    head + "Content-Length: -1\r\n\r\n",
		"a length and no body": head + "Content-Length: 99999999999\r\n\r\n",
		"another host":         "GET http://elsewhere.example/v1/me HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n",
		"a tunnel":             "CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n",
		"a star":               "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		c, err := net.Dial("tcp", address)
		must(t, err)
		io.WriteString(c, text)
		c.(*net.TCPConn).CloseWrite()
		answer, _ := io.ReadAll(c)
		c.Close()
		if first, _, _ := strings.Cut(string(answer), "\r\n"); strings.Contains(first, " 200 ") && name != "a star" {
			t.Errorf("%s: %s", name, answer)
		}
		w.want(w.call("GET", "/v1/me", "ana", ""), 200)
	}
	if got := w.want(w.call("GET", "/v1/audit", "olga", ""), 200); number(got, "decisions") != "0" {
		t.Error(got.body)
	}
	if text := fmt.Sprint(w.log); strings.Contains(text, "panic") {
		t.Error(text)
	}
}
