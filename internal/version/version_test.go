package version

import (
	"strings"
	"testing"
)

func TestRevision(t *testing.T) {
	defer func(c string) { Commit = c }(Commit)
	Commit = "0123abc"
	if got := Revision(); got != "0123abc" {
		t.Errorf("what was stamped is not what is told: %q", got)
	}
	Commit = ""
	if got := Revision(); strings.ContainsAny(got, " \n") {
		t.Errorf("%q is no commit", got)
	}
}

// TestNewer: the words name both formats, both versions and the way back, and hold nothing that a
// terminal would act on, whatever a file claims.
func TestNewer(t *testing.T) {
	got := Newer("the ledger x", "4", "3", "0.2.0")
	for _, want := range []string{"the ledger x has the format 4, as Discreet 0.2.0 writes it.", "This is Discreet development",
		"reads the format 3", "docs/upgrade.md"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if got := Newer("it", "4", "3", ""); strings.Contains(got, "writes it") {
		t.Error(got)
	}
	hostile := "0.2\x1b[31m\x00é" + strings.Repeat("9", 1000)
	if got := Newer("it", hostile, "3", hostile); strings.ContainsAny(got, "\x1b\x00é") || len(got) > 700 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
