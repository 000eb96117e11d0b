package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// maxSecret is how long a token or a password can be, in bytes. Longer ones are wrong without being
// looked at.
const maxSecret = 1024

// outside are the addresses that are for everybody: health, and the ways in. Without a user there
// is no difference between any other address that exists and one that does not.
var outside = map[string]bool{"/healthz": true, "/readyz": true, "/v1/signin": true, "/v1/signin/openid": true,
	"/v1/signin/openid/callback": true}

// let lets those in who say who they are.
func (d *door) let(next http.Handler) http.Handler {
	foreign := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if foreign.Check(r) != nil {
			d.write(w, r, errOrigin())
			return
		}
		if outside[r.URL.EscapedPath()] {
			next.ServeHTTP(w, r)
			return
		}
		u, still, err := d.who(r)
		if err != nil {
			d.write(w, r, d.turnedAway(r, err))
			return
		}
		d.metrics.login("in")
		share := d.Held.Share(u.Name, 0)
		defer share.Close()
		if err := share.Take(requestSize); err != nil {
			d.write(w, r, unasked(err))
			return
		}
		note(r.Context()).user, note(r.Context()).share = u, share
		if d.LoggedIn != nil {
			defer d.LoggedIn(r.Context())()
		}
		next.ServeHTTP(w, r.WithContext(admission.Checked(r.Context(), func(ctx context.Context) error {
			err := still(ctx)
			if users.Denied(err) {
				return admission.ErrRevoked
			}
			return err
		})))
	})
}

func errOrigin() *Problem {
	return &Problem{Status: http.StatusForbidden, Kind: "origin",
		Detail: "a page of another origin sent this, and only programs and pages of this one may", Spent: no}
}

func errForwarded(err error) *Problem {
	return &Problem{Status: http.StatusBadRequest, Kind: "proxy", Detail: err.Error(), Spent: no}
}

// turnedAway says why somebody was not let in.
func (d *door) turnedAway(r *http.Request, err error) *Problem {
	var locked *users.LockedError
	switch {
	case errors.As(err, &locked):
		d.metrics.login("locked")
		return &Problem{Status: http.StatusTooManyRequests, Kind: "locked", Detail: "too many failed attempts",
			Instead: "wait as long as Retry-After says", Spent: no, header: http.Header{"Retry-After": {seconds(locked.Wait)}}}
	case errors.Is(err, users.ErrDenied):
		p := &Problem{Status: http.StatusUnauthorized, Kind: "denied", Detail: "the request does not say who sends it",
			Instead: "send Authorization: Bearer and a token, or Basic with name and password", Spent: no,
			header: http.Header{"Www-Authenticate": {`Bearer realm="discreet"`}}}
		if tried(r) {
			d.metrics.login("denied")
			p.Detail = users.ErrDenied.Error()
		}
		if outside[r.URL.EscapedPath()] {
			p.Instead = "try again with the name and the password that you were given"
		}
		// A browser would ask for name and password by itself, and then send them with everything.
		if r.Header.Get("Sec-Fetch-Site") == "" {
			p.header.Add("WWW-Authenticate", `Basic realm="discreet", charset="UTF-8"`)
		}
		return p
	case errors.As(err, new(*Problem)), r.Context().Err() != nil:
		return ProblemOf(err)
	}
	return ProblemOf(admission.ErrUnchecked) // whatever its words are, they are for the owner
}

// tried reports whether a request says who sends it, rightly or not.
func tried(r *http.Request) bool {
	return len(r.Header.Values("Authorization")) > 0 || note(r.Context()).visit != "" || outside[r.URL.EscapedPath()]
}

// who finds out who sent a request, and how to find out later whether they still may.
func (d *door) who(r *http.Request) (u users.User, still func(context.Context) error, err error) {
	given := r.Header.Values("Authorization")
	if len(given) == 0 {
		return d.visitor(r)
	}
	if len(given) == 1 {
		u, err = d.sender(r, given[0])
	} else {
		err = users.ErrDenied // nobody tried anything, so the trail has nothing to say
	}
	return u, func(ctx context.Context) error { return d.Users.Still(ctx, u) }, err
}

// sender is who the header of a request names.
func (d *door) sender(r *http.Request, given string) (users.User, error) {
	a := users.Attempt{Address: note(r.Context()).address, Door: "http"}
	if name, password, ok := r.BasicAuth(); ok {
		if name == "" || len(name) > maxSecret || len(password) > maxSecret {
			return users.User{}, users.ErrDenied
		}
		a.Name = name
		return d.Users.Password(r.Context(), a, password)
	}
	scheme, secret, _ := strings.Cut(given, " ")
	secret = strings.Trim(secret, " ")
	if !strings.EqualFold(scheme, "Bearer") || secret == "" || len(secret) > maxSecret {
		return users.User{}, users.ErrDenied
	}
	return d.Users.Token(r.Context(), a, secret)
}

// seconds writes a time to wait as Retry-After has it: whole seconds, and at least one.
func seconds(wait time.Duration) string {
	return strconv.FormatInt(max(1, int64((wait+time.Second-1)/time.Second)), 10)
}
