package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/server/users"
)

const credentials = `{"name": "ana", "password": "` + password + `"}`

// signIn signs somebody in, and returns the cookie as a browser sends it.
func (w *world) signIn(body string) (cookie string, answer reply) {
	w.t.Helper()
	answer = w.want(w.call("POST", "/v1/signin", "", body), 200)
	set, err := http.ParseSetCookie(answer.header.Get("Set-Cookie"))
	must(w.t, err)
	return set.Name + "=" + set.Value, answer
}

// TestSignIn: a password gets a cookie, the cookie is who one is, and after signing out it is
// nobody's, whoever has stolen it.
func TestSignIn(t *testing.T) {
	w := newWorld(t)
	if got := w.want(w.call("GET", "/v1/signin", "", ""), 200); got.body !=
		`{"password":true,"demo":false}`+"\n" {
		t.Error(got.body)
	}
	cookie, got := w.signIn(credentials)
	if me := w.want(w.call("GET", "/v1/me", "ana", ""), 200); got.body != me.body {
		t.Error(got.body, me.body)
	}
	text := got.header.Get("Set-Cookie")
	for _, want := range []string{"discreet_session=dsv_", "; Path=/", "; HttpOnly", "; SameSite=Strict"} {
		if !strings.Contains(text, want) {
			t.Error(text)
		}
	}
	for _, other := range []string{"Secure", "Domain", "Max-Age", "Expires"} {
		if strings.Contains(text, other) {
			t.Error(text)
		}
	}
	own := []string{"Cookie", cookie, "Sec-Fetch-Site", "same-origin"}
	w.want(w.call("GET", "/v1/me", "", "", own...), 200)
	w.want(w.call("POST", "/v1/query", "", count, own...), 200)
	// Signed in again from the same browser, the visit before has ended.
	again := w.want(w.call("POST", "/v1/signin", "", credentials, own...), 200)
	w.want(w.call("GET", "/v1/me", "", "", own...), 401)
	set, err := http.ParseSetCookie(again.header.Get("Set-Cookie"))
	must(t, err)
	own[1] = set.Name + "=" + set.Value
	w.want(w.call("GET", "/v1/me", "", "", own...), 200)
	out := w.want(w.call("POST", "/v1/signout", "", "{}", own...), 204)
	if text := out.header.Get("Set-Cookie"); !strings.HasPrefix(text, "discreet_session=;") || !strings.Contains(text, "Max-Age=0") {
		t.Error(text)
	}
	for _, stolen := range []reply{w.call("GET", "/v1/me", "", "", own...), w.call("POST", "/v1/query", "", count, own...)} {
		if w.want(stolen, 401); stolen.get("kind") != "denied" || len(stolen.header.Values("WWW-Authenticate")) != 1 {
			t.Error(stolen.body, stolen.header)
		}
	}
	// All of them at once, by a token too, which itself goes on.
	one, _ := w.signIn(credentials)
	two, _ := w.signIn(credentials)
	w.want(w.call("POST", "/v1/signout", "ana", `{"everywhere": true}`), 204)
	for _, cookie := range []string{one, two} {
		w.want(w.call("GET", "/v1/me", "", "", "Cookie", cookie), 401)
	}
	w.want(w.call("GET", "/v1/me", "ana", ""), 200)
	for name, values := range map[string]bool{"in": true, "revoked": true} {
		if log := w.want(w.call("GET", "/v1/logins", "ana", ""), 200); strings.Contains(log.body, `"door":"page","outcome":"`+name) != values {
			t.Error(log.body)
		}
	}
	if text := w.log.String(); strings.Contains(text, "dsv_") || !strings.Contains(text, `route="POST /v1/signin" status=200`) {
		t.Error(text)
	}
}

