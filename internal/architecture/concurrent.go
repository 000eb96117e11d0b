package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ConcurrentTests returns the tests of a folder that do several things at once, which are those
// that the race detector has something to see in: they begin a goroutine themselves, or call a
// function of the tests that begins several. One that a helper begins alone is mostly the server
// that the test asks, and whoever serves many is tested by many who ask.
func ConcurrentTests(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	functions := map[string]*testFunction{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				// Methods of one name count as one: too many tests are better than too few.
				if functions[f.Name.Name] == nil {
					functions[f.Name.Name] = &testFunction{calls: map[string]bool{}}
				}
				functions[f.Name.Name].read(f.Body)
			}
		}
	}
	var out []string
	for name, f := range functions {
		if strings.HasPrefix(name, "Test") && name != "TestMain" && (f.one || beginsMany(functions, name, map[string]bool{})) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// testFunction is what a function of a test does: whether it begins goroutines, and what it calls.
type testFunction struct {
	one, many bool
	calls     map[string]bool
}

func (f *testFunction) read(body ast.Node) {
	var within []ast.Node
	loops := func() bool {
		return slices.ContainsFunc(within, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				return true
			}
			return false
		})
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			within = within[:len(within)-1]
			return true
		}
		switch n := n.(type) {
		case *ast.GoStmt:
			f.one, f.many = true, f.many || loops()
		case *ast.CallExpr:
			switch called := n.Fun.(type) {
			case *ast.Ident:
				f.calls[called.Name] = true
			case *ast.SelectorExpr:
				f.calls[called.Sel.Name] = true
				if called.Sel.Name == "Go" { // of a WaitGroup, to wait for several
					f.one, f.many = true, true
				}
			}
		}
		within = append(within, n)
		return true
	})
}

func beginsMany(functions map[string]*testFunction, name string, seen map[string]bool) bool {
	f := functions[name]
	if f == nil || seen[name] {
		return false
	}
	seen[name] = true
	if f.many {
		return true
	}
	for called := range f.calls {
		if beginsMany(functions, called, seen) {
			return true
		}
	}
	return false
}
