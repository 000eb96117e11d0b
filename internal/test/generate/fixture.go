package generate

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Argument returns the expression that a text means over the table t, in its normal form.
func Argument(ds *policy.Dataset, text string) (tree.Expr, bool) {
	// What is never NULL is counted as rows, and its different values are not.
	for _, how := range []string{"COUNT(", "COUNT(DISTINCT "} {
		if p, err := Plan(ds, "SELECT "+how+text+") FROM t"); err == nil && len(p.Query.Measures) > 0 && p.Query.Measures[0].Arg != nil {
			return p.Query.Measures[0].Arg, true
		}
	}
	return nil, false
}

// LeafOf returns what the columns of a row are, as declared.
func LeafOf(r Row) func(tree.Expr) tree.Value {
	return func(e tree.Expr) tree.Value {
		c := e.(*tree.Column)
		return Declared(c.Field.Source, r[c.Field.Name])
	}
}

// Dataset reads a policy with one dataset, whose files are in a folder. What is given are the
// dataset's keys, in two parts, without those of who may ask.
func Dataset(t testing.TB, folder, head, keys string) *policy.Dataset {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(head)+"\nanalysts: {a: {}}\n"+strings.Trim(keys, "\n"), "\n")
	text := "datasets:\n  d:\n    " + strings.Join(lines, "\n    ") + "\n"
	p, err := policy.Parse(filepath.Join(folder, "policy.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets["d"]
}
