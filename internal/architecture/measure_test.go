package architecture

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostPublic is how many packages others can import: the front, the contracts, the mechanisms and
// docs. One more is a promise to strangers, and a decision.
const mostPublic = 11

// faults returns where a package is not as it should be.
func faults(p *Package) map[string][]Place {
	out := map[string][]Place{}
	for kind, places := range map[string][]Place{
		"code": p.WideCode, "comments": p.WideComments, "functions": p.Long, "inits": p.Inits,
	} {
		if len(places) > 0 {
			out[kind] = places
		}
	}
	for name, r := range p.Receivers {
		if r.Methods > ReceiverMethods {
			out["receivers"] = append(out["receivers"], Place{File: r.Files[0], What: "methods of " + name, Size: r.Methods})
		}
	}
	return out
}

func TestMeasures(t *testing.T) {
	all, err := Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	if listed := packages(t, "./..."); len(all) != len(listed) {
		t.Errorf("%d packages were read, and there are %d", len(all), len(listed))
	}
	for _, p := range all {
		for _, places := range faults(p) {
			for _, at := range places {
				t.Errorf("%v is too much", at)
			}
		}
	}
	for name, paths := range Shared(all) {
		t.Errorf("%s is the name of %v", name, paths)
	}
	if n := public(all); n > mostPublic {
		t.Errorf("others can import %d packages; %d was decided", n, mostPublic)
	}
}

func public(all []*Package) int {
	n := 0
	for _, p := range all {
		if p.Public {
			n++
		}
	}
	return n
}

// TestFaultsAreSeen plants one of each kind, and what only looks like one.
func TestFaultsAreSeen(t *testing.T) {
	long := strings.Repeat("word ", 30)
	body := strings.Repeat("\tx++\n", FunctionLines)
	for name, c := range map[string]struct{ text, want string }{
		"code":             {"var x = 1 + " + strings.Repeat("1 + ", 40) + "1", "code"},
		"comment at end":   {"var x = 1 // " + long, "code"},
		"comment":          {"// " + long, "comments"},
		"function":         {"func f() {\n\tx := 0\n" + body + "}", "functions"},
		"init":             {"func init() {}", "inits"},
		"methods":          {"type t int\n" + methods(ReceiverMethods+1), "receivers"},
		"enough methods":   {"type t int\n" + methods(ReceiverMethods), ""},
		"method init":      {"type t struct{}\n\nfunc (t) init() {}", ""},
		"directive":        {"//go:generate " + long, ""},
		"command":          {"// Run\n//\n//\t" + long + "\nvar x int", ""},
		"address":          {"// https://example.org/" + strings.Repeat("a", 100), ""},
		"raw string":       {"var x = `\n" + long + long + "`", ""},
		"tag":              {"type t struct {\n\tX int `doc:\"" + long + "\"`\n}", ""},
		"short enough":     {"func f() {\n" + strings.Repeat("\tf()\n", FunctionLines-2) + "}", ""},
		"an example's":     {"func f() {\n\t// Output:\n\t// " + long + "\n}", ""},
		"inside of a list": {"// - " + long, "comments"},
	} {
		p := one(t, map[string]string{"p/p.go": "package p\n\n" + c.text + "\n"})[0]
		if got := strings.Join(slices.Collect(maps.Keys(faults(p))), " "); got != c.want {
			t.Errorf("%s: found %q, not %q", name, got, c.want)
		}
	}
	// A test may be longer, and may have an init.
	text := "package p\n\nfunc init() {}\n\nfunc f() {\n\tx := 0\n" + body + "}\n"
	if p := one(t, map[string]string{"p/p_test.go": text})[0]; len(faults(p)) != 0 {
		t.Errorf("found %v", faults(p))
	}
	all := one(t, map[string]string{
		"a/x/x.go": "package x\n\ntype T struct{ A, B, C int }", "internal/x/x.go": "package x\n\ntype t struct{ b, a int }",
		"cmd/x/main.go": "package main\n\ntype T struct{ A, D int }", "y/z/go.mod": "module z", "y/z/z.go": "package x",
	})
	if len(all) != 3 || public(all) != 1 {
		t.Errorf("%d packages, %d public", len(all), public(all))
	}
	if got := Shared(all)["x"]; len(got) != 2 {
		t.Errorf("packages of one name: %v", got)
	}
	if got := Mirrored(all)["T"]; !slices.Equal(got, []string{"a/x", "internal/x"}) {
		t.Errorf("mirrored: %v", got)
	}
}

// methods writes that many methods of a type t.
func methods(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\nfunc (t) m%d() {}\n", i)
	}
	return b.String()
}

// one reads a tree of these files.
func one(t *testing.T, files map[string]string) []*Package {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
