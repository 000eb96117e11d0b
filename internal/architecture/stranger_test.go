package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStranger compiles a file of another module: what is public can be used without what is
// internal. The tests of package discreet run the same file, which is linked there anyway.
func TestStranger(t *testing.T) {
	const file = "../../everything_example_test.go"
	text := read(t, file)
	internal := strings.Replace(text, "import (", "import (\n\t_ \""+module+"/internal/sealed\"", 1)
	if out, err := compiledElsewhere(t, text); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := compiledElsewhere(t, internal); err == nil || !strings.Contains(out, "use of internal package") {
		t.Errorf("what is internal can be used: %v\n%s", err, out)
	}
}

// compiledElsewhere compiles the text of a file in a module of its own.
func compiledElsewhere(t *testing.T, text string) (string, error) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod := strings.Replace(read(t, "../../go.mod"), "module "+module, "module example.org/stranger", 1) +
		"\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + root + "\n"
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": mod, "go.sum": read(t, "../../go.sum"),
		"stranger.go": strings.Replace(text, "package discreet_test\n", "package stranger\n", 1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-mod=mod", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
	out, err := build.CombinedOutput()
	return string(out), err
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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
