package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/ledger"
)

// TestProblems: each error has its code, and what is not known has no words of its own.
func TestProblems(t *testing.T) {
	const secret = "pid 37 has HIV"
	for _, c := range []struct {
		err    error
		status int
		kind   string
		spent  *bool
		retry  string
	}{
		{&api.Refusal{Reason: "no", Position: 3}, 422, "refused", no, ""},
		{fmt.Errorf("wrapped: %w", &api.Refusal{Reason: "no", Position: -1}), 422, "refused", no, ""},
		{&ledger.BudgetError{Account: "hospital", Want: dp.Cost{Epsilon: 2}, Left: dp.Cost{Epsilon: 1}}, 402, "budget", no, ""},
		{&admission.LimitError{Reason: "slowly", Wait: 1500 * time.Millisecond}, 429, "limit", no, "2"},
		{&admission.LimitError{Reason: "slowly"}, 429, "limit", no, "1"},
		{admission.ErrEnding, 503, "ending", no, "5"},
		{admission.ErrOpening, 503, "opening", no, "5"},
		{admission.ErrRevoked, 401, "denied", no, ""},
		{admission.ErrUnchecked, 503, "users", no, "5"},
		{fmt.Errorf("HIV: %w", api.ErrMoved), 409, "moved", yes, ""},
		{admission.ErrTimeout, 504, "timeout", nil, ""},
		{admission.ErrCanceled, 499, "canceled", nil, ""},
		{fmt.Errorf("asked: %w", &admission.Stopped{Free: true}), 499, "canceled", no, ""},
		{admission.ErrWithdrawn, 499, "canceled", no, ""},
		{&api.AroundError{Text: "too many rows"}, 422, "refused", no, ""},
		{fmt.Errorf("HIV: %w", &api.AroundError{Text: "too many rows", Bought: true}), 422, "refused", nil, ""},
		{context.Canceled, 499, "canceled", nil, ""},
		{admission.ErrInternal, 500, "unexpected", nil, ""},
		{admission.ErrNoSession, 404, "missing", no, ""},
		{&ledger.RequestError{Request: "ana:x", Differs: "question"}, 409, "request", no, ""},
		{&ledger.WindowError{Dataset: "hospital", Window: 1, Want: 2}, 409, "window", no, ""},
		{&ledger.LapsedError{Request: "ana:x", Dataset: "hospital", Window: 1, Now: 2}, 409, "window", no, ""},
		{&ledger.LapsedError{Request: "ana:x", Dataset: "hospital", Window: 1, Now: 2, Charged: true}, 409, "window", yes, ""},
		{&ledger.InvalidError{Field: "request", Problem: "is missing"}, 422, "invalid", no, ""},
		{&ledger.WriteError{Path: "/srv/secret", Charged: true, Err: errors.New(secret)}, 503, "ledger", yes, "60"},
		{&ledger.WriteError{Path: "/srv/secret", Broken: true, Err: errors.New(secret)}, 503, "ledger", nil, "60"},
		{&ledger.WriteError{Path: "/srv/secret", Err: errors.New(secret)}, 503, "ledger", no, "60"},
		{&ledger.WriteError{Path: "/srv/secret", Remote: true, Unknown: true, Err: errors.New(secret)}, 503, "ledger", nil, "60"},
		{&ledger.CorruptError{Path: "/srv/secret", Where: secret}, 500, "unexpected", nil, ""},
		{api.ErrSessionUsed, 410, "ended", nil, ""},
		{api.ErrSessionAsked, 410, "ended", nil, ""},
		{api.ErrSessionRun, 410, "ended", nil, ""},
		{api.ErrSessionData, 410, "ended", nil, ""},
		{api.ErrSessionWindow, 410, "ended", nil, ""},
		{api.ErrStreamPart, 402, "budget", nil, ""},
		{api.ErrLabels, 503, "data", no, "60"},
		{api.ErrHoldoutRun, 503, "data", nil, "60"},
		{api.ErrChanging, 503, "data", nil, "5"},
		{fmt.Errorf("HIV: %w", &api.DataError{Err: errors.New("/srv/x is not there")}), 503, "data", nil, "60"},
		{&ledger.NoRecordError{Sequence: 9}, 500, "unexpected", nil, ""},
		{errors.ErrUnsupported, 501, "unsupported", no, ""},
		{&api.DataError{Err: errors.New(secret)}, 503, "data", nil, "60"},
		{errors.New(secret), 500, "unexpected", nil, ""},
	} {
		p := ProblemOf(c.err)
		if p.Status != c.status || p.Kind != c.kind || p.Spent != c.spent || p.header.Get("Retry-After") != c.retry {
			t.Errorf("%v: %+v", c.err, p)
		}
		if text := fmt.Sprint(p.Detail, p.Instead); strings.Contains(text, "HIV") || strings.Contains(text, "/srv") {
			t.Errorf("%v: %s", c.err, text)
		}
	}
}

// TestPanics: a panic is a fixed problem, and cuts what has begun.
func TestPanics(t *testing.T) {
	w := newWorld(t)
	w.door.routes.mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("pid 37 has HIV") })
	w.door.routes.mux.HandleFunc("GET /late", func(w http.ResponseWriter, _ *http.Request) {
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
		w.door.handler().ServeHTTP(d, r)
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
		w.door.handler().ServeHTTP(got, r)
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
	if n := bytes.Count([]byte(text), []byte("\n")); n != 4 { // a stranger's is for debugging
		t.Errorf("%d lines", n)
	}
}
