package testtrino

import (
	"os/exec"
	"strings"
	"testing"
)

// TestScript holds deploy/trino/cluster to what it says when it is asked for what it cannot do.
// None of these fetches or starts anything.
func TestScript(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("DISCREET_TRINO_HOME", t.TempDir())
	for want, args := range map[string][]string{
		"no command dance":                         {"dance", folder},
		"start: which folder?":                     {"start"},
		"fetch takes nothing":                      {"fetch", folder},
		"no option --wings":                        {"start", folder, "--wings"},
		"--workers needs a value":                  {"start", folder, "--workers"},
		"--workers is a number":                    {"start", folder, "--workers", "two"},
		"--heap is a size":                         {"start", folder, "--heap", "1 gigabyte"},
		"--port is a number":                       {"run", folder, "--port", "x"},
		"--resource-groups: /nowhere":              {"start", folder, "--resource-groups", "/nowhere"},
		"there is no Trino server in":              {"ready"},
		"has no node worker7":                      {"kill", folder, "worker7"},
		"has no cluster: cluster start makes one":  {"sql", folder, "SELECT 1"},
		"which node? coordinator, worker1, worker": {"kill", folder},
	} {
		out, err := exec.Command(script(), args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
	out, err := exec.Command(script(), "help").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"fetch", "ready", "start", "run", "stop", "kill", "status", "sql", "--workers", "--heap", "--port",
		"--retry", "--secure", "--light", "--resource-groups", "--set", "--linger", "--discard", "DISCREET_TRINO_HOME"} {
		if !strings.Contains(string(out), word) {
			t.Errorf("help does not say %s", word)
		}
	}
}
