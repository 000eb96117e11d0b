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

// let lets those in who say who they are. Only health is for everybody: without a user there is no
// difference between an address that exists and one that does not.
func (d *door) let(next http.Handler) http.Handler {
	foreign := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at := r.URL.EscapedPath(); at == "/healthz" || at == "/readyz" {
			next.ServeHTTP(w, r)
			return
		}
		if foreign.Check(r) != nil {
			d.write(w, r, &Problem{Status: http.StatusForbidden, Kind: "origin",
				Detail: "a page of another origin sent this, and only programs and pages of this one may", Spent: no})
			return
		}
		u, err := d.who(r)
		if err == nil {
			d.metrics.login("in")
			note(r.Context()).user = u
			still := func(ctx context.Context) error { return d.Users.Still(ctx, u) }
			next.ServeHTTP(w, r.WithContext(admission.Checked(r.Context(), still)))
			return
		}
		var locked *users.LockedError
		switch {
		case errors.As(err, &locked):
			d.metrics.login("locked")
			w.Header().Set("Retry-After", seconds(locked.Wait))
			d.write(w, r, &Problem{Status: http.StatusTooManyRequests, Kind: "locked", Detail: "too many failed attempts",
				Instead: "wait as long as Retry-After says", Spent: no})
		case errors.Is(err, users.ErrDenied):
			detail := users.ErrDenied.Error()
			if len(r.Header.Values("Authorization")) == 0 {
				detail = "the request does not say who sends it"
			} else {
				d.metrics.login("denied")
			}
			w.Header().Add("WWW-Authenticate", `Bearer realm="discreet"`)
			w.Header().Add("WWW-Authenticate", `Basic realm="discreet", charset="UTF-8"`)
			d.write(w, r, &Problem{Status: http.StatusUnauthorized, Kind: "denied", Detail: detail,
				Instead: "send Authorization: Bearer and a token, or Basic with name and password", Spent: no})
		default:
			d.write(w, r, problemOf(err))
		}
	})
}

// who finds out who sent a request.
func (d *door) who(r *http.Request) (users.User, error) {
	given := r.Header.Values("Authorization")
	if len(given) != 1 {
		return users.User{}, users.ErrDenied // nobody tried anything, so the trail has nothing to say
	}
	a := users.Attempt{Address: note(r.Context()).address, Door: "http"}
	if name, password, ok := r.BasicAuth(); ok {
		if name == "" || len(name) > maxSecret || len(password) > maxSecret {
			return users.User{}, users.ErrDenied
		}
		a.Name = name
		return d.Users.Password(r.Context(), a, password)
	}
	scheme, secret, _ := strings.Cut(given[0], " ")
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
