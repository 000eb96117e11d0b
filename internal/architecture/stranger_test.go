package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStranger runs a program of another module: what is public can be used without what is
// internal.
func TestStranger(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for from, to := range map[string]string{"testdata/stranger/main.go": "main.go", "../../go.mod": "go.mod", "../../go.sum": "go.sum"} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if to == "go.mod" {
			text = []byte(strings.Replace(string(text), "module "+module, "module example.org/stranger", 1) +
				"\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + root + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("go", "run", "-mod=mod", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
	out, err := run.CombinedOutput()
	const want = "alone: true true\nstream: within 200\nholdout: 0.76\nmodel: true\nbudget: true\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestClientIsLight: who asks a server brings along neither an engine nor a ledger, and nothing
// that trains.
func TestClientIsLight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"/client").Output()
	if err != nil || !strings.Contains(string(out), module+"/api\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, heavy := range []string{"gonum.org", "duckdb", "pg_query", "sqlite", "/ledger\n", "/account\n", "/learn\n", "/stream\n"} {
		if strings.Contains(string(out), heavy) {
			t.Errorf("package client brings %q along", heavy)
		}
	}
}
