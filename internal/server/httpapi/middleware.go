package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"path"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/clientlimits"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// requestInfo is what is known about a request while it is on its way in.
type requestInfo struct {
	id      string // names the request, in answers and in the log
	address string // of the peer, without its port
	accept  string // the media type that was agreed on
	route   string // the pattern of its path; empty where there is none
	user    users.User
	share   *clientlimits.Share // bytes that the user holds with it; nil for strangers
	visit   string              // the secret of the cookie that it came with, or nothing
	request *http.Request       // as it came
}

type requestInfoKey struct{}

// infoOf returns what is known about a request; nothing, where nobody has noted it.
func infoOf(ctx context.Context) *requestInfo {
	if n, ok := ctx.Value(requestInfoKey{}).(*requestInfo); ok {
		return n
	}
	return &requestInfo{}
}

// layers are around the routes, from the outermost in: a name for the request and a net for panics,
// then who it is, then the body, then the route.
type layers struct {
	router     *router
	auth       *authenticator
	dispatcher *admission.Dispatcher // nil where there are no questions
	metrics    *metrics
	held       *clientlimits.Counter
	log        *slog.Logger
	names      *nameSource
	trusted    clientlimits.Trusted
	onLogin    func(context.Context) (over func())

	proxyWarning sync.Once // somebody who is not trusted said for whom they connect
}

func (l *layers) handler() http.Handler {
	return l.nameRequest(l.recoverPanics(l.authenticate(l.readBody(l.route()))))
}

// nameRequest gives a request its name and an answer the headers that all of them have, and writes
// the line of the log. The line has no duration and no size: both would tell about the data.
func (l *layers) nameRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address, unclear := l.trusted.OfRequest(r)
		n := &requestInfo{id: r.Header.Get("X-Request-Id"), address: address, accept: chooseMedia(r.Header.Values("Accept")), request: r}
		if !isRequestID(n.id) {
			n.id = l.names.next()
		}
		// Whatever is asked for, the framework writes JSON; who writes something else looks at the
		// notes.
		r.Header.Set("Accept", mediaJSON)
		h := w.Header()
		h.Set("X-Request-Id", n.id)
		if endsConnection(r) {
			h.Set("Connection", "close")
		}
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		r = r.WithContext(context.WithValue(r.Context(), requestInfoKey{}, n))
		seen := &responseWriter{ResponseWriter: w, notes: n, refuse: func(err error) { writeProblem(w, r, ProblemOf(err)) }}
		defer func() {
			level := slog.LevelInfo
			if n.user.Name == "" {
				level = slog.LevelDebug // or strangers could fill the disk; who failed to come in is in the trail
			}
			l.log.LogAttrs(r.Context(), level, "http", slog.String("request", n.id), slog.String("user", n.user.Name),
				slog.String("address", n.address),
				slog.String("method", loggedMethod(r.Method)), slog.String("route", n.route), slog.Int("status", seen.status))
		}()
		r = r.WithContext(context.WithValue(r.Context(), requestInfoKey{}, n))
		l.warnOfProxy(r)
		if unclear != nil {
			writeProblem(seen, r, errForwarded(unclear))
			return
		}
		next.ServeHTTP(seen, r)
		seen.sendHead()
	})
}

// warnOfProxy tells the owner, once, of what looks like a proxy that is not trusted: everybody
// behind it shares the limits of one address. One of another network may be anybody who writes the
// header.
func (l *layers) warnOfProxy(r *http.Request) {
	if r.Header.Get("X-Forwarded-For") == "" && r.Header.Get("Forwarded") == "" {
		return
	}
	peer := clientlimits.Host(r.RemoteAddr)
	ip, err := netip.ParseAddr(peer)
	if err != nil || l.trusted.Has(peer) || !ip.Unmap().IsLoopback() && !ip.Unmap().IsPrivate() {
		return
	}
	l.proxyWarning.Do(func() {
		l.log.LogAttrs(r.Context(), slog.LevelWarn, "requests come through an untrusted proxy, so all of its clients share the limits of "+
			"one address; if the proxy is yours, list it in --trust-proxy", slog.String("address", peer))
	})
}

// endsConnection reports whether a request is the last of its connection: where it says by
// Transfer-Encoding where its body ends. It may have had a Content-Length too, which net/http drops
// without a word, so that a proxy in front may have seen another end. In HTTP/1.0 it drops the
// other header, so that is always the last. What follows could be somebody's request in another's
// name, so nothing follows: the connection ends with the answer (RFC 9112, 6.1).
func endsConnection(r *http.Request) bool {
	return len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1)
}

