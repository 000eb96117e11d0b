//go:build !nopage

package web

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var made = flag.Bool("made", false, "write dist.sum: go generate has just made dist")

func contents(t *testing.T, from fs.FS) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out[name], err = fs.ReadFile(from, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// digest is one hash of files and their names.
func digest(files map[string][]byte) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// TestDist: neither the sources nor what is made of them were changed since it was made. It needs
// no npm, and so runs everywhere.
func TestDist(t *testing.T) {
	sources := contents(t, os.DirFS("src"))
	for _, name := range []string{"package-lock.json", "build/main.go", "build/go.mod", "build/go.sum"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources[name] = data
	}
	now := fmt.Sprintf("%s  sources\n%s  dist\n", digest(sources), digest(contents(t, Files())))
	if *made {
		if err := os.WriteFile("dist.sum", []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	then, err := os.ReadFile("dist.sum")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(now) {
		if !strings.Contains(string(then), line) {
			t.Errorf("%s changed since it was made: run go generate ./internal/server/web, which needs npm", strings.Fields(line)[1])
		}
	}
}

// TestDistMade: what is embedded is what is made of the sources, to the last byte.
func TestDistMade(t *testing.T) {
	if _, err := os.Stat("node_modules/preact"); err != nil && os.Getenv("DISCREET_NEED_NODE") == "" {
		t.Skip("no node_modules: npm ci brings them")
	}
	dir := filepath.Join(t.TempDir(), "dist")
	build := exec.Command("go", "run", ".", "-out", dir)
	build.Dir = "build"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fresh, embedded := contents(t, os.DirFS(dir)), contents(t, Files())
	if a, b := slices.Sorted(maps.Keys(fresh)), slices.Sorted(maps.Keys(embedded)); !slices.Equal(a, b) {
		t.Fatalf("run go generate ./internal/server/web: the sources make\n%s\nand dist has\n%s", a, b)
	}
	for name, data := range fresh {
		if !bytes.Equal(data, embedded[name]) {
			t.Errorf("run go generate ./internal/server/web: %s is not what the sources make", name)
		}
	}
	for name, data := range embedded { // axe is for tests
		if bytes.Contains(data, []byte("axe-core")) {
			t.Errorf("%s has parts of the tests in it", name)
		}
	}
}
