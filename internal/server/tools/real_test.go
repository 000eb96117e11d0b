package tools

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTools runs the tools themselves against a server, where they are installed, and holds what
// they make of each step against testdata/steps. DISCREET_NEED_TOOLS has the names of those that
// have to be there, or all:
//
//	.ci/tools /opt/tools all
//	DISCREET_TOOLS=/opt/tools DISCREET_NEED_TOOLS=all go test ./internal/server/tools -run TestTools
func TestTools(t *testing.T) {
	needed := strings.Split(os.Getenv("DISCREET_NEED_TOOLS"), ",")
	for _, tool := range tools {
		if *only != "" && !strings.Contains(","+*only+",", ","+tool.name+",") {
			continue
		}
		t.Run(tool.name, func(t *testing.T) {
			if why := tool.missing(); why != "" {
				if slices.Contains(needed, tool.name) || slices.Contains(needed, "all") {
					t.Fatal(why)
				}
				t.Skip(why)
			}
			h := open(t)
			out := run(t, tool, place{"127.0.0.1", h.port, "ana", h.password, filepath.Join(t.TempDir(), "step")})
			got := steps(out)
			file := filepath.Join("testdata/steps", tool.name+".txt")
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := withoutVersions(got); got != withoutVersions(string(want)) {
				t.Errorf("%s did\n%s\nand not\n%s", tool.name, got, want)
			}
		})
	}
}

// steps are a sender's lines, each refusal with its reason alone.
func steps(out string) string {
	var b strings.Builder
	for l := range strings.SplitSeq(out, "\n") {
		l = strings.TrimSpace(l)
		if name, text, ok := strings.Cut(l, " | "); ok && strings.HasPrefix(l, "no ") {
			l = name + " | " + cmp.Or(reasonOf(text), "FAILED "+text)
		}
		if strings.HasPrefix(l, "ok ") || strings.HasPrefix(l, "no ") || strings.HasPrefix(l, "tool ") {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// withoutVersions leaves out which version a tool is: another one has to do the same.
func withoutVersions(text string) string {
	var kept []string
	for l := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(l, "tool ") {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}