// loggedMethod returns a method that may stand in the log: a client can make up its own.
func loggedMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
		http.MethodConnect, http.MethodTrace:
		return m
	}
	return "other"
}

// isRequestID says whether a client's own name for a request is taken.
func isRequestID(id string) bool {
	for _, c := range []byte(id) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// recoverPanics turns a panic into a problem, always the same. Where the answer has begun, the
// connection is cut, so that nobody takes half an answer for a whole one.
func (l *layers) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler {
				panic(v)
			}
			// What was thrown may hold anything, and so is not written down.
			l.log.LogAttrs(r.Context(), slog.LevelError, "http: a panic was caught", slog.String("request", infoOf(r.Context()).id),
				slog.String("route", infoOf(r.Context()).route))
			if seen, ok := w.(*responseWriter); ok {
				if seen.headSent {
					panic(http.ErrAbortHandler)
				}
				seen.status = 0
			}
			writeProblem(w, r, errUnexpected())
		}()
		next.ServeHTTP(w, r)
	})
}

// route sends a request where it belongs, and says in our words where nothing is there. The mux
// would redirect paths that are not clean; here they do not exist, so that every address has one
// spelling.
func (l *layers) route() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at := r.URL.EscapedPath(); at == "" || at[0] != '/' || path.Clean(at) != at {
			writeProblem(w, r, errNoPath())
			return
		}
		h, pattern := l.router.mux.Handler(r)
		if pattern != "" {
			l.metrics.request(pattern)
			infoOf(r.Context()).route = pattern
			l.router.mux.ServeHTTP(w, r)
			return
		}
		var seen discardWriter
		h.ServeHTTP(&seen, r)
		if seen.status != http.StatusMethodNotAllowed {
			writeProblem(w, r, errNoPath())
			return
		}
		w.Header().Set("Allow", seen.Header().Get("Allow"))
		writeProblem(w, r, &Problem{Status: http.StatusMethodNotAllowed, Kind: "method",
			Detail: "this address does not take this method; the header Allow lists those it takes"})
	})
}

func errNoPath() *Problem {
	return &Problem{Status: http.StatusNotFound, Kind: "path", Detail: "there is nothing at this address",
		Instead: "GET /openapi.json lists all addresses"}
}

// discardWriter takes what the mux says about a path that it does not have.
type discardWriter struct {
	header http.Header
	status int
}

func (n *discardWriter) Header() http.Header {
	if n.header == nil {
		n.header = http.Header{}
	}
	return n.header
}
func (n *discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (n *discardWriter) WriteHeader(status int)      { n.status = status }

// maxBodyBytes is how many bytes the body of a request has at most.
const maxBodyBytes = 1 << 20

// maxStrangerBodyBytes is how many bytes it has from somebody who has not come in yet: a name and a
// password.
const maxStrangerBodyBytes = 8 << 10

// bodyTimeout is how long a body may take to arrive.
const bodyTimeout = 10 * time.Second

// readBody takes the body of a request before anything looks at it: all of it or a problem.
// Afterwards no deadline for reading is left, and none may be set: net/http listens on the
// connection while the question is answered, takes a deadline that passes for a client that hung
// up, and cancels. The framework would set one of five seconds before it reads a body, which here
// is read already.
func (l *layers) readBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		var text []byte
		most, words := int64(maxBodyBytes), "1 MiB"
		if infoOf(r.Context()).user.Name == "" {
			most, words = maxStrangerBodyBytes, "8 KiB"
		}
		if r.Body != nil && r.Body != http.NoBody {
			expected := most
			if r.ContentLength >= 0 {
				expected = min(r.ContentLength, most)
			}
			if err := infoOf(r.Context()).share.Reserve(requestBytes + bytesPerBodyByte*int(expected)); err != nil {
				waitAtMost(r, longestPause)
				w.Header().Set("Connection", "close")
				writeProblem(w, r, unspentProblem(err))
				return
			}
			if r.ContentLength > 0 {
				if err := l.admitRequest(r, int(expected)); err != nil {
					w.Header().Set("Connection", "close")
					writeProblem(w, r, unspentProblem(err))
					return
				}
			}
			control.SetReadDeadline(time.Now().Add(bodyTimeout))
			var err error
			text, err = io.ReadAll(io.LimitReader(r.Body, most+1))
			var late net.Error
			switch {
			case errors.As(err, &late) && late.Timeout():
				w.Header().Set("Connection", "close")
				writeProblem(w, r,
					&Problem{Status: http.StatusRequestTimeout, Kind: "body", Detail: "the body did not arrive in time", Spent: no})
				return
			case err != nil:
				w.Header().Set("Connection", "close")
				writeProblem(w, r, &Problem{Status: http.StatusBadRequest, Kind: "body", Detail: "the body could not be read", Spent: no})
				return
			case int64(len(text)) > most:
				w.Header().Set("Connection", "close")
				writeProblem(w, r,
					&Problem{Status: http.StatusRequestEntityTooLarge, Kind: "body", Detail: "the body is longer than " + words, Spent: no})
				return
			}
		}
		control.SetReadDeadline(time.Time{})
		if r.ContentLength <= 0 { // there is no body, or nobody knew its length before it was read
			if err := l.admitRequest(r, len(text)); err != nil {
				writeProblem(w, r, unspentProblem(err))
				return
			}
		}
		if r.Method == http.MethodPost || r.Method == http.MethodPut {
			// A page elsewhere can make a browser send a body without a type and with what the
			// browser knows, and cannot make it send this one.
			if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != mediaJSON {
				writeProblem(w, r, &Problem{Status: http.StatusUnsupportedMediaType, Kind: "body",
					Detail: "the request does not declare its body as JSON", Instead: "send Content-Type: application/json", Spent: no})
				return
			}
			if !utf8.Valid(text) {
				// Go would read it, with other characters in the place of the broken ones.
				writeProblem(w, r, &Problem{Status: http.StatusBadRequest, Kind: "body", Detail: "the body is not UTF-8", Spent: no})
				return
			}
		}
		r.Header.Set("Content-Type", mediaJSON)
		r.Body = io.NopCloser(bytes.NewReader(text))
		next.ServeHTTP(w, r)
	})
}

