package httpapi

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/discreet-dp/discreet/internal/server/openid"
)

// withProvider has a provider that people sign in with.
func (w *world) withProvider(p *provider, change func(*openid.Config)) {
	w.t.Helper()
	c := openid.Config{Issuer: p.server.URL, Client: clientID, Secret: clientSecret, Domain: "example.org", Name: "Example"}
	if change != nil {
		change(&c)
	}
	made, err := openid.New(c)
	must(w.t, err)
	w.configure(func(o *Options) { o.OpenID = made })
}

// browser follows redirects by hand, with cookies by hand.
var browser = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// walk goes from our server to the provider, and returns where that sends the browser, with the
// cookie that it has by then.
func (w *world) walk() (back, cookie string) {
	w.t.Helper()
	first, err := browser.Get(w.server.URL + "/v1/signin/openid")
	must(w.t, err)
	first.Body.Close()
	if first.StatusCode != http.StatusSeeOther || len(first.Cookies()) != 1 {
		w.t.Fatal(first.StatusCode, first.Header)
	}
	c := first.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge != 600 {
		w.t.Error(c)
	}
	second, err := browser.Get(first.Header.Get("Location"))
	must(w.t, err)
	second.Body.Close()
	return second.Header.Get("Location"), c.Name + "=" + c.Value
}

// comeBack is what the provider makes the browser do. It returns where we send it, and the cookie
// of its visit.
func (w *world) comeBack(back, cookie string) (to, visit string) {
	w.t.Helper()
	r, err := http.NewRequest("GET", back, nil)
	must(w.t, err)
	r.Header.Set("Cookie", cookie)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	got, err := browser.Do(r)
	must(w.t, err)
	got.Body.Close()
	if got.StatusCode != http.StatusSeeOther {
		w.t.Error(got.StatusCode)
	}
	for _, c := range got.Cookies() {
		switch {
		case c.Name == "discreet_session":
			visit = c.Name + "=" + c.Value
		case c.Name != "discreet_openid" || c.MaxAge >= 0:
			w.t.Error(c)
		}
	}
	return got.Header.Get("Location"), visit
}

// TestOpenID: who the provider vouches for is signed in, once for each time that they went there,
// and only in the browser that went.
func TestOpenID(t *testing.T) {
	w := newWorld(t)
	w.want(w.call("GET", "/v1/signin/openid", "", ""), 404)
	w.want(w.call("GET", "/v1/signin/openid/callback", "", ""), 404)
	p := newProvider(t)
	w.withProvider(p, nil)
	if got := w.want(w.call("GET", "/v1/signin", "", ""), 200); got.get("openid", "name") != "Example" ||
		got.get("password") != true {
		t.Error(got.body)
	}
	back, cookie := w.walk()
	to, visit := w.comeBack(back, cookie)
	if to != "/" || visit == "" {
		t.Fatal(to, visit)
	}
	if me := w.want(w.call("GET", "/v1/me", "", "", "Cookie", visit), 200); me.get("name") != "ana" {
		t.Error(me.body)
	}
	if log := w.want(w.call("GET", "/v1/logins", "ana", ""), 200); !strings.Contains(log.body, `"door":"openid","outcome":"in"`) {
		t.Error(log.body)
	}
	refused := func(what, back, cookie string) {
		t.Helper()
		if to, visit := w.comeBack(back, cookie); to != "/signin?failed=openid" || visit != "" {
			t.Error(what, to, visit)
		}
	}
	refused("the same once more", back, cookie)
	again, other := w.walk()
	refused("no cookie", again, "")
	refused("the cookie of another walk", again, cookie)
	refused("two cookies", again, other+"; "+other)
	refused("another state", strings.Replace(again, "&state=", "&state=x", 1), other)
	refused("no state", w.server.URL+"/v1/signin/openid/callback?code=code-0", other)
	refused("no code", strings.Replace(again, "code=code", "other=code", 1), other)
	again, other = w.walk()
	refused("a code that is none", strings.Replace(again, "code=code", "code=none", 1), other)
	again, other = w.walk()
	refused("a refusal", strings.Replace(again, "code=", "error=access_denied&no=", 1), other)
	again, other = w.walk()
	refused("another issuer", again+"&iss=https%3A%2F%2Felsewhere.example", other)
	again, other = w.walk()
	parts := strings.Split(other, ".")
	parts[len(parts)-1] = "1"
	refused("too late", again, strings.Join(parts, "."))
	parts[len(parts)-1] = "99999999999"
	refused("later than ever", again, strings.Join(parts, "."))
	again, other = w.walk()
	must(t, w.users.Revoke(context.Background(), "ana"))
	refused("who was revoked", again, other)
	w.want(w.call("GET", "/v1/me", "", "", "Cookie", visit), 401)
	if text := w.log.String(); strings.Contains(text, clientSecret) || strings.Contains(text, "dsv_") || !strings.Contains(text, "openid") {
		t.Error(text)
	}
}

