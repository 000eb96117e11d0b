package httpapi

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

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
	if err != nil {
		t.Fatal(err)
	}
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
