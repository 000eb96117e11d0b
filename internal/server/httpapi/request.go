package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/discreet-dp/discreet/internal/server/bytelimit"
	"github.com/discreet-dp/discreet/internal/server/clientaddr"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// notes are what is known about a request while it is on its way in.
type notes struct {
	id      string // names the request, in answers and in the log
	address string // of the peer, without its port
	accept  string // the media type that was agreed on
	route   string // the pattern of its path; empty where there is none
	user    users.User
	share   *bytelimit.Share // bytes that the user holds with it; nil for strangers
	visit   string           // the secret of the cookie that it came with, or nothing
	request *http.Request    // as it came
}

type notesKey struct{}

// note returns the notes of a request; empty ones, where there are none.
func note(ctx context.Context) *notes {
	if n, ok := ctx.Value(notesKey{}).(*notes); ok {
		return n
	}
	return &notes{}
}

// named gives a request its name and an answer the headers that all of them have, and writes the
// line of the log. The line has no duration and no size: both would tell about the data.
func (d *door) named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address, unclear := d.Trusted.OfRequest(r)
		n := &notes{id: r.Header.Get("X-Request-Id"), address: address, accept: agree(r.Header.Values("Accept")), request: r}
		if !isRequestID(n.id) {
			n.id = d.name()
		}
		// Whatever is asked for, the framework writes JSON; who writes something else looks at the
		// notes.
		r.Header.Set("Accept", mediaJSON)
		h := w.Header()
		h.Set("X-Request-Id", n.id)
		if last(r) {
			h.Set("Connection", "close")
		}
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		r = r.WithContext(context.WithValue(r.Context(), notesKey{}, n))
		seen := &watched{ResponseWriter: w, notes: n, refuse: func(err error) { d.write(w, r, ProblemOf(err)) }}
		defer func() {
			level := slog.LevelInfo
			if n.user.Name == "" {
				level = slog.LevelDebug // or strangers could fill the disk; who failed to come in is in the trail
			}
			d.Log.LogAttrs(r.Context(), level, "http", slog.String("request", n.id), slog.String("user", n.user.Name),
				slog.String("address", n.address),
				slog.String("method", method(r.Method)), slog.String("route", n.route), slog.Int("status", seen.status))
		}()
		r = r.WithContext(context.WithValue(r.Context(), notesKey{}, n))
		d.noteProxy(r)
		if unclear != nil {
			d.write(seen, r, errForwarded(unclear))
			return
		}
		next.ServeHTTP(seen, r)
		seen.begin()
	})
}

// noteProxy tells the owner, once, of what looks like a proxy that is not trusted: everybody behind
// it shares the limits of one address. One of another network may be anybody who writes the header.
func (d *door) noteProxy(r *http.Request) {
	if r.Header.Get("X-Forwarded-For") == "" && r.Header.Get("Forwarded") == "" {
		return
	}
	peer := clientaddr.Host(r.RemoteAddr)
	ip, err := netip.ParseAddr(peer)
	if err != nil || d.Trusted.Has(peer) || !ip.Unmap().IsLoopback() && !ip.Unmap().IsPrivate() {
		return
	}
	d.proxied.Do(func() {
		d.Log.LogAttrs(r.Context(), slog.LevelWarn, "requests come through a proxy that is not trusted, so all of its clients share the "+
			"limits of one address; if it is yours, list it in --trust-proxy", slog.String("address", peer))
	})
}

// last reports whether a request is the last of its connection: where it says by Transfer-Encoding
// where its body ends. It may have had a Content-Length too, which net/http drops without a word,
// so that a proxy in front may have seen another end. In HTTP/1.0 it drops the other header, so
// that is always the last. What follows could be somebody's request in another's name, so nothing
// follows: the connection ends with the answer (RFC 9112, 6.1).
func last(r *http.Request) bool { return len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1) }

// method returns a method that may stand in the log: a client can make up its own.
func method(m string) string {
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

// safe turns a panic into a problem, always the same. Where the answer has begun, the connection is
// cut, so that nobody takes half an answer for a whole one.
func (d *door) safe(next http.Handler) http.Handler {
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
			d.Log.LogAttrs(r.Context(), slog.LevelError, "http: a panic was caught", slog.String("request", note(r.Context()).id),
				slog.String("route", note(r.Context()).route))
			if seen, ok := w.(*watched); ok {
				if seen.begun {
					panic(http.ErrAbortHandler)
				}
				seen.status = 0
			}
			d.write(w, r, errUnexpected())
		}()
		next.ServeHTTP(w, r)
	})
}
