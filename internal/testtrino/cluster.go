package testtrino

import (
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
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

// startCluster starts a process that prints the cluster's address, and keeps it until its input ends.
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
