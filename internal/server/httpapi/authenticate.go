package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// maxSecretBytes is how long a token or a password can be, in bytes. Longer ones are wrong without
// being looked at.
const maxSecretBytes = 1024

// publicPaths are the addresses that are for everybody: health, and the ways in. Without a user
// there is no difference between any other address that exists and one that does not.
var publicPaths = map[string]bool{"/healthz": true, "/readyz": true, "/v1/signin": true, "/v1/signin/openid": true,
	"/v1/signin/openid/callback": true}

// authenticate lets those in who say who they are.
func (l *layers) authenticate(next http.Handler) http.Handler {
	foreign := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if foreign.Check(r) != nil {
			writeProblem(w, r, errOrigin())
			return
		}
		if publicPaths[r.URL.EscapedPath()] {
			next.ServeHTTP(w, r)
			return
		}
		u, still, err := l.auth.identify(r)
		if err != nil {
			writeProblem(w, r, l.auth.refuse(r, err))
			return
		}
		l.metrics.login("in")
		share := l.held.Share(u.Name, 0)
		defer share.Close()
		if err := share.Take(requestBytes); err != nil {
			writeProblem(w, r, unspentProblem(err))
			return
		}
		infoOf(r.Context()).user, infoOf(r.Context()).share = u, share
		if l.onLogin != nil {
			defer l.onLogin(r.Context())()
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
		Detail: "a page from another origin sent this; only programs and this server's own pages may", Spent: no}
}

func errForwarded(err error) *Problem {
	return &Problem{Status: http.StatusBadRequest, Kind: "proxy", Detail: err.Error(), Spent: no}
}

// authenticator finds out who sends a request.
type authenticator struct {
	users   *users.Store
	metrics *metrics
	secure  bool
	ends    users.Ends
}

