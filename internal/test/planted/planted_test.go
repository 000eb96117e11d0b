package planted

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const root = "../../.."

// patch is a bug as its file says it.
type patch struct {
	path, number  string // the path from the root
	promise, test []string
	files         []string // that it changes
}

// readPatches returns the bugs of this folder, and the holes.
func readPatches(t *testing.T) (all []patch) {
	t.Helper()
	for _, folder := range []string{"internal/test/planted", "internal/test/neighbours/testdata/holes"} {
		paths, err := filepath.Glob(filepath.Join(root, folder, "*.patch"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no patches in %s: %v", folder, err)
		}
		for _, path := range paths {
			all = append(all, readPatch(t, filepath.Join(folder, filepath.Base(path))))
		}
	}
	return all
}

func readPatch(t *testing.T, path string) patch {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	p := patch{path: path}
	p.number, _, _ = strings.Cut(filepath.Base(path), "-")
	p.number = filepath.Base(filepath.Dir(path)) + " " + strings.TrimLeft(p.number, "0")
	inHead := true
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if at, ok := strings.CutPrefix(line, "+++ b/"); ok {
			p.files = append(p.files, at)
		}
		inHead = inHead && !strings.HasPrefix(line, "diff --git ")
		if promise, ok := strings.CutPrefix(line, "Promise: "); ok && inHead {
			p.promise = append(p.promise, promise)
		}
		if test, ok := strings.CutPrefix(line, "Test: "); ok && inHead {
			p.test = append(p.test, test)
		}
	}
	return p
}

// TestHeads: every patch says one promise and one command, whose tests there are.
func TestHeads(t *testing.T) {
	command := regexp.MustCompile(`^\./(\S+) -run '(Test\w+\$(?:\|Test\w+\$)*)'$`)
	numbers := map[string]string{}
	for _, p := range readPatches(t) {
		if other, twice := numbers[p.number]; twice {
			t.Errorf("%s and %s have one number", p.path, other)
		}
		numbers[p.number] = p.path
		if len(p.promise) != 1 || len(p.test) != 1 {
			t.Errorf("%s: its head needs one line of 'Promise: ...' and one of 'Test: ./package -run ...'", p.path)
			continue
		}
		for _, f := range p.files {
			if strings.HasSuffix(f, "_test.go") {
				t.Errorf("%s changes the test %s: a bug is in what is tested", p.path, f)
			}
		}
		m := command.FindStringSubmatch(p.test[0])
		if m == nil {
			t.Errorf("%s: write its test as ./internal/package -run 'TestOne$|TestOther$', and not %s", p.path, p.test[0])
			continue
		}
		there := testsOf(t, m[1])
		for name := range strings.SplitSeq(m[2], "|") {
			if !there[strings.TrimSuffix(name, "$")] {
				t.Errorf("%s: there is no %s in %s", p.path, name, m[1])
			}
		}
	}
}

// testsOf returns the tests of a package.
func testsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	all := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = true
		}
	}
	return all
}

// TestApply: every patch can be applied to the tree as it is.
func TestApply(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git on this machine, which is what applies a patch")
	}
	for _, p := range readPatches(t) {
		check := exec.Command(git, "apply", "--check", p.path)
		check.Dir = root
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s does not apply any more: write it anew, for the code as it is now\n%s", p.path, out)
		}
	}
}

// TestCounted: docs/researcher.md says how many bugs there are.
func TestCounted(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/researcher.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("`\\.ci/planted` plants (\\d+) bugs").FindStringSubmatch(string(text))
	if all := readPatches(t); m == nil || m[1] != strconv.Itoa(len(all)) {
		t.Errorf("docs/researcher.md says %q, and there are %d bugs", m, len(all))
	}
}
