// Package testtrino gives a test a Trino cluster: a coordinator and workers on this machine, as
// deploy/trino/cluster starts them.
//
// Shared is for tests that have a schema of their own and end no node. It is the cluster that
// DISCREET_TRINO names by the address of its coordinator; or else, where the server was fetched
// before, one for all tests of a user that run at the time: the first of them starts it, and it
// ends a minute after the last. Own is for tests that kill nodes, or need other settings.
//
// A test is skipped where neither is to be had, unless the environment has DISCREET_NEED_TRINO:
// then it fails.
package testtrino

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

// Users of every cluster: Admin may do everything, Reader may SELECT, Writer may change rows too.
const (
	Admin  = "admin"
	Reader = "discreet"
	Writer = "writer"
)

// Cluster is one that accepts statements.
type Cluster struct {
	// URL is the address of its coordinator, such as http://127.0.0.1:18080.
	URL    string
	folder string // of an own one, or of one that this process shares with others
	own    bool
	leave  func() // ends our part of an own one
}

// Own returns a cluster that ends with its test, with options of deploy/trino/cluster, such as
// "--workers=1", "--retry" or "--secure". It takes half a minute to start, and one at a time of all
// tests on the machine has one.
func Own(t testing.TB, options ...string) *Cluster {
	t.Helper()
	skipOrFail(t, checkReady())
	folder, err := os.MkdirTemp("", "trino")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.MkdirAll(sharedFolder(), 0o700); err != nil {
		t.Fatal(err)
	}
	turn := filepath.Join(sharedFolder(), "own.lock")
	run := append([]string{"--close", turn, script(), "run", folder, "--discard", "--light", "--port", "0"}, split(options)...)
	address, life, end, err := startCluster(exec.Command("flock", run...))
	if err != nil {
		t.Fatal(err)
	}
	leave := sync.OnceFunc(func() {
		life.Close()
		if err := end(); err != nil {
			t.Errorf("Trino did not stop: %v", err)
		}
	})
	t.Cleanup(leave)
	return &Cluster{URL: address, folder: folder, own: true, leave: leave}
}

// Secure returns a cluster that wants TLS and passwords or tokens, for tests that end no node: the
// one whose folder DISCREET_TRINO_SECURE names, or one of its own.
func Secure(t testing.TB) *Cluster {
	t.Helper()
	folder := os.Getenv("DISCREET_TRINO_SECURE")
	if folder == "" {
		return Own(t, "--secure", "--workers=0")
	}
	address, err := os.ReadFile(filepath.Join(folder, "url"))
	if err == nil && !strings.HasPrefix(string(address), "https:") {
		err = errors.New("it was started without --secure")
	}
	if err != nil {
		t.Fatalf("DISCREET_TRINO_SECURE=%s has no such cluster: %v", folder, err)
	}
	return &Cluster{URL: strings.TrimSpace(string(address)), folder: folder}
}

// startCluster starts a process that prints the cluster's address, and keeps it until its input
// ends.
func startCluster(c *exec.Cmd) (address string, life io.Closer, end func() error, err error) {
	var said strings.Builder
	c.Stderr = &said
	in, err := c.StdinPipe()
	if err != nil {
		return "", nil, nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return "", nil, nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, nil, err
	}
	address, err = readAddress(out)
	if err != nil {
		in.Close()
		_ = c.Wait() // what it said is more
		return "", nil, nil, &brokenError{"deploy/trino/cluster does not start", said.String()}
	}
	return address, in, c.Wait, nil
}

func readAddress(r io.Reader) (string, error) {
	var text []byte
	for one := make([]byte, 1); ; text = append(text, one...) {
		if _, err := io.ReadFull(r, one); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return string(text), nil
		}
	}
}

func split(options []string) []string {
	var all []string
	for _, o := range options {
		name, value, has := strings.Cut(o, "=")
		all = append(all, name)
		if has {
			all = append(all, value)
		}
	}
	return all
}

// Address returns the address of a schema, as a policy names it.
func (c *Cluster) Address(user, catalog, schema string) string {
	u, err := url.Parse(c.URL)
	if err != nil {
		panic(err) // it was read before
	}
	options := url.Values{}
	if u.Scheme == "https" {
		options.Set("sslrootcert", c.Secret("authority.crt"))
		options.Set("passwordfile", c.Secret(user+".password"))
	} else {
		options.Set("sslmode", "disable")
	}
	return (&url.URL{Scheme: "trino", User: url.User(user), Host: u.Host, Path: "/" + catalog + "/" + schema,
		RawQuery: options.Encode()}).String()
}

// Secret returns the path of a file that a cluster with "--secure" has made: authority.crt, a
// user's name with .password, or jwt.key, with which tokens are signed.
func (c *Cluster) Secret(name string) string { return filepath.Join(c.folder, "secrets", name) }

// Shared returns the cluster that all tests share.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	shared.once.Do(func() { shared.cluster, shared.err = startShared() })
	skipOrFail(t, shared.err)
	return shared.cluster
}

