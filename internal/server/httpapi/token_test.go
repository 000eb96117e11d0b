package httpapi

import (
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/server/users"
)

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
		if crowded(many(c.of), now) != c.full || crowded(many(c.of)[1:], now) {
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