// TestOpenIDMisbehaves: what a provider, or somebody in its place, may not say is not believed.
func TestOpenIDMisbehaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	set := func(claim string, value any) func(map[string]any) { return func(c map[string]any) { c[claim] = value } }
	drop := func(claim string) func(map[string]any) { return func(c map[string]any) { delete(c, claim) } }
	p := newProvider(t)
	for _, c := range []struct {
		name   string
		claims func(map[string]any)
		sign   func([]byte) string
		good   bool
		config func(*openid.Config)
	}{
		{name: "right", good: true},
		{name: "several audiences", claims: set("aud", []string{"x", clientID}), good: true},
		{name: "a preferred name", claims: set("preferred_username", "ana"), good: true,
			config: func(c *openid.Config) { c.Claim, c.Domain = "preferred_username", "" }},
		{name: "another nonce", claims: set("nonce", "another")},
		{name: "no nonce", claims: drop("nonce")},
		{name: "another audience", claims: set("aud", "another")},
		{name: "no audience", claims: drop("aud")},
		{name: "another issuer", claims: set("iss", "https://elsewhere.example")},
		{name: "expired", claims: set("exp", time.Now().Add(-time.Hour).Unix())},
		{name: "no end", claims: drop("exp")},
		{name: "not yet", claims: set("nbf", time.Now().Add(time.Hour).Unix())},
		{name: "no email", claims: drop("email")},
		{name: "an email that is none", claims: set("email", []string{"ana@example.org"})},
		{name: "not verified", claims: set("email_verified", false)},
		{name: "perhaps verified", claims: drop("email_verified")},
		{name: "verified in words", claims: set("email_verified", "true")},
		{name: "another domain", claims: set("email", "ana@elsewhere.example")},
		{name: "a domain behind it", claims: set("email", "ana@example.org@elsewhere.example")},
		{name: "a domain before it", claims: set("email", "ana@elsewhere.example@example.org")},
		{name: "nobody", claims: set("email", "@example.org")},
		{name: "somebody who looks like her", claims: set("email", "ａna@example.org")},
		{name: "somebody with a hyphen that is not seen", claims: set("email", "a\u00adna@example.org")},
		{name: "somebody with a joiner", claims: set("email", "ana\u200d@example.org")},
		{name: "a domain that looks like it", claims: set("email", "ana@ban\u212a.example"),
			config: func(c *openid.Config) { c.Domain = "bank.example" }},
		{name: "a domain in capitals", claims: set("email", "ana@EXAMPLE.org"), good: true},
		{name: "a stranger", claims: set("email", "eve@example.org")},
		{name: "no claim of this name", config: func(c *openid.Config) { c.Claim = "groups" }},
		{name: "none", sign: func(text []byte) string {
			encode := base64.RawURLEncoding.EncodeToString
			return encode([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + encode(text) + "."
		}},
		{name: "another key", sign: func(text []byte) string {
			return p.signed(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: other, KeyID: "1"}}, text)
		}},
		{name: "the client's key", sign: func(text []byte) string {
			return p.signed(jose.SigningKey{Algorithm: jose.HS256, Key: append([]byte(clientSecret), make([]byte, 32)...)}, text)
		}},
		{name: "no token", sign: func([]byte) string { return "" }},
		{name: "garbage", sign: func([]byte) string { return "a.b.c" }},
	} {
		p.claims, p.sign = c.claims, c.sign
		w.withProvider(p, c.config)
		to, visit := w.comeBack(w.walk())
		if good := to == "/" && visit != ""; good != c.good || !good && (to != "/signin?failed=openid" || visit != "") {
			t.Errorf("%s: %s %s", c.name, to, visit)
		}
	}
	p.server.Close()
	w.withProvider(p, nil)
	if got := w.want(w.send(w.request("GET", "/healthz", "", "")), 200); got.status != 200 {
		t.Error(got)
	}
	got, err := browser.Get(w.server.URL + "/v1/signin/openid")
	if err != nil || got.Header.Get("Location") != "/signin?failed=openid" {
		t.Error(got, err)
	}
}

