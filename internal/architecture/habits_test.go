package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func thereIs(t *testing.T, who, path string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join("../..", path)); err != nil {
		t.Errorf("%s names %s: %v", who, path, err)
	}
}

// TestHabitsMake: make help lists what people do, and what it calls in this tree is there.
func TestHabitsMake(t *testing.T) {
	text := readText(t, "Makefile")
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z]+):.*## .`).FindAllStringSubmatch(text, -1) {
		listed[m[1]] = true
	}
	for _, target := range strings.Fields("build test quick night lint docs page release") {
		if !listed[target] {
			t.Errorf("make help does not list %s", target)
		}
	}
	phony := regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindStringSubmatch(text)
	if phony == nil || len(strings.Fields(phony[1])) != len(listed) {
		t.Errorf("%d targets are listed, and .PHONY has %v", len(listed), phony)
	}
	for _, m := range regexp.MustCompile(`(?:^|\s)(\.ci/\w+|\./[\w/]+)`).FindAllStringSubmatch(text, -1) {
		thereIs(t, "Makefile", strings.TrimRight(m[1], "/"))
	}
	for _, m := range regexp.MustCompile("`make ([a-z]+)").FindAllStringSubmatch(readText(t, "CONTRIBUTING.md"), -1) {
		if !listed[m[1]] && m[1] != "help" {
			t.Errorf("CONTRIBUTING.md says make %s, which there is not", m[1])
		}
	}
}

// TestHabitsWorkflows: a hosted CI checks out the tree, runs scripts of it, and keeps a release.
func TestHabitsWorkflows(t *testing.T) {
	for name, script := range map[string]string{"ci": ".ci/run", "night": ".ci/night", "release": ".ci/release"} {
		file := ".github/workflows/" + name + ".yml"
		text := readText(t, file)
		steps := text[strings.Index(text, "steps:"):]
		for line := range strings.Lines(steps[len("steps:\n"):]) {
			line = strings.TrimSpace(line)
			m := regexp.MustCompile(`^- run: (\.ci/[\w-]+)(( [a-z]+)*| "\$\{GITHUB_REF_NAME#v\}"| \$\{\{ matrix\.step \}\})$`).FindStringSubmatch(line)
			switch {
			case m != nil:
				thereIs(t, file, m[1])
			case line == "- uses: actions/upload-artifact@v4", strings.HasPrefix(line, "with: {name: release, path: dist/,"):
			case line != "- uses: actions/checkout@v5":
				t.Errorf("%s has a step of its own: %s", file, line)
			}
		}
		if !strings.Contains(steps, "- run: "+script) {
			t.Errorf("%s does not run %s", file, script)
		}
	}
	list := regexp.MustCompile(`(?s)\nlist\(\) \{\n  cat <<TEXT\n(.*?)\nTEXT\n`).FindStringSubmatch(readText(t, ".ci/night"))
	if list == nil {
		t.Fatal(".ci/night has no list of its steps")
	}
	var steps []string
	for line := range strings.Lines(list[1]) {
		steps = append(steps, strings.Fields(line)[0])
	}
	if jobs := "step: [" + strings.Join(steps, ", ") + "]"; !strings.Contains(readText(t, ".github/workflows/night.yml"), jobs) {
		t.Errorf("the night's workflow has other jobs than .ci/night has steps: %s", jobs)
	}
}

// TestHabitsOwners: every path that has an owner is there.
func TestHabitsOwners(t *testing.T) {
	n := 0
	for line := range strings.Lines(readText(t, ".github/CODEOWNERS")) {
		if strings.HasPrefix(line, "/") {
			thereIs(t, "CODEOWNERS", strings.Fields(line)[0])
			n++
		}
	}
	if n < 5 {
		t.Errorf("CODEOWNERS names %d paths", n)
	}
}

// TestHabitsOnePage: who wants to help reads one page.
func TestHabitsOnePage(t *testing.T) {
	n := 0
	for line := range strings.Lines(readText(t, "CONTRIBUTING.md")) {
		if n++; utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 100 {
			t.Errorf("line %d of CONTRIBUTING.md is longer than 100 columns", n)
		}
	}
	if n > 60 {
		t.Errorf("CONTRIBUTING.md has %d lines", n)
	}
}
