package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const module = "github.com/discreet-dp/discreet"

type listed struct {
	ImportPath string
	Imports    []string
	Doc        string
}

// everyPackage are the packages of the module, which several tests look at.
var everyPackage []listed

func packages(t *testing.T, pattern string) []listed {
	t.Helper()
	if pattern != "./..." {
		return list(t, pattern)
	}
	if everyPackage == nil {
		everyPackage = list(t, pattern)
	}
	return everyPackage
}

func list(t *testing.T, pattern string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Doc", pattern)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %s", exit.Stderr)
		}
		t.Fatal(err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// TestStrangersBringDatabases looks at a database that is brought along from outside: what it needs
// is public.
func TestStrangersBringDatabases(t *testing.T) {
	found := false
	for _, p := range packages(t, "./store/testdata/thirdparty") {
		for _, i := range p.Imports {
			found = found || i == module+"/store"
			if strings.Contains(i, "/internal") {
				t.Errorf("%s imports %s, which strangers cannot", p.ImportPath, i)
			}
		}
	}
	if !found {
		t.Error("no stranger was found")
	}
}

func TestEveryPackageHasAComment(t *testing.T) {
	for _, p := range packages(t, "./...") {
		name := p.ImportPath[strings.LastIndexByte(p.ImportPath, '/')+1:]
		if !strings.HasPrefix(p.Doc, "Package "+name+" ") && !strings.HasPrefix(p.Doc, "Command "+name+" ") {
			t.Errorf("the comment of %s does not begin with its name: %q", p.ImportPath, p.Doc)
		}
	}
}

// TestEveryPublicPackageHasAnExample looks for a function Example in the tests of
// every package that others can import.
func TestEveryPublicPackageHasAnExample(t *testing.T) {
	for _, p := range packages(t, "./...") {
		name := pathOf(p.ImportPath)
		if strings.Contains(name, "internal") || strings.HasPrefix(name, "cmd/") {
			continue
		}
		files, err := filepath.Glob(filepath.Join("../..", name, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "\nfunc Example") && strings.Contains(string(text), "// Output:")
		}
		if !found {
			t.Errorf("%s has no runnable Example", name)
		}
	}
}

// unsealing says which files open a sealed value or measure the distance of two, or take from a
// curator what is for its sessions. Whoever has a value can call its methods without importing
// anything, so it is the text that is read.
// The patterns miss who wants to be missed; they are for those who do not think of it.
func unsealing(name, text string) []string {
	var out []string
	opens := strings.HasPrefix(name, "dp/mech/") || strings.HasPrefix(name, "internal/engine/") ||
		strings.HasPrefix(name, "internal/sealed/") || strings.HasPrefix(name, "internal/lab/rehearse/") ||
		strings.HasPrefix(name, "internal/mechanism/stream/histogram/") || strings.HasPrefix(name, "internal/mechanism/holdout/labels/")
	if strings.Contains(text, ".Open()") && !opens {
		out = append(out, name+" opens a sealed value")
	}
	if strings.Contains(text, "sealed.NewCollector(") && !strings.HasPrefix(name, "internal/mechanism/learn/") {
		out = append(out, name+" takes exact rows, which are for a trainer alone")
	}
	measures := strings.HasPrefix(name, "internal/lab/lockstep/") || strings.HasPrefix(name, "internal/test/neighbours/") ||
		strings.HasPrefix(name, "internal/test/sessiontest/")
	if (strings.Contains(text, "sealed.Between") || strings.Contains(text, "sealed.Apart(") ||
		strings.Contains(text, "sealed.CountExchanged(") || strings.Contains(text, "sealed.CompareMembers(")) && !measures {
		out = append(out, name+" measures the distance of sealed values, which is private where the data is real")
	}
	hosts := strings.HasPrefix(name, "internal/curator/") || strings.HasPrefix(name, "internal/test/")
	if (strings.Contains(text, ".Access()") || strings.Contains(text, ".SetClock(")) && !hosts {
		out = append(out, name+" has of a curator what is for its sessions and tests: it runs and releases without a charge")
	}
	return out
}

func TestSealedStaysSealed(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		name, err := filepath.Rel("../..", path)
		for _, v := range unsealing(filepath.ToSlash(name), string(text)) {
			t.Error(v)
		}
		return err
	})
	if err != nil || files < 100 {
		t.Errorf("%d files were read: %v", files, err)
	}
	for _, planted := range [][2]string{
		{"internal/lab/lockstep/judge.go", "c.Values.Open()[0]"},
		{"internal/curator/answers/finish.go", "fmt.Println(x.Open())"},
		{"internal/session/training/train.go", "into := sealed.NewCollector(func(codes []int64) { fmt.Println(codes) })"},
		{"internal/mechanism/stream/session.go", "v := s.data.Answer(q).Open()[0]"},
		{"internal/mechanism/stream/predict/weights.go", "t.Open()"},
		{"internal/mechanism/holdout/session.go", "q.Holdout.Open()[0]"},
		{"internal/curator/curator.go", "m, ok := sealed.Between(a, b)"},
		{"internal/test/generate/database.go", "n := sealed.Apart(a, b)"},
		{"internal/curator/release.go", "n := sealed.CompareMembers(a, b)"},
		{"ask.go", "r, err := ds.curator.Access().Run(ctx, q)"},
		{"internal/sandbox/sandbox.go", "c.SetClock(func() time.Time { return time.Time{} })"},
	} {
		if len(unsealing(planted[0], planted[1])) != 1 {
			t.Errorf("not seen: %s in %s", planted[1], planted[0])
		}
	}
}

// TestPathsOfTheMap: what docs/engineer.md and CONTRIBUTING.md name in backquotes is there.
func TestPathsOfTheMap(t *testing.T) {
	quoted := regexp.MustCompile("`(?:\\./)?((?:internal|cmd|dp|policy|docs|api|ledger|store|\\.ci)/[\\w./-]+)`")
	for _, page := range []string{"docs/engineer.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		all := quoted.FindAllStringSubmatch(string(text), -1)
		for _, m := range all {
			if _, err := os.Stat(filepath.Join("../..", strings.TrimSuffix(m[1], "/..."))); err != nil {
				t.Errorf("%s names %s: %v", page, m[1], err)
			}
		}
		if len(all) < 3 {
			t.Errorf("%s names %d paths", page, len(all))
		}
	}
}
