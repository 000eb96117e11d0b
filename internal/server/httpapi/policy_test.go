package httpapi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// TestReloadOverHTTP: the owner sees what the policy's file would change, and then applies it; a
// mistake in the file changes nothing, and nobody else reads it.
func TestReloadOverHTTP(t *testing.T) {
	dir := t.TempDir()
	furnish(t, dir, hospital.New(people, 1), policyText("{epsilon: 10}"))
	w := newWorldIn(t, dir)
	file := filepath.Join(dir, "policy.yaml")
	text, err := os.ReadFile(file)
	must(t, err)
	const at = "/v1/policy/reload"
	if got := w.want(w.call("POST", at, "olga", `{"dry_run": true}`), 200); got.get("applied") != false || len(got.get("changes").([]any)) != 0 {
		t.Error(got.body)
	}
	wider := strings.Replace(string(text), "bounds: [0, 110]", "bounds: [0, 100]", 1)
	if wider == string(text) {
		t.Fatal("nothing was changed")
	}
	must(t, os.WriteFile(file, []byte(wider), 0o600))
	for _, who := range []string{"ana", ""} {
		if got := w.call("POST", at, who, `{}`); got.status < 400 {
			t.Errorf("%s reads it: %s", who, got.body)
		}
	}
	bounds := func() string { return w.want(w.call("GET", "/v1/policy", "olga", ""), 200).body }
	if got := w.want(w.call("POST", at, "olga", `{"dry_run": true}`), 200); got.get("changes", "0", "was") != "0 .. 110" ||
		got.get("changes", "0", "is") != "0 .. 100" || got.get("applied") != false || strings.Contains(bounds(), "0 .. 100\"") {
		t.Error(got.body)
	}
	if got := w.want(w.call("POST", at, "olga", `{}`), 200); got.get("applied") != true || !strings.Contains(bounds(), "0 .. 100\"") {
		t.Error(got.body)
	}
	for _, wrong := range []string{"format: 1\nnothing: here\n", strings.Replace(wider, "epsilon: 10", "epsilon: 11", 1)} {
		must(t, os.WriteFile(file, []byte(wrong), 0o600))
		if got := w.want(w.call("POST", at, "olga", `{}`), 422); got.get("kind") != "invalid" || !strings.Contains(bounds(), "0 .. 100\"") {
			t.Error(got.body)
		}
	}
}