// TestSignInRefused: what is wrong gets the words that everything wrong gets, and who fails often
// waits here as elsewhere.
func TestSignInRefused(t *testing.T) {
	w := newWorld(t)
	first := w.want(w.call("POST", "/v1/signin", "", `{"name": "ana", "password": "wrong"}`), 401)
	if first.header.Get("Set-Cookie") != "" || first.get("kind") != "denied" {
		t.Error(first.body, first.header)
	}
	if got := w.want(w.call("POST", "/v1/signin", "", `{"name": "nobody", "password": "wrong"}`), 401); got.body != first.body {
		t.Error(got.body)
	}
	w.want(w.call("POST", "/v1/signin", "", `{"name": "ana"}`), 422)
	w.want(w.call("POST", "/v1/signin", "", `{"name": "ana", "password": ["x"]}`), 422)
	w.want(w.call("POST", "/v1/signin", "", `{"name": "ana", "password": "`+strings.Repeat("x", 9000)+`"}`), 413)
	w.want(w.call("POST", "/v1/signin", "", "name=ana&password=x", "Content-Type", "application/x-www-form-urlencoded"), 415)
	w.want(w.call("POST", "/v1/signin", "", credentials, "Sec-Fetch-Site", "cross-site"), 403)
	for range 40 {
		if got := w.call("POST", "/v1/signin", "", `{"name": "ana", "password": "wrong"}`); got.status == 429 {
			// The same count at the other listeners.
			w.want(w.call("GET", "/v1/me", "", "", "Authorization", basic("ana", password)), 429)
			if w.want(w.call("POST", "/v1/signin", "", credentials), 429); got.header.Get("Retry-After") == "" {
				t.Error(got.header)
			}
			return
		}
	}
	t.Error("nobody had to wait")
}

// TestCookieOfAnotherSite: a cookie counts for nothing where another site sends the request, and
// changes nothing unless a page of this server does.
func TestCookieOfAnotherSite(t *testing.T) {
	w := newWorld(t)
	cookie, _ := w.signIn(credentials)
	host := strings.TrimPrefix(w.server.URL, "http://")
	for _, c := range []struct {
		headers          string
		read, ask, erase int
	}{
		{"", 200, 403, 403},
		{"Sec-Fetch-Site: same-origin", 200, 200, 404},
		{"Sec-Fetch-Site: same-origin, Origin: http://" + host, 200, 200, 404},
		{"Sec-Fetch-Site: none", 200, 403, 403},
		{"Sec-Fetch-Site: same-site", 401, 403, 403},
		{"Sec-Fetch-Site: cross-site", 401, 403, 403},
		{"Sec-Fetch-Site: cross-site, Origin: http://" + host, 401, 403, 403},
		{"Sec-Fetch-Site: nonsense, Origin: http://" + host, 401, 403, 403},
		{"Origin: http://" + host, 200, 200, 404},
		{"Origin: http://" + host + ".elsewhere.example", 401, 403, 403},
		{"Origin: https://elsewhere.example", 401, 403, 403},
		{"Origin: null", 401, 403, 403},
	} {
		headers := []string{"Cookie", cookie}
		for _, h := range strings.Split(c.headers, ", ") {
			if name, value, ok := strings.Cut(h, ": "); ok {
				headers = append(headers, name, value)
			}
		}
		read := w.call("GET", "/v1/me", "", "", headers...)
		ask := w.call("POST", "/v1/query", "", count, headers...)
		erase := w.call("DELETE", "/v1/tokens/x", "", "", headers...)
		if read.status != c.read || ask.status != c.ask || erase.status != c.erase {
			t.Errorf("%q: %d %d %d; want %d %d %d", c.headers, read.status, ask.status, erase.status, c.read, c.ask, c.erase)
		}
	}
	// A form that another site fills in cannot even say that it is JSON.
	form := w.request("POST", "/v1/query", "", count)
	form.Header.Set("Cookie", cookie)
	form.Header.Set("Content-Type", "text/plain")
	form.Header.Set("Sec-Fetch-Site", "same-origin")
	w.want(w.send(form), 415)
	// Two cookies are nobody's, and one beside a token is not looked at.
	w.want(w.call("GET", "/v1/me", "", "", "Cookie", cookie+"; "+cookie), 401)
	w.want(w.call("GET", "/v1/me", "", "", "Cookie", "discreet_session="), 401)
	w.want(w.call("GET", "/v1/me", "", "", "Cookie", "discreet_session="+w.tokens["ana"]), 401)
	w.want(w.call("GET", "/v1/me", "", "", "Authorization", "Bearer "+strings.TrimPrefix(cookie, "discreet_session=")), 401)
	if got := w.want(w.call("GET", "/v1/me", "ben", "", "Cookie", cookie), 200); got.get("name") != "ben" {
		t.Error(got.body)
	}
}

