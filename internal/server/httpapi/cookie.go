package httpapi

import (
	"context"
	"net/http"
	"net/url"

	"github.com/discreet-dp/discreet/internal/server/users"
)

// A browser sends a cookie with whatever any page makes it send, so a cookie says who somebody is
// and not that they meant it. It is never sent from other sites (SameSite=Strict), and it is looked
// at only where the browser says that a page of this server, or the user, sent the request; to
// change something it takes a page of this server.

// cookieName is what the cookie of a visit is called. With the prefix a browser takes it from this
// very host over TLS only, so that no neighbour in the domain can put in one of its own.
func (d *door) cookieName() string {
	if d.Secure {
		return "__Host-discreet_session"
	}
	return "discreet_session"
}

// cookie is that of a visit. It ends with the browser, and before that when the server says so.
func (d *door) cookie(secret string) http.Cookie {
	return http.Cookie{Name: d.cookieName(), Value: secret, Path: "/", HttpOnly: true, Secure: d.Secure, SameSite: http.SameSiteStrictMode}
}

// noCookie takes it away again.
func (d *door) noCookie() http.Cookie {
	c := d.cookie("")
	c.MaxAge = -1
	return c
}

// visitor is who the cookie of a request names.
func (d *door) visitor(r *http.Request) (u users.User, still func(context.Context) error, err error) {
	cookies := r.CookiesNamed(d.cookieName())
	if len(cookies) != 1 || cookies[0].Value == "" || len(cookies[0].Value) > maxSecret || !meant(r) {
		return users.User{}, nil, users.ErrDenied
	}
	if !safe(r.Method) && !ours(r) {
		return users.User{}, nil, errOrigin()
	}
	n := note(r.Context())
	n.visit = cookies[0].Value
	u, err = d.Users.Visit(r.Context(), users.Attempt{Address: n.address, Door: doorPage}, n.visit, d.Ends)
	return u, func(ctx context.Context) error { return d.Users.StillVisits(ctx, n.visit, d.Ends) }, err
}

// doorPage is the page in the trail of logins.
const doorPage = "page"

// safe reports whether a method changes nothing.
func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead
}

// meant reports whether a request can have been sent by a page of this server or by its user: not
// by a page of another site, nor by one of a neighbour in the domain.
func meant(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
		return r.Header.Get("Origin") == "" || sameOrigin(r)
	}
	return false
}

// ours reports whether a page of this server sent a request, as its browser says.
func ours(r *http.Request) bool {
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