// admitRequest counts a request like a text of PostgreSQL's protocol that is as long as its body,
// which is about what it takes to read it. Those of an owner are not counted: nobody else's keep
// them waiting.
func (l *layers) admitRequest(r *http.Request, bytes int) error {
	u := infoOf(r.Context()).user
	if u.Name == "" || u.Role == users.Owner || l.dispatcher == nil {
		return nil
	}
	err := l.dispatcher.AdmitRequest(r.Context(), u.Name, bytes)
	var limit *admission.LimitError
	if errors.As(err, &limit) {
		waitAtMost(r, min(limit.Wait, longestPause))
	}
	return err
}

// longestPause is after how long somebody is told that they come too often, or hold too much: so
// they do not come again at once. Tests wait for less.
var longestPause = time.Second

func waitAtMost(r *http.Request, d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	}
}

// What a request holds of its user's share.
const (
	requestBytes       = 16 << 10 // that is taken before anything is done, so that nobody pays who could not be answered
	bytesPerBodyByte   = 16       // for each byte of a body, which is read into values
	bytesPerAnswerByte = 2        // for each byte of an answer that is sent in one piece: it, and what it was made of
)

// unspentProblem is the problem of a request for which there is no room, and which did nothing.
func unspentProblem(err error) *Problem {
	p := *ProblemOf(err)
	p.Spent = no
	return &p
}

// responseWriter remembers whether an answer has begun, and counts what of it waits to be read. Its
// head leaves with its first bytes, so that a problem can still take their place where there is no
// room for them.
type responseWriter struct {
	http.ResponseWriter
	status   int
	headSent bool // whether the head has left
	refused  bool // whether a problem has left instead
	notes    *requestInfo
	refuse   func(error)
}

func (w *responseWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// sendHead lets the head leave, where there is one.
func (w *responseWriter) sendHead() {
	if !w.headSent && w.status != 0 {
		w.ResponseWriter.WriteHeader(w.status)
		w.headSent = true
	}
}

func (w *responseWriter) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil // which nobody misses
	}
	if err := w.notes.share.Reserve(bytesPerAnswerByte * len(p)); err != nil {
		if w.headSent {
			return 0, err
		}
		w.headSent, w.refused, w.status = true, true, http.StatusTooManyRequests
		w.refuse(err)
		return len(p), nil
	}
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.sendHead()
	return w.ResponseWriter.Write(p)
}

func (w *responseWriter) FlushError() error {
	w.sendHead()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// memoryProblem is the problem of who holds too much.
func memoryProblem(e *clientlimits.FullError) *Problem {
	instead := "read or close the answers that are on their way to you, or wait as long as Retry-After says"
	if e.Others {
		instead = "wait as long as Retry-After says"
	}
	return &Problem{Status: http.StatusTooManyRequests, Kind: "limit", Detail: e.Error(),
		Instead: instead + ", and ask again: what was paid for is free",
		header:  http.Header{"Retry-After": {retryAfter(e.Wait)}}}
}
