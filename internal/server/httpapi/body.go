package httpapi

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// maxBody is how many bytes the body of a request has at most.
const maxBody = 1 << 20

// strangersBody is how many bytes it has from somebody who has not come in yet: a name and a
// password.
const strangersBody = 8 << 10

// bodyTime is how long a body may take to arrive.
const bodyTime = 10 * time.Second

// read takes the body of a request before anything looks at it: all of it or a problem. Afterwards
// no deadline for reading is left, and none may be set: net/http listens on the connection while
// the question is answered, takes a deadline that passes for a client that hung up, and cancels.
// The framework would set one of five seconds before it reads a body, which here is read already.
func (d *door) read(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		var text []byte
		most, words := int64(maxBody), "1 MiB"
		if note(r.Context()).user.Name == "" {
			most, words = strangersBody, "8 KiB"
		}
		if r.Body != nil && r.Body != http.NoBody {
			expected := most
			if r.ContentLength >= 0 {
				expected = min(r.ContentLength, most)
			}
			if err := note(r.Context()).share.Reserve(requestSize + parsedSize*int(expected)); err != nil {
				pause(r, longestPause)
				w.Header().Set("Connection", "close")
				d.write(w, r, unasked(err))
				return
			}
			if r.ContentLength > 0 {
				if err := d.count(r, int(expected)); err != nil {
					w.Header().Set("Connection", "close")
					d.write(w, r, unasked(err))
					return
				}
			}
			control.SetReadDeadline(time.Now().Add(bodyTime))
			var err error
			text, err = io.ReadAll(io.LimitReader(r.Body, most+1))
			var late net.Error
			switch {
			case errors.As(err, &late) && late.Timeout():
				w.Header().Set("Connection", "close")
				d.write(w, r,
					&Problem{Status: http.StatusRequestTimeout, Kind: "body", Detail: "the body did not arrive in time", Spent: no})
				return
			case err != nil:
				w.Header().Set("Connection", "close")
				d.write(w, r, &Problem{Status: http.StatusBadRequest, Kind: "body", Detail: "the body could not be read", Spent: no})
				return
			case int64(len(text)) > most:
				w.Header().Set("Connection", "close")
				d.write(w, r,
					&Problem{Status: http.StatusRequestEntityTooLarge, Kind: "body", Detail: "the body is longer than " + words, Spent: no})
				return
			}
		}
		control.SetReadDeadline(time.Time{})
		if r.ContentLength <= 0 { // there is no body, or nobody knew its length before it was read
			if err := d.count(r, len(text)); err != nil {
				d.write(w, r, unasked(err))
				return
			}
		}
		if r.Method == http.MethodPost || r.Method == http.MethodPut {
			// A page elsewhere can make a browser send a body without a type and with what the
			// browser knows, and cannot make it send this one.
			if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != mediaJSON {
				d.write(w, r, &Problem{Status: http.StatusUnsupportedMediaType, Kind: "body", Detail: "the body is not said to be JSON",
					Instead: "send Content-Type: application/json", Spent: no})
				return
			}
			if !utf8.Valid(text) {
				// Go would read it, with other characters in the place of the broken ones.
				d.write(w, r, &Problem{Status: http.StatusBadRequest, Kind: "body", Detail: "the body is not UTF-8", Spent: no})
				return
			}
		}
		r.Header.Set("Content-Type", mediaJSON)
		r.Body = io.NopCloser(bytes.NewReader(text))
		next.ServeHTTP(w, r)
	})
}

// count counts a request like a text of PostgreSQL's protocol that is as long as its body, which is
// about what it takes to read it. Those of an owner are not counted: nobody else's keep them
// waiting.
func (d *door) count(r *http.Request, bytes int) error {
	u := note(r.Context()).user
	if u.Name == "" || u.Role == users.Owner || d.Dispatcher == nil {
		return nil
	}
	err := d.Dispatcher.Came(r.Context(), u.Name, bytes)
	var limit *admission.LimitError
	if errors.As(err, &limit) {
		pause(r, min(limit.Wait, longestPause))
	}
	return err
}

// longestPause is after how long somebody is told that they come too often, or hold too much: so
// they do not come again at once.
const longestPause = time.Second

func pause(r *http.Request, d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	}
}