var shared struct {
	once    sync.Once
	cluster *Cluster
	err     error
	life    io.Closer // it may end when this is closed, which the end of the process does
}

func startShared() (*Cluster, error) {
	c, err := startReal()
	if err == nil && !daily.Full() {
		c.URL, err = withFewDrivers(c.URL)
	}
	return c, err
}

func startReal() (*Cluster, error) {
	if address := os.Getenv("DISCREET_TRINO"); address != "" {
		return connectNamed(strings.TrimSuffix(address, "/"))
	}
	if err := checkReady(); err != nil {
		return nil, err
	}
	folder := filepath.Join(sharedFolder(), "trino-tests")
	c := exec.Command(script(), "run", folder, "--discard", "--linger", "60", "--light", "--port", "0", "--workers", "1",
		"--working-coordinator")
	address, life, _, err := startCluster(c)
	if err != nil {
		return nil, err
	}
	shared.life = life
	return &Cluster{URL: address, folder: folder}, nil
}

// connectNamed is a cluster that somebody else started. That it does not answer is a failure:
// somebody wanted to have it tested.
func connectNamed(address string) (*Cluster, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" {
		return nil, &brokenError{"DISCREET_TRINO=" + address, "is no address such as http://127.0.0.1:18080"}
	}
	client := http.Client{Timeout: time.Minute}
	r, err := client.Get(address + "/v1/info")
	if err != nil {
		return nil, &brokenError{"DISCREET_TRINO=" + address, err.Error()}
	}
	defer r.Body.Close()
	var info struct{ Starting bool }
	if err := json.NewDecoder(r.Body).Decode(&info); err != nil || r.StatusCode != http.StatusOK || info.Starting {
		return nil, &brokenError{"DISCREET_TRINO=" + address, fmt.Sprintf("is not ready: %s, %v", r.Status, err)}
	}
	return &Cluster{URL: address}, nil
}

// Kill ends nodes of an own cluster with SIGKILL, in the middle of whatever they do: "coordinator",
// "worker1", "worker2" and so on.
func (c *Cluster) Kill(t testing.TB, nodes ...string) {
	t.Helper()
	for _, node := range nodes {
		c.command(t, "kill", node)
	}
}

// Restart starts what was killed of an own cluster, and returns when all its nodes are active. What
// was in the catalog memory on a node that was killed is gone.
func (c *Cluster) Restart(t testing.TB) {
	t.Helper()
	c.command(t, "start")
}

func (c *Cluster) command(t testing.TB, name string, args ...string) {
	t.Helper()
	if !c.own {
		t.Fatal("others use this cluster too: take testtrino.Own")
	}
	out, err := exec.Command(script(), append([]string{name, c.folder}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("deploy/trino/cluster %s: %v\n%s", name, err, out)
	}
}

// Rules changes the file that says who may do what on an own cluster. It holds within seconds.
func (c *Cluster) Rules(t testing.TB, change func(rules string) string) {
	t.Helper()
	if !c.own {
		t.Fatal("others use this cluster too: take testtrino.Own")
	}
	file := filepath.Join(c.folder, "coordinator", "etc", "rules.json")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(change(string(text))), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Lake makes a catalog of Iceberg tables on an own cluster, in files of its own. DROP CATALOG takes
// it away, and Lake brings it back with what was in it.
func (c *Cluster) Lake(t testing.TB, name string) {
	t.Helper()
	c.Run(t, fmt.Sprintf(`CREATE CATALOG %s USING iceberg WITH ("iceberg.catalog.type" = 'TESTING_FILE_METASTORE', `+
		`"fs.native-local.enabled" = 'true', "local.location" = '%s', "hive.metastore.catalog.dir" = 'local:///%s')`, name,
		filepath.Join(c.folder, "warehouse"), name))
}

// script is the path of deploy/trino/cluster in the tree that this package was compiled from.
func script() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "../../..", "deploy", "trino", "cluster")
}

// brokenError says that a cluster that should be there is not, which is no reason to skip a test.
type brokenError struct{ what, why string }

func (e *brokenError) Error() string { return e.what + ": " + e.why }

func checkReady() error {
	if _, err := exec.LookPath("flock"); err != nil {
		return errors.New("there is no flock, of the package util-linux")
	}
	out, err := exec.Command(script(), "ready").CombinedOutput()
	if err != nil {
		return errors.New(strings.TrimSpace(string(out)))
	}
	return nil
}

// skipOrFail skips a test that lacks a cluster, or fails it.
func skipOrFail(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var broken *brokenError
	if os.Getenv("DISCREET_NEED_TRINO") != "" || errors.As(err, &broken) {
		t.Fatal(err)
	}
	t.Skipf("NOT TESTED ON TRINO: %v.\nTo test it, run deploy/trino/cluster fetch once (800 MB), or set DISCREET_TRINO "+
		"to the address of what deploy/trino/cluster start has started, such as http://127.0.0.1:18080.", err)
}

// sharedFolder is where the cluster is that tests share.
func sharedFolder() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		folder = os.TempDir()
	}
	return filepath.Join(folder, "discreet")
}
