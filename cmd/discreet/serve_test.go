//go:build unix

package main

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/ownerkey"
	"github.com/discreet-dp/discreet/ledger"
)

// watched is what a process prints, for somebody who waits for it.
type watched struct {
	mu    sync.Mutex
	more  *sync.Cond
	text  strings.Builder
	ended bool
}

func newWatched() *watched {
	w := &watched{}
	w.more = sync.NewCond(&w.mu)
	return w
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.more.Broadcast()
	return w.text.Write(b)
}

func (w *watched) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.more.Broadcast()
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// find returns what an expression finds, as soon as it does.
func (w *watched) find(t *testing.T, expression string) string {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for e := regexp.MustCompile(expression); ; w.more.Wait() {
		if m := e.FindStringSubmatch(w.text.String()); m != nil {
			return m[len(m)-1]
		}
		if w.ended {
			t.Fatalf("there is no %s in\n%s", expression, &w.text)
		}
	}
}

// running is a server in a process of its own.
type running struct {
	*exec.Cmd
	out, log *watched
	ended    chan error
	told     net.Conn // what systemd is told
}

// starts runs a server and waits until it says that it is ready.
func starts(t *testing.T, env []string, args ...string) *running {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	must(t, err)
	r := &running{Cmd: process(nil, nil, append([]string{"serve"}, args...)...), out: newWatched(), log: newWatched(),
		ended: make(chan error, 1), told: l}
	r.Stdout, r.Stderr = r.out, r.log
	r.Env = append(append(r.Env, "NOTIFY_SOCKET="+socket), env...)
	must(t, r.Start())
	go func() {
		r.ended <- r.Wait()
		r.out.end()
		r.log.end()
		l.Close()
	}()
	t.Cleanup(func() { r.Process.Kill() })
	r.tells(t, "READY=1")
	return r
}

// tells waits for what systemd is told next.
func (r *running) tells(t *testing.T, want string) {
	t.Helper()
	b := make([]byte, 100)
	if n, err := r.told.Read(b); err != nil || string(b[:n]) != want {
		t.Fatalf("systemd is told %q, %v\n%s%s", b[:n], err, r.out, r.log)
	}
}

// stops ends a server by a signal and checks that it ends in order.
func (r *running) stops(t *testing.T, s os.Signal) {
	t.Helper()
	must(t, r.Process.Signal(s))
	r.tells(t, "STOPPING=1")
	if err := <-r.ended; err != nil {
		t.Errorf("it ended with %v\n%s", err, r.log)
	}
	r.log.find(t, `msg"?[=:]"?ended`)
}

// The demonstration prints lines that work, and leaves nothing behind.
func TestServeDemo(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	r := starts(t, []string{"TMPDIR=" + temp}, "--demo", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
	address := r.out.find(t, `HTTP on (\S+)`)
	token := r.out.find(t, `(?m)^ana +analyst +\S+ +(\S+)$`)
	ask := func(token string) (int, map[string]any) {
		q, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+address+"/v1/query",
			strings.NewReader(`{"dataset": "hospital", "sql": "SELECT COUNT(*) FROM patients"}`))
		must(t, err)
		q.Header.Set("Authorization", "Bearer "+token)
		q.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(q)
		must(t, err)
		defer a.Body.Close()
		var body map[string]any
		must(t, json.NewDecoder(a.Body).Decode(&body))
		return a.StatusCode, body
	}
	if code, body := ask(token); code != 200 || body["rows"] == nil {
		t.Errorf("the answer is %d, %v", code, body)
	}
	if code, _ := ask("wrong"); code != 401 {
		t.Errorf("a stranger gets %d", code)
	}
	for _, tool := range []string{"psql", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("there is no %s", tool)
			continue
		}
		line := r.out.find(t, `(?m)^  (`+tool+` .*SELECT.*)$`)
		if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil || !strings.Contains(string(out), "hypertension") {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	r.stops(t, syscall.SIGTERM)
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if log := r.log.String(); !strings.Contains(log, "outcome=answered") || strings.Contains(log, "SELECT") ||
		strings.Contains(log, token) {
		t.Errorf("the log is %s", log)
	}
}

// A policy with users is served, and what it says how to connect is right.
func TestServe(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	free := []string{"--listen", "127.0.0.1:0", "--http", ""}
	command(append([]string{"serve", "-p", policy}, free...)...).wants(t, 2, "discreet user add", "policy.users")
	comes(t, beside(policy, "policy.users"), "ana")
	r := starts(t, nil, append([]string{"-p", policy, "--log-format", "json"}, free...)...)
	address := r.out.find(t, `psql postgresql://ana@(\S+)/hospital`)
	conn, err := net.Dial("tcp", address)
	must(t, err)
	conn.Close()
	// The ledger is held by the server, and the port too.
	asks(policy, people).wants(t, 1, "the ledger is open already")
	command(append([]string{"serve", "-p", policy}, free...)...).wants(t, 1, "the ledger is open already")
	command("serve", "-p", policy, "--listen", address, "--http", "").wants(t, 1, "another program already uses", address)
	r.stops(t, syscall.SIGINT)
	if out := r.out.String(); strings.Contains(out, "HTTP") {
		t.Errorf("it says %s", out)
	}
	db, err := discreet.Open(context.Background(), policy)
	must(t, err)
	db.Close()
}

// What is wrong with the command line is said before anything is opened.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	comes(t, beside(policy, "policy.users"), "ana")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", 2, "name the policy with --policy"},
		{"--demo -p x.yaml", 2, "--demo has its own policy"},
		{"-p " + policy + " --listen :0", 2, "--plaintext"},
		{"-p " + policy + " --tls-cert a.pem", 1, "the certificate a.pem has no key"},
		{"-p " + policy + " --tls-key a.pem", 1, "the key a.pem has no certificate"},
		{"-p " + policy + " --tls-cert a.pem --tls-key b.pem", 1, "cannot be used together"},
		{"-p " + policy + " --listen= --http=", 1, "nothing to listen on"},
		{"-p " + policy + " --timeout soon", 2, `--timeout: "soon" is not a length of time; write one such as 30s or 5m`},
		{"-p " + policy + " --timeout 30", 2, "such as 30s or 5m"},
		{"-p " + policy + " --timeout=-1s", 1, "the limit timeout is below 0"},
		{"-p " + policy + " --log-level loud", 2, "--log-level"},
		{"-p " + policy + " --memory much --listen 127.0.0.1:0 --http=", 1, "memory"},
		{"-p " + policy + " --shutdown-timeout=-1s", 2, "below 0"},
		{"-p " + policy + " --rate=-1", 1, "below 0"},
		{"-p " + policy + " --running -1", 1, "the limit running is below 0"},
		{"-p " + policy + " --patience -1s", 2, "below 0"},
		{"-p nowhere.yaml", 1, "nowhere.yaml"},
		{"--config nowhere.yaml", 2, "nowhere.yaml"},
	} {
		command(append([]string{"serve"}, strings.Fields(c.args)...)...).wants(t, c.code, c.want)
	}
}