// Strangers who make up states fill no log, and those who came in from elsewhere do not wait for
// them.
func TestOpenIDStrangers(t *testing.T) {
	w := newWorld(t)
	w.withProvider(newProvider(t), nil)
	var lines atomic.Int64
	w.configure(func(o *Options) { o.Log = slog.New(&counting{lines: &lines}) })
	handler := handlerOf[*openIDHandler](w.api)
	for range 3 * maxWarningsPerMinute {
		if to, visit := w.comeBack(w.server.URL+"/v1/signin/openid/callback?state=x&code=y", "discreet_openid=x"); visit != "" {
			t.Fatal(to, visit)
		}
	}
	if n := lines.Load(); n != maxWarningsPerMinute {
		t.Errorf("%d lines of warnings", n)
	}
	if !handler.warnings.take(time.Now().Add(time.Minute)) {
		t.Error("nothing is told in the next minute")
	}
	for range cap(handler.strangers) {
		handler.strangers <- struct{}{}
	}
	w.want(w.call("GET", "/v1/me", "ana", ""), 200) // now this address is one that somebody came in from
	if to, visit := w.comeBack(w.walk()); to != "/" || visit == "" {
		t.Error(to, visit)
	}
}

// counting counts lines that are warnings or worse.
type counting struct {
	slog.Handler
	lines *atomic.Int64
}

func (c *counting) Enabled(context.Context, slog.Level) bool { return true }
func (c *counting) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		c.lines.Add(1)
	}
	return nil
}

// provider is a small OpenID Connect provider: discovery, keys, and codes for tokens that it signs.
// It says what it is told to, also what no provider may.
type provider struct {
	t      testing.TB
	server *httptest.Server
	key    *rsa.PrivateKey

	mu    sync.Mutex
	codes map[string]url.Values // what a code was asked for with
	// How it misbehaves.
	claims func(map[string]any)
	sign   func(claims []byte) string // nil means RS256 with the key
}

const clientID, clientSecret = "discreet", "a secret of the client"

func newProvider(t testing.TB) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	p := &provider{t: t, key: key, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{
			"issuer": p.server.URL, "authorization_endpoint": p.server.URL + "/authorize", "token_endpoint": p.server.URL + "/token",
			"jwks_uri": p.server.URL + "/keys", "response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
			// What a provider says it can do is not what we take.
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		public := jose.JSONWebKey{Key: key.Public(), KeyID: "1", Algorithm: "RS256", Use: "sig"}
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}})
	})
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	return p
}

// authorize signs everybody in, and sends them back.
func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("response_type") != "code" || q.Get("client_id") != clientID || q.Get("code_challenge_method") != "S256" ||
		len(q.Get("state")) < 43 || len(q.Get("nonce")) < 43 || q.Get("code_challenge") == "" {
		p.t.Errorf("asked with %v", q)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	code := fmt.Sprint("code-", len(p.codes))
	p.codes[code] = q
	back := url.Values{"state": {q.Get("state")}, "code": {code}, "session_state": {"more than the standard has"}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token gives a token for a code. It gives it again: that we do not take it twice is what is
// tested.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked, ok := p.codes[r.FormValue("code")]
	id, secret, _ := r.BasicAuth()
	if id == "" {
		id, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	if secret, _ = url.QueryUnescape(secret); !ok || id != clientID || secret != clientSecret {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") ||
		r.FormValue("redirect_uri") != asked.Get("redirect_uri") {
		p.t.Errorf("the proof of the code is %v", r.Form)
	}
	claims := map[string]any{"iss": p.server.URL, "aud": clientID, "sub": "4711", "exp": time.Now().Add(time.Minute).Unix(),
		"iat": time.Now().Unix(), "nonce": asked.Get("nonce"), "email": "ana@example.org", "email_verified": true}
	if p.claims != nil {
		p.claims(claims)
	}
	text, _ := json.Marshal(claims)
	token := ""
	if p.sign != nil {
		token = p.sign(text)
	} else {
		token = p.signed(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.key, KeyID: "1"}}, text)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": token})
}

func (p *provider) signed(key jose.SigningKey, text []byte) string {
	signer, err := jose.NewSigner(key, nil)
	if err != nil {
		p.t.Error(err)
		return ""
	}
	signature, err := signer.Sign(text)
	if err != nil {
		p.t.Error(err)
		return ""
	}
	token, _ := signature.CompactSerialize()
	return token
}
