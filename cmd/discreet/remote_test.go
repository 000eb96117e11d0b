//go:build unix

package main

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/discreet-dp/discreet/internal/ownerkey"
	"github.com/discreet-dp/discreet/ledger"
)

// The owner tops up, renews and releases at a server that runs, and the key stays here.
func TestOwnersWorkAtAServer(t *testing.T) {
	policy := deploy(t, "{epsilon: 1, renewal: {every: month, windows: 3}}")
	key, token := beside(policy, "owner.key"), beside(policy, "owner.token")
	command("ledger", "key", "-p", policy, key).wants(t, 0)
	command("query", "-p", policy, "--as", "ana", older("1")).wants(t, 0)
	failed(t, policy, ledger.Incident{Analyst: "ana", Failure: ledger.FailedMemory})
	command("user", "add", "olga", "--role", "owner", "-p", policy).wants(t, 0)
	secret := command("user", "token", "olga", "-p", policy, "--json").wants(t, 0).decode(t)["token"].(string)
	if err := os.WriteFile(token, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := starts(t, nil, "-p", policy, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
	at := []string{"--server", "http://" + r.out.find(t, `HTTP on (\S+)`), "--token-file", token, "--reason", "test"}
	with := func(args ...string) result { return command(append(args, at...)...) }

	with("ledger", "topup", "--key", key, "--epsilon", "0.5").wants(t, 0, "epsilon 1 before, epsilon 1.5 from here on",
		"Within this window")
	with("ledger", "topup", "--key", key, "--analyst", "ana", "--epsilon", "0.25", "--json").wants(t, 0, `"again": false`)
	with("ledger", "topup", "--key", key, "--analyst", "nobody", "--epsilon", "0.25").wants(t, 1, "there is no analyst")
	with("ledger", "renew", "--key", key, "--due").wants(t, 0, "not due")
	with("ledger", "renew", "--key", key).wants(t, 0, "window 2 of 3 has begun", "Over all 3 windows")
	with("ledger", "renew").wants(t, 2, "takes the owner's key")
	with("incidents", "release", "--analyst", "ana").wants(t, 2, "takes the owner's key")
	with("incidents", "release", "--analyst", "ana", "--key", key).wants(t, 0, "released 1 incidents")
	with("incidents", "release", "--analyst", "ana", "--key", key).wants(t, 1, "there is nothing to release")

	// What a page shows can be signed by hand.
	draft := r.draft(t, secret)
	withInput(t, draft+"\n")
	signature := strings.TrimSpace(command("ledger", "sign", "--key", key).wants(t, 0, "by hand").out)
	if raw, err := hex.DecodeString(signature); err != nil || len(raw) != ed25519.SignatureSize {
		t.Errorf("the signature is %q", signature)
	}
	withInput(t, "5:hello,")
	command("ledger", "sign", "--key", key).wants(t, 2, "this is no draft")
	other := beside(policy, "other.key")
	if _, err := ownerkey.Make(other); err != nil {
		t.Fatal(err)
	}
	withInput(t, draft)
	command("ledger", "sign", "--key", other).wants(t, 2, "the draft is for the key with the fingerprint")

	// What is misused is said before anything is sent.
	command("ledger", "renew", "--reason", "x").wants(t, 2, "--policy", "--server")
	with("ledger", "renew", "-p", policy).wants(t, 2, "not both")
	command("ledger", "renew", "--reason", "x", "--server", "http://db.example", "--token-file", token).wants(t, 2, "could read the token")
	command("ledger", "renew", "--reason", "x", "--server", "https://db.example").wants(t, 2, "--token-file")
	r.stops(t, syscall.SIGTERM)
	if log := r.log.String() + r.out.String(); strings.Contains(log, secret) {
		t.Error("the token is in the log")
	}
	command("ledger", "verify", "-p", policy).wants(t, 0, "2 topup", "1 renewal", "1 release")
	command("ledger", "replay", "-p", policy, "--quiet").wants(t, 0)
}

// draft has a server draft a top-up.
func (r *running) draft(t *testing.T, token string) string {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+r.out.find(t, `HTTP on (\S+)`)+"/v1/datasets/hospital/topups/draft",
		strings.NewReader(`{"epsilon": 0.5, "reason": "by hand"}`))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	var body struct{ Draft struct{ Text string } }
	if err := json.NewDecoder(a.Body).Decode(&body); err != nil || body.Draft.Text == "" {
		t.Fatalf("%d, %v", a.StatusCode, err)
	}
	return body.Draft.Text
}