// refuse says why somebody was not let in.
func (a *authenticator) refuse(r *http.Request, err error) *Problem {
	var locked *users.LockedError
	switch {
	case errors.As(err, &locked):
		a.metrics.login("locked")
		return &Problem{Status: http.StatusTooManyRequests, Kind: "locked", Detail: "too many failed attempts",
			Instead: "wait as long as Retry-After says", Spent: no, header: http.Header{"Retry-After": {retryAfter(locked.Wait)}}}
	case errors.Is(err, users.ErrDenied):
		p := &Problem{Status: http.StatusUnauthorized, Kind: "denied", Detail: "the request does not say who you are",
			Instead: "send Authorization: Bearer with a token, or Basic with name and password", Spent: no,
			header: http.Header{"Www-Authenticate": {`Bearer realm="discreet"`}}}
		if claimsUser(r) {
			a.metrics.login("denied")
			p.Detail = users.ErrDenied.Error()
		}
		if publicPaths[r.URL.EscapedPath()] {
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

// claimsUser reports whether a request says who sends it, rightly or not.
func claimsUser(r *http.Request) bool {
	return len(r.Header.Values("Authorization")) > 0 || infoOf(r.Context()).visit != "" || publicPaths[r.URL.EscapedPath()]
}

// identify finds out who sent a request, and how to find out later whether they still may.
func (a *authenticator) identify(r *http.Request) (u users.User, still func(context.Context) error, err error) {
	given := r.Header.Values("Authorization")
	if len(given) == 0 {
		return a.identifyByCookie(r)
	}
	if len(given) == 1 {
		u, err = a.identifyByHeader(r, given[0])
	} else {
		err = users.ErrDenied // nobody tried anything, so the trail has nothing to say
	}
	return u, func(ctx context.Context) error { return a.users.CheckAgain(ctx, u) }, err
}

// identifyByHeader is who the header of a request names.
func (a *authenticator) identifyByHeader(r *http.Request, given string) (users.User, error) {
	attempt := users.Attempt{Address: infoOf(r.Context()).address, Listener: "http"}
	if name, password, ok := r.BasicAuth(); ok {
		if name == "" || len(name) > maxSecretBytes || len(password) > maxSecretBytes {
			return users.User{}, users.ErrDenied
		}
		attempt.Name = name
		return a.users.Password(r.Context(), attempt, password)
	}
	scheme, secret, _ := strings.Cut(given, " ")
	secret = strings.Trim(secret, " ")
	if !strings.EqualFold(scheme, "Bearer") || secret == "" || len(secret) > maxSecretBytes {
		return users.User{}, users.ErrDenied
	}
	return a.users.Token(r.Context(), attempt, secret)
}

// retryAfter writes a time to wait as Retry-After has it: whole seconds, and at least one.
func retryAfter(wait time.Duration) string {
	return strconv.FormatInt(max(1, int64((wait+time.Second-1)/time.Second)), 10)
}

// A browser sends a cookie with whatever any page makes it send, so a cookie says who somebody is
// and not that they meant it. It is never sent from other sites (SameSite=Strict), and it is looked
// at only where the browser says that a page of this server, or the user, sent the request; to
// change something it takes a page of this server.

// cookieName is what the cookie of a visit is called. With the prefix a browser takes it from this
// very host over TLS only, so that no neighbour in the domain can put in one of its own.
func (a *authenticator) cookieName() string {
	if a.secure {
		return "__Host-discreet_session"
	}
	return "discreet_session"
}

// cookie is that of a visit. It ends with the browser, and before that when the server says so.
func (a *authenticator) cookie(secret string) http.Cookie {
	return http.Cookie{Name: a.cookieName(), Value: secret, Path: "/", HttpOnly: true, Secure: a.secure, SameSite: http.SameSiteStrictMode}
}

func (a *authenticator) noCookie() http.Cookie {
	c := a.cookie("")
	c.MaxAge = -1
	return c
}

// identifyByCookie is who the cookie of a request names.
func (a *authenticator) identifyByCookie(r *http.Request) (u users.User, still func(context.Context) error, err error) {
	cookies := r.CookiesNamed(a.cookieName())
	if len(cookies) != 1 || cookies[0].Value == "" || len(cookies[0].Value) > maxSecretBytes || !sentByPageOrUser(r) {
		return users.User{}, nil, users.ErrDenied
	}
	if !isSafe(r.Method) && !sentByPage(r) {
		return users.User{}, nil, errOrigin()
	}
	n := infoOf(r.Context())
	n.visit = cookies[0].Value
	u, err = a.users.Visits().Check(r.Context(), users.Attempt{Address: n.address, Listener: loginPage}, n.visit, a.ends)
	return u, func(ctx context.Context) error { return a.users.Visits().CheckAgain(ctx, n.visit, a.ends) }, err
}

// loginPage is the page in the trail of logins.
const loginPage = "page"

// isSafe reports whether a method changes nothing.
func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead
}

// sentByPageOrUser reports whether a request can have been sent by a page of this server or by its
// user: not by a page of another site, nor by one of a neighbour in the domain.
func sentByPageOrUser(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
		return r.Header.Get("Origin") == "" || sameOrigin(r)
	}
	return false
}

// sentByPage reports whether a page of this server sent a request, as its browser says.
func sentByPage(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	return sameOrigin(r)
}

// sameOrigin reports whether a request names the host that it is sent to as where it comes from.
func sameOrigin(r *http.Request) bool {
	from, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && from.Host != "" && from.Host == r.Host
}

// beginVisit begins a visit of somebody who proved who they are. A visit that the browser was in
// ends: nobody goes on in one that somebody else began.
func (a *authenticator) beginVisit(ctx context.Context, u users.User) (secret string, err error) {
	n := infoOf(ctx)
	for _, before := range n.request.CookiesNamed(a.cookieName()) {
		if len(before.Value) <= maxSecretBytes {
			if err := a.users.Visits().End(ctx, before.Value); err != nil {
				return "", err
			}
		}
	}
	if secret, err = a.users.Visits().Begin(ctx, u); err == nil {
		a.metrics.login("in")
		n.user = u
	}
	return secret, err
}