// TestHeaders: no answer can be framed, sniffed, embedded or kept, whoever gets it.
func TestHeaders(t *testing.T) {
	w := newWorld(t)
	cookie, _ := w.signIn(credentials)
	for _, got := range []reply{
		w.call("GET", "/healthz", "", ""), w.call("GET", "/v1/signin", "", ""), w.call("GET", "/v1/me", "", ""),
		w.call("GET", "/nothing", "ana", ""), w.call("GET", "/v1/me", "", "", "Cookie", cookie),
		w.call("POST", "/v1/query", "ana", "{"), w.call("POST", "/v1/query", "", count, "Sec-Fetch-Site", "cross-site"),
	} {
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control": "no-store", "Access-Control-Allow-Origin": "",
		} {
			if got.header.Get(name) != want {
				t.Errorf("%d %s: %q", got.status, name, got.header.Get(name))
			}
		}
	}
}

// TestCookieOverTLS: there the cookie is bound to the host and to TLS.
func TestCookieOverTLS(t *testing.T) {
	w := newWorld(t)
	w.configure(func(o *Options) { o.Secure = true })
	cookie, got := w.signIn(credentials)
	if text := got.header.Get("Set-Cookie"); !strings.HasPrefix(text, "__Host-discreet_session=") || !strings.Contains(text, "; Secure") ||
		!strings.Contains(text, "; Path=/;") || strings.Contains(text, "Domain") {
		t.Error(text)
	}
	w.want(w.call("GET", "/v1/me", "", "", "Cookie", cookie), 200)
	w.want(w.call("GET", "/v1/me", "", "", "Cookie", strings.TrimPrefix(cookie, "__Host-")), 401)
}

// TestVisitEnds: with its clocks, with the password and with the user, here and at another server
// on the same users.
func TestVisitEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	other := httptest.NewServer(New(Options{Dispatcher: w.options.Dispatcher, Users: w.users, Ends: users.Ends{Idle: time.Nanosecond}}))
	defer other.Close()
	cookie, _ := w.signIn(credentials)
	at := func(server *httptest.Server) int {
		r := w.request("GET", "/v1/me", "", "")
		r.Header.Set("Cookie", cookie)
		r.URL.Host = strings.TrimPrefix(server.URL, "http://")
		got, err := server.Client().Do(r)
		must(t, err)
		got.Body.Close()
		return got.StatusCode
	}
	if a, b := at(w.server), at(other); a != 200 || b != 401 {
		t.Error(a, b)
	}
	w.configure(func(o *Options) { o.Ends.Whole = time.Nanosecond })
	if a := at(w.server); a != 401 {
		t.Error(a)
	}
	w.configure(func(o *Options) { o.Ends = users.DefaultEnds })
	for name, end := range map[string]func() error{
		"password": func() error { _, err := w.users.SetPassword(ctx, "ana", password); return err },
		"revoked":  func() error { return w.users.Revoke(ctx, "ana") },
	} {
		w.users.SetPassword(ctx, "ana", password)
		cookie, _ = w.signIn(credentials)
		if a := at(w.server); a != 200 {
			t.Error(name, a)
		}
		must(t, end())
		if a := at(w.server); a != 401 {
			t.Error(name, a)
		}
	}
}

// TestSignOutWhileWaiting: what waits for its turn when its visit ends is neither asked nor
// charged.
func TestSignOutWhileWaiting(t *testing.T) {
	w := newWorld(t)
	cookie, _ := w.signIn(credentials)
	secret := strings.TrimPrefix(cookie, "discreet_session=")
	n := 0
	w.api.router.HandleFunc("POST /test", func(_ http.ResponseWriter, r *http.Request) {
		if err := w.users.Visits().End(r.Context(), secret); err != nil {
			t.Error(err)
		}
		asked := &questionInput{Body: Question{Dataset: "hospital", SQL: "SELECT COUNT(*) FROM patients"}}
		q, _, err := handlerOf[*questionHandler](w.api).read(infoOf(r.Context()).user, asked)
		if err != nil {
			t.Error(err)
		}
		if _, err := w.options.Dispatcher.Ask(r.Context(), q); err == nil || !strings.Contains(err.Error(), "nothing was charged") {
			t.Error(err)
		}
		n++
	})
	r := w.request("POST", "/test", "", "{}")
	r.Header.Set("Cookie", cookie)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	got, err := w.server.Client().Do(r)
	must(t, err)
	got.Body.Close()
	if audit := w.want(w.call("GET", "/v1/audit", "olga", ""), 200); n != 1 || number(audit, "decisions") != "0" {
		t.Error(n, fmt.Sprint(audit.body))
	}
}
