package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/openid"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/policy"
)

type Ways struct {
	Password bool    `json:"password" doc:"True if you can sign in by POST /v1/signin with name and password"`
	OpenID   *OpenID `json:"openid,omitempty" doc:"Sign in by sending the browser to /v1/signin/openid; left out if there is no provider"`
	Demo     bool    `json:"demo" doc:"True if the data is made up, and the server ends with the terminal that started it"`
	Me       *Me     `json:"me,omitempty" doc:"The user of this browser's cookie; missing if nobody is signed in"`
}

// OpenID is a provider that says who somebody is.
type OpenID struct {
	Name string `json:"name" doc:"Its name for people"`
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

// signInHandler serves who signs in and out.
type signInHandler struct {
	auth       *authenticator
	users      *users.Store
	dispatcher *admission.Dispatcher
	provider   *openid.Provider // or nil
	demo       bool
}

// register adds the ways for browsers. What one gets by them is a visit: a session of a browser,
// and not of a mechanism.
func (h *signInHandler) register(r *router) {
	h.registerMe(r)
	huma.Register(r.api, operation(everybody, http.MethodGet, "/v1/signin", "ways", "How to sign in",
		"The ways to sign in to this server, for a sign-in page."),
		func(ctx context.Context, _ *empty) (*body[Ways], error) {
			return bodyOf(h.ways(infoOf(ctx).request)), nil
		})
	o := operation(everybody, http.MethodPost, "/v1/signin", "sign-in", "Sign in with a browser",
		"The answer sets a cookie, which identifies you from then on. It ends after some time without requests, in any case after some "+
			"hours, when you sign out, and when your password changes. It counts only in requests from a page of this server; requests "+
			"that change something need Sec-Fetch-Site: same-origin, or an Origin that is this host. Programs send Authorization.",
		append(bodyProblems, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable,
			http.StatusUnprocessableEntity)...)
	huma.Register(r.api, o, h.signIn)
	o = operation(anyUser, http.MethodPost, "/v1/signout", "sign-out", "Sign out",
		"Ends the session of the cookie at once, on all servers, with its waiting questions.")
	o.DefaultStatus = http.StatusNoContent
	register(r, o, h.signOut)
}

// ways are the same for everybody who is not signed in, so that a page can ask without being turned
// away.
func (h *signInHandler) ways(r *http.Request) Ways {
	w := Ways{Password: true, Demo: h.demo}
	if h.provider != nil {
		w.OpenID = &OpenID{h.provider.Name()}
	}
	if u, _, err := h.auth.identifyByCookie(r); err == nil {
		me := meOf(h.dispatcher.DB().Policy(), u)
		w.Me = &me
	}
	return w
}

func (h *signInHandler) signIn(ctx context.Context, in *signInInput) (*signInAnswer, error) {
	n := infoOf(ctx)
	u, err := h.users.Password(ctx, users.Attempt{Name: in.Body.Name, Address: n.address, Listener: loginPage}, in.Body.Password)
	if err != nil {
		return nil, h.auth.refuse(n.request, err)
	}
	secret, err := h.auth.beginVisit(ctx, u)
	if err != nil {
		return nil, h.auth.refuse(n.request, err)
	}
	return &signInAnswer{h.auth.cookie(secret), meOf(h.dispatcher.DB().Policy(), u)}, nil
}

func (h *signInHandler) signOut(ctx context.Context, u users.User, in *signOutInput) (*signOutAnswer, error) {
	if visit := infoOf(ctx).visit; visit != "" {
		if err := h.users.Visits().End(ctx, visit); err != nil {
			return nil, err
		}
	}
	if in.Body.Everywhere {
		if err := h.users.Visits().EndAll(ctx, u.Name); err != nil {
			return nil, err
		}
	}
	return &signOutAnswer{h.auth.noCookie()}, nil
}

type Me struct {
	Name     string   `json:"name"`
	Role     string   `json:"role" enum:"owner,analyst"`
	Datasets []string `json:"datasets" doc:"The datasets that you may ask about"`
}

func (h *signInHandler) registerMe(r *router) {
	register(r, operation(anyUser, http.MethodGet, "/v1/me", "me", "Who you are", "Your name, your role and what you may ask about."),
		func(_ context.Context, u users.User, _ *empty) (*body[Me], error) {
			return bodyOf(meOf(h.dispatcher.DB().Policy(), u)), nil
		})
}

func meOf(p *policy.Policy, u users.User) Me {
	return Me{u.Name, string(u.Role), AskableDatasets(p, u)}
}

// timeOrNil writes a time; nil where there is none.
func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}

// loginOpenID is a provider in the trail of logins.
const loginOpenID = "openid"

// redirect is an answer that sends a browser elsewhere.
type redirect struct {
	Location  string        `header:"Location"`
	SetCookie []http.Cookie `header:"Set-Cookie"`
}

type callbackInput struct {
	State  string `query:"state" maxLength:"256"`
	Code   string `query:"code" maxLength:"4096"`
	Issuer string `query:"iss" maxLength:"1024"`
	Error  string `query:"error" maxLength:"256"`
}

