package server

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/userstest"
)

// process is a server in a process of its own.
type process struct {
	target
	*exec.Cmd
	dir, log string
	ended    chan error
	collect  io.Writer // what is written to it makes the server collect its garbage
}

// account is somebody who may come in.
type account struct{ Name, Password, Token string }

const (
	honestAccounts  = 9 // two clients each; the other two are the owner
	hostileAccounts = 8
)

// startProcess makes a dataset with accounts, and starts a server with both listeners behind TLS.
// It trusts this machine as a proxy, so that each client has an address of its own.
func startProcess(t *testing.T) *process {
	t.Helper()
	p := &process{dir: t.TempDir(), ended: make(chan error, 1)}
	must(t, hospital.New(5000, 1).Write(filepath.Join(p.dir, "data")))
	policy := filepath.Join(p.dir, "policy.yaml")
	text := hospital.Dataset("hospital", "data", "{epsilon: 90, delta: 1e-6, per_query: {default: 0.001, max: 1}}")
	var names []string
	for i := range honestAccounts {
		names = append(names, fmt.Sprintf("h%d: {share: 1}", i))
	}
	for i := range hostileAccounts {
		names = append(names, fmt.Sprintf("m%d: {share: 1}", i))
	}
	text = regexp.MustCompile(`analysts: .*`).ReplaceAllString(text, "analysts: {"+strings.Join(names, ", ")+"}")
	must(t, os.WriteFile(policy, []byte("datasets:\n"+text), 0o600))
	p.addUsers(t, filepath.Join(p.dir, "policy.users"))
	db, err := discreet.Open(t.Context(), policy)
	must(t, err)
	owner := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	must(t, db.SetOwner(t.Context(), owner, nil, "the first"))
	must(t, db.Close())
	certificate, key := filepath.Join(p.dir, "crt"), filepath.Join(p.dir, "key")
	p.Certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: issue(t, certificate, key, 1).Raw})
	served, err := json.Marshal(serving{policy, certificate, key})
	must(t, err)
	p.start(t, string(served))
	return p
}

// serving is what the process that serves is told.
type serving struct{ Policy, Certificate, Key string }

// TestServe is that process.
func TestServe(t *testing.T) {
	text := os.Getenv("DISCREET_SERVE")
	if text == "" {
		t.Skip("it is a part of TestHostile")
	}
	var x serving
	must(t, json.Unmarshal([]byte(text), &x))
	s, err := Open(t.Context(), Config{Policy: x.Policy, Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0", Certificate: x.Certificate, Key: x.Key,
		TrustProxy: "127.0.0.1", Memory: "512MB", Version: "test", Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	must(t, err)
	go func() {
		for asked := make([]byte, 1); ; {
			if _, err := os.Stdin.Read(asked); err != nil {
				return
			}
			debug.FreeOSMemory()
		}
	}()
	fmt.Printf("PostgreSQL on %s, HTTPS on %s.\n", s.WireAddr(), s.HTTPAddr())
	must(t, s.Serve())
}

// addUsers gives everybody a password and a token.
func (p *process) addUsers(t *testing.T, path string) {
	t.Helper()
	roles := map[string]users.Role{"owner": users.Owner}
	for i := range max(honestAccounts, hostileAccounts) {
		roles[fmt.Sprintf("h%d", i)], roles[fmt.Sprintf("m%d", i)] = users.Analyst, users.Analyst
	}
	passwords := userstest.Write(t, path, roles, "") // what clients work for a login is not the server's
	store, err := users.Open(path)
	must(t, err)
	defer store.Close()
	add := func(name string) account {
		token, _, err := store.NewToken(t.Context(), name, "", time.Time{})
		must(t, err)
		return account{name, passwords[name], token}
	}
	for i := range honestAccounts {
		p.Honest = append(p.Honest, add(fmt.Sprintf("h%d", i)))
	}
	for i := range hostileAccounts {
		p.Hostile = append(p.Hostile, add(fmt.Sprintf("m%d", i)))
	}
	p.Owner = add("owner")
}

// start runs the server with no more memory than it may have, and waits until it is ready. What it
// prints says how much of the heap is live after each collection.
func (p *process) start(t *testing.T, served string) {
	t.Helper()
	p.log = filepath.Join(p.dir, "log")
	log, err := os.Create(p.log)
	must(t, err)
	defer log.Close()
	out := filepath.Join(p.dir, "out")
	told, err := os.Create(out)
	must(t, err)
	defer told.Close()
	// What is resident is looked at in the end. This limit is of what could be written to, most of
	// which never is: stacks of threads, and what allocators hold ready.
	p.Cmd = exec.Command("sh", "-c", fmt.Sprintf(`ulimit -d %d && exec "$0" "$@"`, 2*soakMemory>>10), os.Args[0], "-test.run=^TestServe$",
		"-test.timeout=0")
	p.Env = append(os.Environ(), "DISCREET_SERVE="+served, "GODEBUG=gctrace=1", "GOTRACEBACK=all")
	p.Stdout, p.Stderr = told, log
	p.collect, err = p.StdinPipe()
	must(t, err)
	must(t, p.Start())
	t.Cleanup(func() {
		p.Process.Kill()
		text, _ := os.ReadFile(p.log)
		if at := regexp.MustCompile(`(?m)^(fatal error|panic|runtime: |terminate)`).FindIndex(text); at != nil && t.Failed() {
			t.Logf("the server says\n%.5000s", text[at[0]:])
		}
		if to := os.Getenv("DISCREET_SOAK_LOG"); to != "" {
			os.WriteFile(to, text, 0o600)
		}
	})
	go func() { p.ended <- p.Wait() }()
	address := func(of string) (found string) {
		until(t, "the server does not start", func() bool {
			text, _ := os.ReadFile(out)
			if m := regexp.MustCompile(of).FindSubmatch(text); m != nil {
				found = string(m[1])
			}
			return found != ""
		})
		return found
	}
	p.Wire, p.HTTP = address(`PostgreSQL on (127\.0\.0\.1:\d+),`), address(`HTTPS on (127\.0\.0\.1:\d+)\.\n`)
	until(t, "the data is not opened", func() bool {
		a, err := p.client("198.51.100.99", true).Get("https://" + p.HTTP + "/readyz")
		if err != nil {
			return false
		}
		a.Body.Close()
		return a.StatusCode == http.StatusOK
	})
}

type usage struct {
	heap, rss, peak int64 // MB: live after a collection, resident, and the most that was
	files           int
}

var collected = regexp.MustCompile(`\d+->\d+->(\d+) MB, `)

func (p *process) usage(t *testing.T) (u usage) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	must(t, err)
	for name, to := range map[string]*int64{"VmRSS": &u.rss, "VmHWM": &u.peak} {
		kib, err := strconv.ParseInt(group1(regexp.MustCompile(name+`:\s*(\d+) kB`), string(status)), 10, 64)
		must(t, err)
		*to = kib >> 10
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Process.Pid))
	must(t, err)
	u.files = len(files)
	log, err := os.ReadFile(p.log)
	must(t, err)
	if all := collected.FindAllSubmatch(log, -1); len(all) > 0 {
		u.heap, _ = strconv.ParseInt(string(all[len(all)-1][1]), 10, 64)
	}
	return u
}

