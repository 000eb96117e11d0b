package planner_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// passes are the files of the planner from what stands on nothing to what stands on everything.
// What is between two of them is one pass, of which the parts may call each other, as a condition
// has a subquery and a subquery has conditions.
var passes = [][]string{
	{"doc.go"},
	{"clauses.go"},
	{"examplekey.go"},
	{"bounded.go"},
	{"calculator.go"},
	{"never.go"},
	{"names.go"},
	{"expression.go", "operator.go", "time.go"},
	{"rows.go", "from.go", "join.go", "union.go", "subquery.go", "condition.go", "persons.go", "window.go"},
	{"level.go"},
	{"key.go", "domain.go", "fielddomain.go", "publickeys.go"},
	{"contribution.go"},
	{"aggregate.go", "kept.go", "measure.go", "summed.go"},
	{"placement.go"},
	{"answer.go"},
	{"assemble.go"},
	{"engine.go"},
	{"work.go", "worksize.go"},
	{"question.go", "answerwindow.go"},
	{"cube.go"},
	{"holdout.go"},
	{"statement.go", "existence.go"},
	{"unlisted.go"},
	{"spread.go"},
	{"table.go"},
	{"parameters.go"},
}

// passOf is the place of a file among them, or -1.
func passOf(file string) int {
	return slices.IndexFunc(passes, func(p []string) bool { return slices.Contains(p, file) })
}

// TestReferencesRunDownwards holds the files to that order: each names functions, types and methods
// of its own pass and of those before.
func TestReferencesRunDownwards(t *testing.T) {
	files := sourceFiles(t)
	declared := map[string]int{}   // the pass of what the package declares
	methods := map[string]int{}    // of a method, where one type alone has it
	ambiguous := map[string]bool{} // methods that several types have, or that are called like a field
	for name, f := range files {
		if passOf(name) < 0 {
			t.Errorf("%s is in no pass", name)
		}
		for object := range f.Scope.Objects {
			declared[object] = passOf(name)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					_, several := methods[n.Name.Name]
					ambiguous[n.Name.Name] = ambiguous[n.Name.Name] || several
					methods[n.Name.Name] = passOf(name)
				}
			case *ast.Field:
				for _, id := range n.Names {
					ambiguous[id.Name] = true
				}
			}
			return true
		})
	}
	for name, f := range files {
		for _, id := range f.Unresolved { // in this file
			if declared[id.Name] > passOf(name) {
				t.Errorf("%s names %s of %s", name, id.Name, passes[declared[id.Name]])
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if ok && !ast.IsExported(s.Sel.Name) && !ambiguous[s.Sel.Name] && methods[s.Sel.Name] > passOf(name) {
				t.Errorf("%s calls %s of %s", name, s.Sel.Name, passes[methods[s.Sel.Name]])
			}
			return true
		})
	}
}

func sourceFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if files[name], err = parser.ParseFile(token.NewFileSet(), name, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	return files
}
