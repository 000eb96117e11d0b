package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/internal/server/users"
)

// Ways are how one signs in.
type Ways struct {
	Password bool    `json:"password" doc:"By POST /v1/signin with name and password"`
	OpenID   *OpenID `json:"openid,omitempty" doc:"By sending the browser to /v1/signin/openid; left out where there is no provider"`
	Demo     bool    `json:"demo" doc:"The data is made up, and the server ends with the terminal that it was started in"`
	Me       *Me     `json:"me,omitempty" doc:"Whom the cookie of this browser names; missing where nobody is signed in"`
}

// OpenID is a provider that says who somebody is.
type OpenID struct {
	Name string `json:"name" doc:"What to call it"`
}

type signInInput struct {
	Body struct {
		Name     string `json:"name" minLength:"1" maxLength:"256"`
		Password string `json:"password" minLength:"1" maxLength:"1024"`
	}
}

type signInAnswer struct {
	SetCookie http.Cookie `header:"Set-Cookie" doc:"discreet_session, or __Host-discreet_session with TLS"`
	Body      Me
}

type signOutInput struct {
	Body struct {
		Everywhere bool `json:"everywhere,omitempty" doc:"End all of your sessions, in other browsers too"`
	}
}

type signOutAnswer struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

// signIns adds the ways for browsers. What one gets by them is a visit: a session of a browser, and
// not of a mechanism.
func (d *door) signIns() {
	huma.Register(d.api, operation(everybody, http.MethodGet, "/v1/signin", "ways", "How to sign in",
		"The ways that this server has, for a page that asks somebody who they are."),
		func(ctx context.Context, _ *nothing) (*body[Ways], error) { return of(d.ways(note(ctx).request)), nil })
	o := operation(everybody, http.MethodPost, "/v1/signin", "sign-in", "Sign in with a browser",
		"The answer sets a cookie, which says who you are from then on: it ends after some time without requests, after some hours "+
			"whatever there was, when you sign out, and with your password. It counts only for requests that a page of this server sends; "+
			"those that change something need Sec-Fetch-Site: same-origin, or an Origin that is this host. Programs send Authorization.",
		append(sending, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable,
			http.StatusUnprocessableEntity)...)
	huma.Register(d.api, o, d.signIn)
	o = operation(anyUser, http.MethodPost, "/v1/signout", "sign-out", "Sign out",
		"Ends the session of the cookie at once, at all servers, with its questions that still wait.")
	o.DefaultStatus = http.StatusNoContent
	register(d, o, d.signOut)
}

// ways are the same for everybody who is not signed in, so that a page can ask without being turned
// away.
func (d *door) ways(r *http.Request) Ways {
	w := Ways{Password: true, Demo: d.Demo}
	if d.OpenID != nil {
		w.OpenID = &OpenID{d.OpenID.Name()}
	}
	if u, _, err := d.visitor(r); err == nil {
		me := d.meOf(u)
		w.Me = &me
	}
	return w
}

func (d *door) signIn(ctx context.Context, in *signInInput) (*signInAnswer, error) {
	n := note(ctx)
	u, err := d.Users.Password(ctx, users.Attempt{Name: in.Body.Name, Address: n.address, Door: doorPage}, in.Body.Password)
	if err != nil {
		return nil, d.turnedAway(n.request, err)
	}
	secret, err := d.begin(ctx, u)
	if err != nil {
		return nil, d.turnedAway(n.request, err)
	}
	return &signInAnswer{d.cookie(secret), d.meOf(u)}, nil
}

// begin begins a visit of somebody who proved who they are. A visit that the browser was in ends:
// nobody goes on in one that somebody else began.
func (d *door) begin(ctx context.Context, u users.User) (secret string, err error) {
	n := note(ctx)
	for _, before := range n.request.CookiesNamed(d.cookieName()) {
		if len(before.Value) <= maxSecret {
			if err := d.Users.EndVisit(ctx, before.Value); err != nil {
				return "", err
			}
		}
	}
	if secret, err = d.Users.BeginVisit(ctx, u); err == nil {
		d.metrics.login("in")
		n.user = u
	}
	return secret, err
}

func (d *door) signOut(ctx context.Context, u users.User, in *signOutInput) (*signOutAnswer, error) {
	if visit := note(ctx).visit; visit != "" {
		if err := d.Users.EndVisit(ctx, visit); err != nil {
			return nil, err
		}
	}
	if in.Body.Everywhere {
		if err := d.Users.EndVisits(ctx, u.Name); err != nil {
			return nil, err
		}
	}
	return &signOutAnswer{d.noCookie()}, nil
}