// A second signal ends at once. The question that it waits for is one that waits for its tick.
func TestServeSecondSignal(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	comes(t, beside(policy, "policy.users"), "ana")
	secret := command("user", "token", "ana", "-p", policy, "--json").wants(t, 0).decode(t)["token"].(string)
	change(t, policy, func(s string) string { return s + "    " + soon() + "\n" })
	r := starts(t, nil, "-p", policy, "--listen", "", "--http", "127.0.0.1:0", "--shutdown-timeout", "1h")
	conn, err := net.Dial("tcp", r.out.find(t, `HTTP on (\S+)`))
	must(t, err)
	defer conn.Close()
	const body = `{"sql": "SELECT COUNT(*) FROM patients"}`
	fmt.Fprintf(conn, "POST /v1/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n\r\n%s", secret, len(body), body)
	// It is charged on one tick, and its answer kept and logged on the next.
	before := command("budget", "-p", policy).wants(t, 0).out
	for n := 0; command("budget", "-p", policy).wants(t, 0).out == before; n++ {
		if n == 600 {
			t.Fatal("nothing was charged")
		}
		time.Sleep(50 * time.Millisecond)
	}
	for ended := false; !ended; {
		r.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-r.ended:
			if ended = true; err == nil {
				t.Error("it ended in order")
			}
		case <-time.After(10 * time.Millisecond):
		}
	}
	// What was paid is in the ledger.
	if n := spent(t, policy); n.Charges != 1 {
		t.Errorf("the ledger has %+v", n)
	}
}

// The owner tops up, renews and releases at a server that runs, and the key stays here.
func TestOwnersWorkAtAServer(t *testing.T) {
	t.Parallel()
	policy := deploy(t, "{epsilon: 1, renewal: {every: month, windows: 3}}")
	key, token := beside(policy, "owner.key"), beside(policy, "owner.token")
	command("ledger", "key", "-p", policy, key).wants(t, 0)
	command("query", "-p", policy, "--as", "ana", older("1")).wants(t, 0)
	failed(t, policy, ledger.Incident{Analyst: "ana", Failure: ledger.FailedMemory})
	command("user", "add", "olga", "--role", "owner", "-p", policy).wants(t, 0)
	secret := command("user", "token", "olga", "-p", policy, "--json").wants(t, 0).decode(t)["token"].(string)
	must(t, os.WriteFile(token, []byte(secret+"\n"), 0o600))
	r := starts(t, nil, "-p", policy, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
	at := []string{"--server", "http://" + r.out.find(t, `HTTP on (\S+)`), "--token-file", token, "--reason", "test"}
	with := func(args ...string) result { return command(append(args, at...)...) }

	with("ledger", "topup", "--key", key, "--epsilon", "0.5").wants(t, 0, "epsilon 1 before, epsilon 1.5 from now on",
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
	signature := strings.TrimSpace(fed(draft+"\n", "ledger", "sign", "--key", key).wants(t, 0, "by hand").out)
	if raw, err := hex.DecodeString(signature); err != nil || len(raw) != ed25519.SignatureSize {
		t.Errorf("the signature is %q", signature)
	}
	fed("5:hello,", "ledger", "sign", "--key", key).wants(t, 2, "this is not a draft")
	other := beside(policy, "other.key")
	must(t, errorOf(ownerkey.Make(other)))
	fed(draft, "ledger", "sign", "--key", other).wants(t, 2, "the draft is for the key with the fingerprint")

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

func (r *running) draft(t *testing.T, token string) string {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+r.out.find(t, `HTTP on (\S+)`)+"/v1/datasets/hospital/topups/draft",
		strings.NewReader(`{"epsilon": 0.5, "reason": "by hand"}`))
	must(t, err)
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(q)
	must(t, err)
	defer a.Body.Close()
	var body struct{ Draft struct{ Text string } }
	if err := json.NewDecoder(a.Body).Decode(&body); err != nil || body.Draft.Text == "" {
		t.Fatalf("%d, %v", a.StatusCode, err)
	}
	return body.Draft.Text
}