// settle waits until what hostile clients had is given back: their connections are cut off after
// seconds, and nothing makes that earlier.
func (p *process) settle(t *testing.T, before usage) (u usage) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		_, err := p.collect.Write([]byte{0})
		must(t, err)
		time.Sleep(300 * time.Millisecond)
		if u = p.usage(t); u.files <= before.files+filesMore && u.heap <= before.heap+heapMore &&
			(*soak == 0 || u.rss <= before.rss+residentMore) {
			return u
		}
	}
	return u
}

const (
	filesMore      = 15  // what honest clients open now and then; those who were hostile had hundreds
	heapMore       = 64  // MB, with the answers that were paid for, which are kept
	residentMore   = 256 // MB that allocators keep
	mostGoroutines = 150
)

func printUsage(before, after usage) string {
	return fmt.Sprintf("memory: live heap %d MB before, %d after; resident %d MB before, %d at most, %d after; files and connections %d "+
		"before, %d after", before.heap, after.heap, before.rss, after.peak, after.rss, before.files, after.files)
}

// check looks at what is left in the server, and at whether it serves.
func (p *process) check(t *testing.T, c *crowd, before, after usage) {
	t.Helper()
	if after.peak > soakMemory>>20 || *soak > 0 && after.rss > before.rss+residentMore || after.heap > before.heap+heapMore {
		t.Error("memory does not come back")
	}
	if after.files > before.files+filesMore {
		t.Errorf("%d files were open and %d are", before.files, after.files)
	}
	owner := p.client("198.51.100.99", true)
	get := func(at string) string {
		text, err := fetchWith(t.Context(), owner, "GET", "https://"+p.HTTP+at, p.Owner.Token, "")
		if err != nil {
			t.Error(err)
		}
		return text
	}
	if text := get("/v1/datasets/hospital/incidents"); !strings.Contains(text, `"open":0`) {
		t.Errorf("incidents: %s", text)
	}
	if text := get("/metrics"); !strings.Contains(text, `discreet_closed{dataset="hospital"} 0`) ||
		!strings.Contains(text, fmt.Sprintf("discreet_wire_connections %d\n", c.wires())) {
		t.Errorf("metrics: %s", text)
	}
	if err := c.all[0].newQuestion(t.Context()); err != nil {
		t.Errorf("the dataset is not open: %v", err)
	}
}

// end stops the server with what prints where all goroutines are. Its ledger is whole then too.
func (p *process) end(t *testing.T) {
	t.Helper()
	time.Sleep(2 * time.Second) // for those that have just hung up
	select {
	case err := <-p.ended:
		t.Fatalf("the server has ended by itself: %v", err)
	default:
	}
	must(t, p.Process.Signal(syscall.SIGQUIT))
	<-p.ended
	text, err := os.ReadFile(p.log)
	must(t, err)
	n := len(regexp.MustCompile(`(?m)^goroutine \d+ .*\[`).FindAll(text, -1))
	t.Logf("%d goroutines were left", n)
	if at := strings.Index(string(text), "SIGQUIT"); n > mostGoroutines && at >= 0 {
		t.Errorf("that is too many:\n%.100000s", text[at:])
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if strings.Contains(line, "level=ERROR") {
			t.Error(line)
		}
	}
	verified(t, filepath.Join(p.dir, "policy.ledger"))
}

// fetchWith sends a request with a token, and wants an answer that is no problem.
func fetchWith(ctx context.Context, c *http.Client, method, url, token, body string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	a, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return "", err
	}
	if a.StatusCode/100 != 2 {
		return "", &statusError{a.StatusCode, fmt.Sprintf("%s %s: %.300s", method, a.Request.URL.Path, text)}
	}
	return string(text), nil
}

// statusError is an answer of HTTP that is a problem.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return fmt.Sprintf("%d %s", e.status, e.text) }
