package sqlite

import (
	"os"
	"os/exec"
	"testing"
)

// command returns a child that has not been started.
func command(name, path string) *exec.Cmd {
	if children[name] == nil {
		panic("no such child: " + name)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "LEDGER_TEST_CHILD="+name, "LEDGER_TEST_PATH="+path)
	c.Stderr = os.Stderr
	return c
}

// output runs a child to its end and returns what it wrote.
func output(t testing.TB, name, path string) string {
	t.Helper()
	b, err := command(name, path).Output()
	if err != nil {
		t.Fatalf("child %s: %v, after %q", name, err, b)
	}
	return string(b)
}
