package agent_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/hospital"
)

// python is an interpreter that has the official client, package mcp: that of the folder of tools
// (.ci/tools), or the first on the path. Without one the test is skipped, and fails where
// DISCREET_NEED_TOOLS has mcp, or all.
func python(t *testing.T) string {
	t.Helper()
	for _, name := range []string{filepath.Join(os.Getenv("DISCREET_TOOLS"), "mcp", "bin", "python"), "python3"} {
		if exec.Command(name, "-c", "from mcp import Client").Run() == nil {
			return name
		}
	}
	const missing = "there is no Python with the package mcp: .ci/tools installs it, or pip install mcp"
	if needed := strings.Split(os.Getenv("DISCREET_NEED_TOOLS"), ","); slices.Contains(needed, "mcp") || slices.Contains(needed, "all") {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// The official client for Python has the same tools, answers and errors.
func TestPython(t *testing.T) {
	interpreter := python(t)
	w := newWorld(t, hospital.New(people, 1), usual)
	var in bytes.Buffer
	calls := []struct {
		tool string
		with any
		want string
	}{
		{"describe", map[string]any{}, "Table patients"}, {"sandbox", sql(bySex), "MADE UP"},
		{"quote", sql(bySex), "price: epsilon 0.1; left: epsilon 2"}, {"ask", sql(bySex), "price: epsilon 0.1; left: epsilon 1.9"},
		{"ask", sql(bySex), "free, already paid for"}, {"ask", sql("SELECT * FROM patients"), "refused: * would show rows"},
		{"budget", map[string]any{}, "left: epsilon 1.9"},
	}
	for _, c := range calls {
		if err := json.NewEncoder(&in).Encode([]any{c.tool, c.with}); err != nil {
			t.Fatal(err)
		}
	}
	run := func(token string) ([]string, error) {
		c := exec.CommandContext(t.Context(), interpreter, "testdata/client.py", "http", w.address+"/mcp")
		c.Env = append(os.Environ(), "TOKEN="+token)
		c.Stdin = bytes.NewReader(in.Bytes())
		out, err := c.Output()
		return strings.Split(strings.TrimSpace(string(out)), "\n"), err
	}
	lines, err := run(w.tokens["ana"])
	if err != nil || len(lines) != 1+len(calls) || !strings.Contains(lines[0], `["ask", "budget", "describe", "quote", "sandbox"]`) {
		t.Fatalf("%v\n%s", err, strings.Join(lines, "\n"))
	}
	for i, c := range calls {
		var got struct {
			Tool, Text string
			Error      bool
			JSON       map[string]any
		}
		if err := json.Unmarshal([]byte(lines[1+i]), &got); err != nil {
			t.Fatal(err)
		}
		if got.Tool != c.tool || !strings.Contains(got.Text, c.want) || got.Error != strings.HasPrefix(c.want, "refused") ||
			got.JSON == nil {
			t.Errorf("%s %v: %s", c.tool, c.with, lines[1+i])
		}
	}
	if n := w.charges("ana"); n != 1 {
		t.Errorf("%d charges", n)
	}
	if lines, err := run("wrong"); err == nil {
		t.Errorf("a wrong token gets %s", lines)
	}
}
