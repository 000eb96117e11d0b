package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/server/users"
)

// TestPeople: an owner lets analysts in, keeps them out, and makes tokens for them.
func TestPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.want(w.call("POST", "/v1/users", "olga", `{"name":"dora"}`), 201)
	comesIn := func(name, password string) int {
		r := w.request("GET", "/v1/me", "", "")
		r.SetBasicAuth(name, password)
		return w.send(r).status
	}
	first := made.get("password").(string)
	if comesIn("dora", first) != http.StatusOK || len(made.get("access").([]any)) != 0 {
		t.Error(made.body)
	}
	if got := w.want(w.call("POST", "/v1/users", "olga", `{"name":"dora"}`), 409); got.get("kind") != "exists" {
		t.Error(got.body)
	}
	w.want(w.call("POST", "/v1/users", "olga", `{"name":"a/b"}`), 422)
	w.want(w.call("POST", "/v1/users", "olga", `{"name":"eve","role":"owner"}`), 422)
	token := w.want(w.call("POST", "/v1/users/dora/tokens", "olga", `{"label":"notebook"}`), 201)
	w.tokens["dora"] = token.get("secret").(string)
	w.want(w.call("GET", "/v1/me", "dora", ""), 200)
	if got := w.want(w.call("GET", "/v1/tokens?user=dora", "olga", ""), 200); !strings.Contains(got.body, "notebook") ||
		strings.Contains(got.body, `"ana"`) {
		t.Error(got.body)
	}
	second := w.want(w.call("POST", "/v1/users/dora/password", "olga", `{}`), 201).get("password").(string)
	if comesIn("dora", first) != http.StatusUnauthorized || comesIn("dora", second) != http.StatusOK {
		t.Error("the old password counts")
	}
	for range 2 {
		w.want(w.call("DELETE", "/v1/users/dora", "olga", ""), 204)
	}
	if comesIn("dora", second) != http.StatusUnauthorized {
		t.Error("she was revoked")
	}
	w.want(w.call("GET", "/v1/me", "dora", ""), 401)
	if got := w.want(w.call("POST", "/v1/users/dora/tokens", "olga", `{"label":"x"}`), 409); got.get("kind") != "revoked" {
		t.Error(got.body)
	}
	third := w.want(w.call("POST", "/v1/users/dora/password", "olga", `{}`), 201).get("password").(string)
	if comesIn("dora", third) != http.StatusOK {
		t.Error("she may come in again")
	}
	w.want(w.call("GET", "/v1/me", "dora", ""), 401) // with a token that was revoked
	all := w.want(w.call("GET", "/v1/users", "olga", ""), 200)
	if all.get("users", "0", "name") != "ana" || all.get("users", "0", "access", "0", "dataset") != "hospital" {
		t.Error(all.body)
	}
	if log := w.log.String(); !strings.Contains(log, "what=revoked name=dora by=olga") || strings.Contains(log, third) {
		t.Error(log)
	}
}

// TestOwnersAreNotChangedOverHTTP: neither another owner nor oneself; and analysts change nobody.
func TestOwnersAreNotChangedOverHTTP(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ method, at, body string }{
		{"POST", "/v1/users/%/password", `{}`}, {"DELETE", "/v1/users/%", ""}, {"POST", "/v1/users/%/tokens", `{"label":"x"}`},
	} {
		if got := w.want(w.call(c.method, strings.Replace(c.at, "%", "olga", 1), "olga", c.body), 403); got.get("kind") != "role" {
			t.Error(got.body)
		}
		w.want(w.call(c.method, strings.Replace(c.at, "%", "nobody", 1), "olga", c.body), 404)
		for _, name := range []string{"ana", "ben", "olga", "nobody"} {
			got := w.want(w.call(c.method, strings.Replace(c.at, "%", name, 1), "ana", c.body), 403)
			same(t, c.at+" for an analyst", got, w.want(w.call(c.method, strings.Replace(c.at, "%", "x", 1), "ana", c.body), 403))
		}
	}
	w.want(w.call("POST", "/v1/users", "ana", `{"name":"eve"}`), 403)
	w.want(w.call("GET", "/v1/me", "olga", ""), 200)
	if got := w.want(w.call("GET", "/v1/tokens?user=ben", "ana", ""), 200); strings.Contains(got.body, `"ben"`) {
		t.Error(got.body)
	}
}

// TestTokensHaveAnEnd: nobody fills the file of users.
func TestTokensHaveAnEnd(t *testing.T) {
	now := time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)
	old := now.Add(-48 * time.Hour)
	many := func(t users.Token) []users.Token {
		all := make([]users.Token, maxTokens)
		for i := range all {
			all[i] = t
		}
		return all
	}
	for _, c := range []struct {
		of   users.Token
		full bool
	}{
		{users.Token{Created: old}, true}, {users.Token{Created: old, Revoked: old}, false},
		{users.Token{Created: old, Expires: old}, false},
		{users.Token{Created: now, Revoked: now}, true}, {users.Token{Created: old, Expires: now.Add(1)}, true},
	} {
		if hasMaxTokens(many(c.of), now) != c.full || hasMaxTokens(many(c.of)[1:], now) {
			t.Errorf("%+v", c.of)
		}
	}
	w := newWorld(t)
	for i := range maxTokens + 2 {
		got := w.call("POST", "/v1/tokens", "cy", `{"label":"more"}`)
		if i == maxTokens-1 { // there was one
			if w.want(got, 409).get("kind") != "limit" {
				t.Error(got.body)
			}
			break
		}
		w.want(got, 201)
	}
	// To revoke twice is no mistake.
	made := w.want(w.call("POST", "/v1/tokens", "ana", `{"label":"one"}`), 201)
	for range 2 {
		w.want(w.call("DELETE", "/v1/tokens/"+made.get("token", "id").(string), "ana", ""), 204)
	}
}
