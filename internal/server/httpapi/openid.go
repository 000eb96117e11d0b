package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/internal/server/openid"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// doorOpenID is a provider in the trail of logins.
const doorOpenID = "openid"

// sent is an answer that sends a browser elsewhere.
type sent struct {
	Location  string        `header:"Location"`
	SetCookie []http.Cookie `header:"Set-Cookie"`
}

type callbackInput struct {
	State  string `query:"state" maxLength:"256"`
	Code   string `query:"code" maxLength:"4096"`
	Issuer string `query:"iss" maxLength:"1024"`
	Error  string `query:"error" maxLength:"256"`
}

// openIDs adds the way by a provider. Browsers go it, and no page: what goes wrong is told in one
// way, on the page that one signs in at, and why is in the log.
func (d *door) openIDs() {
	for _, o := range []struct {
		at, id, summary, description string
		do                           func(context.Context, *callbackInput) (*sent, error)
	}{
		{"/v1/signin/openid", "openid", "Sign in with OpenID Connect",
			"Sends the browser to the provider, where there is one.", d.toProvider},
		{"/v1/signin/openid/callback", "openid-callback", "Come back from the provider",
			"Where the provider sends the browser. It sets the cookie and sends the browser to the page; where it does not, " +
				"to /signin?failed=openid.", d.fromProvider},
	} {
		op := operation(everybody, http.MethodGet, o.at, o.id, o.summary, o.description, http.StatusUnprocessableEntity,
			http.StatusNotFound)
		op.DefaultStatus = http.StatusSeeOther
		op.RejectUnknownQueryParameters = false // providers send more than the standard has
		huma.Register(d.api, op, o.do)
	}
}

// keeping is the cookie with what a browser brings back. It is sent when the provider sends the
// browser back, as that of a visit is not, and is good for nothing else.
func (d *door) keeping(value string, age int) http.Cookie {
	c := http.Cookie{Name: "discreet_openid", Value: value, Path: "/", HttpOnly: true, Secure: d.Secure, SameSite: http.SameSiteLaxMode,
		MaxAge: age}
	if d.Secure {
		c.Name = "__Host-" + c.Name
	}
	return c
}

// callback is where the provider sends browsers back to. It has to know that address, so that a
// Host that somebody makes up leads nowhere.
func (d *door) callback(r *http.Request) string {
	scheme := "http://"
	if d.Secure {
		scheme = "https://"
	}
	return scheme + r.Host + "/v1/signin/openid/callback"
}

func (d *door) toProvider(ctx context.Context, _ *callbackInput) (*sent, error) {
	if d.OpenID == nil {
		return nil, errNoPath()
	}
	to, keep, err := d.OpenID.Begin(d.callback(note(ctx).request))
	if err != nil {
		return d.notVouched(ctx, err), nil
	}
	return &sent{to, []http.Cookie{d.keeping(keep, int(openid.Patience.Seconds()))}}, nil
}

func (d *door) fromProvider(ctx context.Context, in *callbackInput) (*sent, error) {
	if d.OpenID == nil {
		return nil, errNoPath()
	}
	n := note(ctx)
	kept := n.request.CookiesNamed(d.keeping("", 0).Name)
	if len(kept) != 1 {
		return d.notVouched(ctx, openid.ErrState), nil
	}
	if !d.Users.Familiar(n.address) {
		select {
		case d.vouching <- struct{}{}:
			defer func() { <-d.vouching }()
		case <-ctx.Done():
			return nil, ProblemOf(ctx.Err())
		}
	}
	name, err := d.OpenID.Finish(ctx, d.callback(n.request), kept[0].Value, in.State, in.Issuer, in.Code)
	if err != nil {
		return d.notVouched(ctx, err), nil
	}
	u, err := d.Users.Vouched(ctx, users.Attempt{Name: name, Address: n.address, Door: doorOpenID})
	if err != nil {
		return d.notVouched(ctx, err), nil
	}
	secret, err := d.begin(ctx, u)
	if err != nil {
		return d.notVouched(ctx, err), nil
	}
	return &sent{"/", []http.Cookie{d.cookie(secret), d.keeping("", -1)}}, nil
}

// strangersVouched is how many are asked about at once that come from addresses that nobody came in
// from before: whoever makes up a state has the provider asked, and the others do not wait for
// them.
const strangersVouched = 4

// few is what may be told a few times a minute.
type few struct {
	mu    sync.Mutex
	since time.Time
	told  int
}

// linesAMinute is enough to see what is wrong, and fills no disk.
const linesAMinute = 20

func (f *few) tell(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.since).Abs() >= time.Minute {
		f.since, f.told = now, 0
	}
	f.told++
	return f.told <= linesAMinute
}

// notVouched sends a browser back to where one signs in. Why is for the owner: the words of a
// provider are not shown to whoever follows a link.
func (d *door) notVouched(ctx context.Context, err error) *sent {
	d.metrics.login("denied")
	level := slog.LevelWarn
	if !d.unvouched.tell(time.Now()) {
		level = slog.LevelDebug // everybody can come here
	}
	d.Log.LogAttrs(ctx, level, "openid", slog.String("request", note(ctx).id), slog.String("address", note(ctx).address),
		slog.String("error", clip(err.Error())))
	return &sent{"/signin?failed=openid", []http.Cookie{d.keeping("", -1)}}
}
