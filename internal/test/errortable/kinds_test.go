package errortable

import (
	"go/ast"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
)

// refusing are the folders whose refusals end statements: what they refuse has a kind.
var refusing = []string{"../../planner", "../../curator", "../../engine/postquery",
	"../../session/streamsession/session.go"}

// ownerOnly are files of them that refuse what owners do, and no statement.
var ownerOnly = map[string]bool{"../../curator/budgets/renew.go": true, "../../curator/budgets/account.go": true}

// TestRefusalsHaveKinds: everything that is refused about a question says what kind of thing is
// wrong, by a constant of package syntax, where it is refused. Each kind is one that something has.
func TestRefusalsHaveKinds(t *testing.T) {
	used := map[string]bool{}
	calls := 0
	for _, file := range sources(t) {
		own := strings.Contains(file, "/planner/syntax/")
		inspectFile(t, file, func(n ast.Node) {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if name := spelled(n.Type); name == "api.Refusal" && !hasField(n, "Code") {
					t.Errorf("%s makes a refusal without a kind: use syntax.Refuse", file)
				}
			case *ast.SelectorExpr:
				if spelled(n.X) == "syntax" {
					used[n.Sel.Name] = true
				}
			case *ast.Ident:
				if own && !strings.HasSuffix(file, "/refusal.go") {
					used[n.Name] = true
				}
			case *ast.CallExpr:
				switch name := spelled(n.Fun); {
				case name == "syntax.Refuse" || own && name == "Refuse":
					calls++
					if _, text := n.Args[0].(*ast.BasicLit); text {
						t.Errorf("%s refuses with a code of its own: make it a kind of package syntax", file)
					}
				case name == "api.Refuse":
					t.Errorf("%s refuses without a kind: use syntax.Refuse", file)
				}
			}
		})
	}
	if calls < 400 {
		t.Errorf("only %d refusals were found", calls)
	}
	if code := syntax.KindOf(meter.Refusal()); code != syntax.TooComplex {
		t.Errorf("too much work is %s", code)
	}
	kinds := 0
	inspectFile(t, "../../planner/syntax/refusal.go", func(n ast.Node) {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spelled(spec.Type) != "Kind" {
			return
		}
		for _, name := range spec.Names {
			if kinds++; !used[name.Name] {
				t.Errorf("nothing is refused as %s", name.Name)
			}
		}
	})
	if kinds != len(refusals) {
		t.Errorf("%d kinds have %d codes: two have the same", kinds, len(refusals))
	}
}

// sources are the files of the folders that refuse, but for tests.
func sources(t *testing.T) (files []string) {
	t.Helper()
	for _, folder := range refusing {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !ownerOnly[path] {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// spelled is a name as it is written, with the package before it.
func spelled(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return spelled(e.X) + "." + e.Sel.Name
	}
	return ""
}

func hasField(n *ast.CompositeLit, name string) bool {
	for _, e := range n.Elts {
		if field, ok := e.(*ast.KeyValueExpr); ok && spelled(field.Key) == name {
			return true
		}
	}
	return false
}
