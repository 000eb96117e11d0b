package verify_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
)

const treePath = "github.com/discreet-dp/discreet/internal/planner/tree"

// claims are the functions of package tree that are called here: what a tree says of itself, which
// is compared with what follows. Everything else that is used of it is types, fields and constants.
// A function that derives or decides does not belong into this list: then the second opinion would
// be the first one again.
var claims = []string{
	"Type", "IsNullLiteral", // of an expression
	"Fields", "Unit", "Single", "Limit", // of a relation
	"MaxRows", "MaxGroups", "Bounded", "Groups", "Interval", "Sensitivity", "Decider", // of a query, to be compared
	"Twins", "TwinSensitivity",
	"Most",   // rows of public tables, which are counted
	"Bounds", // of a column to train on
}

// TestSharesNothing reads every use of package tree in this package.
func TestSharesNothing(t *testing.T) {
	used, uses := 0, map[string]bool{}
	for id, object := range usesOf(t, ".") {
		if object.Pkg() == nil || object.Pkg().Path() != treePath {
			continue
		}
		used++
		if f, ok := object.(*types.Func); ok {
			uses[f.Name()] = true
			if !slices.Contains(claims, f.Name()) {
				t.Errorf("%s uses tree's %s, which is no claim of a tree", id, f.FullName())
			}
		}
	}
	for _, c := range claims {
		if !uses[c] {
			t.Errorf("%s is in the list and not used", c)
		}
	}
	if used < 100 {
		t.Errorf("only %d uses of package tree were seen", used)
	}
}

// TestUsesAreSeen plants a use of a function that decides.
func TestUsesAreSeen(t *testing.T) {
	folder := t.TempDir()
	text := "package verify\n\nimport \"" + treePath + "\"\n\nfunc planted(e tree.Expr) string { return tree.Format(e) + fmt(e.Type()) " +
		"}\n\nfunc fmt(t tree.Type) string {\n\tif t.Wide() {\n\t\treturn \"wide\"\n\t}\n\treturn \"\"\n}\n"
	if err := os.WriteFile(filepath.Join(folder, "planted.go"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, object := range usesOf(t, folder) {
		if f, ok := object.(*types.Func); ok && f.Pkg().Path() == treePath && !slices.Contains(claims, f.Name()) {
			seen = append(seen, f.Name())
		}
	}
	slices.Sort(seen)
	if !slices.Equal(seen, []string{"Format", "Wide"}) {
		t.Errorf("seen: %v", seen)
	}
}

// usesOf returns what the names in the Go files of a folder mean, without tests, by their places.
func usesOf(t *testing.T, folder string) map[string]types.Object {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", ".").Output()
	if err != nil {
		t.Fatal("go list: ", err)
	}
	exports := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
	}
	set := token.NewFileSet()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var parsed []*ast.File
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	look := func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, errors.New("no export data of " + path)
		}
		return os.Open(exports[path])
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(set, "gc", look)}
	if _, err := config.Check("verify", set, parsed, info); err != nil {
		t.Fatal(err)
	}
	uses := map[string]types.Object{}
	for id, object := range info.Uses {
		uses[set.Position(id.Pos()).String()] = object
	}
	return uses
}

// TestMain lets garbage lie longer: plans of thousands of questions are made and dropped, and a
// fifth of the time went into looking for what is still used.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// BenchmarkQuery is what the second check takes, beside what planning takes.
func BenchmarkQuery(b *testing.B) {
	hospital, shop := load(b, "hospital.yaml", "hospital"), parsed(b, shopPolicy)
	for _, c := range []struct{ name, text string }{
		{"count", "SELECT COUNT(*) FROM patients"},
		{"where",
			"SELECT sex, COUNT(*), SUM(cost), AVG(age) FROM patients WHERE age BETWEEN 20 AND 60 AND smoker AND cost / age > 3 " +
				"GROUP BY sex"},
		{"ages", "SELECT age, sex, COUNT(*) FROM patients GROUP BY age, sex"},
		{"functions", "SELECT SUM(round(ln(age + 1) * 10, 1)), SUM(width_bucket(cost, 0, 1000, 10)), SUM(length(CAST(cost AS text))) " +
			"FROM patients WHERE lower(left(sex, 1)) LIKE 'f%'"},
		{"join", shopQuestions[4]},
		{"persons", shopQuestions[13]},
		{"union", shopQuestions[14]},
		{"exists", shopQuestions[22]},
	} {
		ds := hospital
		st, err := planner.Prepare(ds, c.text, planner.Options{Public: columns{}})
		if err != nil {
			ds = shop
			if st, err = planner.Prepare(ds, c.text, planner.Options{Public: columns{}}); err != nil {
				b.Fatal(c.text, err)
			}
		}
		b.Run("verify/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := checked(ds, columns{}, &st.Plans[0].Query); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("prepare/"+c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := planner.Prepare(ds, c.text, planner.Options{Public: columns{}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
