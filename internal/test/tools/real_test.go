package tools

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTools runs the tools themselves against a server, and holds what they make of each step
// against testdata/steps. DISCREET_NEED_TOOLS has the names of those that have to be there, or all;
// what else is installed is not run, since another version of it can send something else:
//
//	.ci/tools /opt/tools all
//	DISCREET_TOOLS=/opt/tools DISCREET_NEED_TOOLS=all go test ./internal/test/tools -run TestTools -timeout 1h
func TestTools(t *testing.T) {
	needed := strings.Split(cmp.Or(*only, os.Getenv("DISCREET_NEED_TOOLS")), ",")
	for _, tool := range tools {
		t.Run(tool.name, func(t *testing.T) {
			if !slices.Contains(needed, tool.name) && !slices.Contains(needed, "all") {
				t.Skip("it is not in DISCREET_NEED_TOOLS")
			}
			t.Parallel()
			if why := tool.missing(); why != "" {
				t.Fatal(why)
			}
			h := open(t, 4096) // which all of them take
			out := run(t, tool, target{"127.0.0.1", h.port, "ana", h.password, filepath.Join(t.TempDir(), "step")})
			got := steps(out)
			file := filepath.Join("testdata/steps", tool.name+".txt")
			if *rewrite {
				must(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			must(t, err)
			hold(t, got, string(want))
		})
	}
}

func hold(t *testing.T, got, want string) {
	t.Helper()
	is, should := withoutVersions(got), withoutVersions(want)
	if len(is) != len(should) {
		t.Errorf("it did\n%s\nand not\n%s", got, want)
		return
	}
	for i := range is {
		if is[i] != should[i] {
			t.Errorf("is %s, and was %s", is[i], should[i])
		}
	}
}

// steps are a sender's lines, each refusal with its reason alone.
func steps(out string) string {
	var b strings.Builder
	for l := range strings.SplitSeq(out, "\n") {
		l = strings.TrimSpace(l)
		if name, text, ok := strings.Cut(l, " | "); ok && strings.HasPrefix(l, "no ") {
			l = name + " | " + cmp.Or(reasonOf(text), missingIn(text), fmt.Sprintf("FAILED %.160s", text))
		}
		if strings.HasPrefix(l, "ok ") || strings.HasPrefix(l, "no ") || strings.HasPrefix(l, "tool ") {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// missingIn is absent for what PostgreSQL refuses too: a table that is not there, and what Ibis
// sends to drop a view that has no name.
func missingIn(text string) string {
	if strings.Contains(text, `there is no table "nothing"`) || strings.Contains(text, "DROP VIEW IF EXISTS ^") {
		return "absent"
	}
	return ""
}

// withoutVersions leaves out which version a tool is: another one has to do the same.
func withoutVersions(text string) []string {
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(text), "\n"), func(l string) bool { return strings.HasPrefix(l, "tool ") })
}