// openIDHandler lets in whom a provider names.
type openIDHandler struct {
	auth      *authenticator
	users     *users.Store
	provider  *openid.Provider // or nil
	metrics   *metrics
	log       *slog.Logger
	secure    bool
	strangers chan struct{} // who come back from the provider, as many as are asked about at once
	warnings  logQuota
}

// register adds the way by a provider. Browsers go it, and no page: what goes wrong is told in one
// way, on the page that one signs in at, and why is in the log.
func (h *openIDHandler) register(r *router) {
	for _, o := range []struct {
		at, id, summary, description string
		do                           func(context.Context, *callbackInput) (*redirect, error)
	}{
		{"/v1/signin/openid", "openid", "Sign in with OpenID Connect",
			"Sends the browser to the provider, if there is one.", h.sendToProvider},
		{"/v1/signin/openid/callback", "openid-callback", "Come back from the provider",
			"The provider sends the browser here. This sets the cookie and sends the browser to the page; if signing in failed, to " +
				"/signin?failed=openid.", h.returnFromProvider},
	} {
		op := operation(everybody, http.MethodGet, o.at, o.id, o.summary, o.description, http.StatusUnprocessableEntity,
			http.StatusNotFound)
		op.DefaultStatus = http.StatusSeeOther
		op.RejectUnknownQueryParameters = false // providers send more than the standard has
		huma.Register(r.api, op, o.do)
	}
}

// stateCookie is the cookie with what a browser brings back. It is sent when the provider sends the
// browser back, as that of a visit is not, and is good for nothing else.
func (h *openIDHandler) stateCookie(value string, age int) http.Cookie {
	c := http.Cookie{Name: "discreet_openid", Value: value, Path: "/", HttpOnly: true, Secure: h.secure, SameSite: http.SameSiteLaxMode,
		MaxAge: age}
	if h.secure {
		c.Name = "__Host-" + c.Name
	}
	return c
}

// callbackURL is where the provider sends browsers back to. It has to know that address, so that a
// Host that somebody makes up leads nowhere.
func (h *openIDHandler) callbackURL(r *http.Request) string {
	scheme := "http://"
	if h.secure {
		scheme = "https://"
	}
	return scheme + r.Host + "/v1/signin/openid/callback"
}

func (h *openIDHandler) sendToProvider(ctx context.Context, _ *callbackInput) (*redirect, error) {
	if h.provider == nil {
		return nil, errNoPath()
	}
	to, keep, err := h.provider.Begin(h.callbackURL(infoOf(ctx).request))
	if err != nil {
		return h.refuse(ctx, err), nil
	}
	return &redirect{to, []http.Cookie{h.stateCookie(keep, int(openid.SignInTimeout.Seconds()))}}, nil
}

func (h *openIDHandler) returnFromProvider(ctx context.Context, in *callbackInput) (*redirect, error) {
	if h.provider == nil {
		return nil, errNoPath()
	}
	n := infoOf(ctx)
	kept := n.request.CookiesNamed(h.stateCookie("", 0).Name)
	if len(kept) != 1 {
		return h.refuse(ctx, openid.ErrState), nil
	}
	if !h.users.Familiar(n.address) {
		select {
		case h.strangers <- struct{}{}:
			defer func() { <-h.strangers }()
		case <-ctx.Done():
			return nil, ProblemOf(ctx.Err())
		}
	}
	name, err := h.provider.Finish(ctx, h.callbackURL(n.request), kept[0].Value, in.State, in.Issuer, in.Code)
	if err != nil {
		return h.refuse(ctx, err), nil
	}
	u, err := h.users.Vouch(ctx, users.Attempt{Name: name, Address: n.address, Listener: loginOpenID})
	if err != nil {
		return h.refuse(ctx, err), nil
	}
	secret, err := h.auth.beginVisit(ctx, u)
	if err != nil {
		return h.refuse(ctx, err), nil
	}
	return &redirect{"/", []http.Cookie{h.auth.cookie(secret), h.stateCookie("", -1)}}, nil
}

// maxStrangersAtProvider is how many are asked about at once that come from addresses that nobody
// came in from before: whoever makes up a state has the provider asked, and the others do not wait
// for them.
const maxStrangersAtProvider = 4

// logQuota is what may be told a few times a minute.
type logQuota struct {
	mu    sync.Mutex
	since time.Time
	taken int
}

// maxWarningsPerMinute is enough to see what is wrong, and fills no disk.
const maxWarningsPerMinute = 20

func (f *logQuota) take(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.since).Abs() >= time.Minute {
		f.since, f.taken = now, 0
	}
	f.taken++
	return f.taken <= maxWarningsPerMinute
}

// refuse sends a browser back to where one signs in. Why is for the owner: the words of a
// provider are not shown to whoever follows a link.
func (h *openIDHandler) refuse(ctx context.Context, err error) *redirect {
	h.metrics.login("denied")
	level := slog.LevelWarn
	if !h.warnings.take(time.Now()) {
		level = slog.LevelDebug // everybody can come here
	}
	h.log.LogAttrs(ctx, level, "openid", slog.String("request", infoOf(ctx).id), slog.String("address", infoOf(ctx).address),
		slog.String("error", clip(err.Error())))
	return &redirect{"/signin?failed=openid", []http.Cookie{h.stateCookie("", -1)}}
}
