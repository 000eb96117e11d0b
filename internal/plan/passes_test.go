package plan_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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
	{"calculator.go"},
	{"names.go"},
	{"expression.go", "operator.go", "time.go"},
	{"rows.go", "from.go", "join.go", "union.go", "subquery.go", "condition.go", "persons.go", "window.go"},
	{"level.go"},
	{"key.go", "domain.go", "fielddomain.go", "publickeys.go"},
	{"contribution.go"},
	{"aggregate.go", "measure.go"},
	{"placement.go"},
	{"answer.go"},
	{"assemble.go"},
	{"engine.go"},
	{"work.go", "worksize.go"},
	{"question.go", "answerwindow.go"},
	{"cube.go"},
	{"holdout.go"},
	{"statement.go"},
	{"table.go"},
	{"parameters.go"},
}

// TestReferencesRunDownwards holds the files to that order.
func TestReferencesRunDownwards(t *testing.T) {
	files := parsePasses(t)
	at := map[string]int{}      // the pass of a name of the package
	methods := map[string]int{} // of a method, where one type alone has it
	fields := map[string]bool{} // names of fields, which may be the same
	for name, f := range files {
		pass := slices.IndexFunc(passes, func(p []string) bool { return slices.Contains(p, name) })
		if pass < 0 {
			t.Errorf("%s is in no pass", name)
		}
		for name := range f.Scope.Objects {
			at[name] = pass
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					if _, several := methods[n.Name.Name]; several {
						fields[n.Name.Name] = true
					}
					methods[n.Name.Name] = pass
				}
			case *ast.Field:
				for _, id := range n.Names {
					fields[id.Name] = true
				}
			}
			return true
		})
	}
	for name, f := range files {
		pass := slices.IndexFunc(passes, func(p []string) bool { return slices.Contains(p, name) })
		for _, id := range f.Unresolved {
			if to, ok := at[id.Name]; ok && to > pass {
				t.Errorf("%s names %s of %s", name, id.Name, passes[to])
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if to, ok := methods[s.Sel.Name]; ok && !fields[s.Sel.Name] && ast.IsExported(s.Sel.Name) == false && to > pass {
				t.Errorf("%s calls %s of %s", name, s.Sel.Name, passes[to])
			}
			return true
		})
	}
}

func parsePasses(t *testing.T) map[string]*ast.File {
	t.Helper()
	source := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	pkgs, err := parser.ParseDir(token.NewFileSet(), ".", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	return pkgs["plan"].Files
}
