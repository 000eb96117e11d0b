package httpapi

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNothingBeforeAuthentication: without a user every address answers the same bytes, whether
// there is something or not.
func TestNothingBeforeAuthentication(t *testing.T) {
	w := newWorld(t)
	first := w.want(w.call("GET", "/v1/me", "", ""), 401)
	if got := first.header.Values("WWW-Authenticate"); len(got) != 2 || !strings.HasPrefix(got[0], "Bearer") ||
		!strings.HasPrefix(got[1], "Basic") {
		t.Error(got)
	}
	for _, pattern := range append(slices.Clone(w.door.routes.patterns), "GET /", "GET /nothing", "PUT /v1/me", "OPTIONS /v1/query",
		"GET //v1/me", "GET /docs", "GET /schemas/Me.json", "TRACE /v1/me", "GET /healthz/", "GET /healthz/../v1/me") {
		method, path, _ := strings.Cut(pattern, " ")
		if outside[path] {
			continue
		}
		path = strings.NewReplacer("{name}", "hospital", "{sequence}", "2", "{id}", "x").Replace(path)
		r := w.request(method, path, "", "")
		r.URL.Opaque = path
		if strings.HasPrefix(path, "//") {
			r.URL.Opaque = ""
		}
		got := w.want(w.send(r), 401)
		if got.body != first.body {
			t.Errorf("%s: %s", pattern, got.body)
		}
	}
	w.want(w.call("GET", "/healthz", "", ""), 200)
	if got := w.want(w.call("GET", "/readyz", "", ""), 200); got.body != `{"status":"ok"}`+"\n" {
		t.Error(got.body)
	}
	w.door.Ready = func() error { return http.ErrServerClosed }
	if got := w.want(w.call("GET", "/readyz", "", ""), 503); got.body != `{"status":"not ready","reason":"http: Server closed"}`+"\n" {
		t.Error(got.body)
	}
}

func basic(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}

// TestWhoComesIn: passwords, tokens, and everything that is neither.
func TestWhoComesIn(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	past, _, err := w.users.NewToken(ctx, "ana", "short", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	good := w.tokens["ana"]
	for _, c := range []struct {
		header string
		status int
	}{
		{"Bearer " + good, 200}, {"bearer " + good, 200}, {"Bearer  " + good, 200}, {"Bearer " + past, 200},
		{basic("ana", password), 200},
		{"", 401}, {"Bearer", 401}, {"Bearer ", 401}, {good, 401}, {"Token " + good, 401}, {"Bearer " + good + "x", 401},
		{"Bearer " + good[:len(good)-1], 401},
		{"Bearer " + strings.Repeat("a", 5000), 401}, {"Bearer dsc_\xff", 401}, {"Basic", 401}, {"Basic !", 401}, {basic("ana", ""), 401},
		{basic("", password), 401},
		{basic("ana", "wrong"), 401}, {basic("nobody", password), 401}, {basic("ana\xff", password), 401},
		{basic("ana", strings.Repeat("x", 5000)), 401},
	} {
		got := w.call("GET", "/v1/me", "", "", "Authorization", c.header)
		if got.status != c.status {
			t.Errorf("%.60q: %d %s", c.header, got.status, got.body)
		}
		if got.status == 401 && got.get("kind") != "denied" {
			t.Errorf("%.60q: %s", c.header, got.body)
		}
	}
	// Two at once are nobody's.
	r := w.request("GET", "/v1/me", "ana", "")
	r.Header.Add("Authorization", basic("ben", password))
	w.want(w.send(r), 401)

	// Who is revoked is out with the next request.
	if err := w.users.Revoke(ctx, "ana"); err != nil {
		t.Fatal(err)
	}
	w.want(w.call("GET", "/v1/me", "ana", ""), 401)
	w.want(w.call("POST", "/v1/query", "ana", count), 401)
	w.want(w.call("GET", "/v1/me", "", "", "Authorization", basic("ana", password)), 401)
}

// TestLocked: who fails often waits, and is told for how long.
func TestLocked(t *testing.T) {
	w := newWorld(t)
	for range 40 {
		got := w.call("GET", "/v1/me", "", "", "Authorization", basic("ben", "wrong"))
		if got.status == 429 {
			if got.get("kind") != "locked" || got.header.Get("Retry-After") == "" || got.header.Get("Retry-After") == "0" {
				t.Error(got.body, got.header)
			}
			return
		}
		w.want(got, 401)
	}
	t.Error("nobody had to wait")
}

// TestRoles: what is the owner's is not for analysts, and an owner asks nothing.
func TestRoles(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/v1/ledger", "/v1/ledger/head", "/v1/audit", "/v1/users", "/metrics"} {
		if got := w.want(w.call("GET", path, "ana", ""), 403); got.get("kind") != "role" {
			t.Error(got.body)
		}
	}
	for _, path := range []string{"/v1/query", "/v1/explain"} {
		if got := w.want(w.call("POST", path, "olga", count), 403); got.get("kind") != "role" {
			t.Error(got.body)
		}
	}
	// A page of another origin cannot make a browser ask with what the browser knows.
	w.want(w.call("POST", "/v1/query", "ana", count, "Sec-Fetch-Site", "cross-site"), 403)
	w.want(w.call("POST", "/v1/query", "ana", count, "Origin", "https://elsewhere.example"), 403)
	if got := w.call("OPTIONS", "/v1/query", "ana", "", "Origin",
		"https://elsewhere.example"); got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error(got.header)
	}
}
