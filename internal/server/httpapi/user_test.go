package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

// TestPeople: an owner lets analysts in, keeps them out, and makes tokens for them.
func TestPeople(t *testing.T) {
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
