//go:build !nopage

package web

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

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

// TestDist: what is embedded is what is made of the sources, to the last byte.
func TestDist(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	build := exec.Command("go", "run", ".", "-out", dir)
	build.Dir = "build"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	made, embedded := contents(t, os.DirFS(dir)), contents(t, Files())
	if a, b := slices.Sorted(maps.Keys(made)), slices.Sorted(maps.Keys(embedded)); !slices.Equal(a, b) {
		t.Fatalf("run go generate ./internal/server/web: the sources make\n%s\nand dist has\n%s", a, b)
	}
	for name, data := range made {
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
