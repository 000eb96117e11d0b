package plan_test

import (
	"path/filepath"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
)

// TestQualifiedNames: every question of the test data means the same, byte for byte, with the
// database and the schema in front of every table, and of every column that has a table in front
// of it.
func TestQualifiedNames(t *testing.T) {
	ds := hospital(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	asked, changed := 0, 0
	for _, file := range files {
		for _, c := range readCases(t, file)[1:] {
			text, _, _ := strings.Cut(c, "----\n")
			plain := rewritten(text, func(*pg.Node) {})
			want := outcome(ds, plain)
			if plain == "" || strings.HasPrefix(want, "refused") {
				continue
			}
			asked++
			other := qualify(text)
			if other != plain {
				changed++
			}
			if got := outcome(ds, other); got != want {
				t.Errorf("%s\nis\n%s\nand not\n%s", other, got, want)
			}
		}
	}
	if asked < 200 || changed < asked*9/10 {
		t.Errorf("%d questions, and %d of them with names to change", asked, changed)
	}
}

// qualify puts the database and the schema before names.
func qualify(text string) string {
	with := map[string]bool{}
	rewritten(text, func(n *pg.Node) {
		if q := n.GetCommonTableExpr(); q != nil {
			with[q.Ctename] = true
		}
	})
	return rewritten(text, func(n *pg.Node) {
		if v := n.GetRangeVar(); v != nil && !with[v.Relname] {
			v.Catalogname, v.Schemaname, v.Inh = "hospital", "public", !v.Inh
		}
		if c := n.GetColumnRef(); len(c.GetFields()) == 2 {
			schema := &pg.Node{Node: &pg.Node_String_{String_: &pg.String{Sval: "public"}}}
			c.Fields = append([]*pg.Node{schema}, c.Fields...)
		}
	})
}

// rewritten is a text after a change of its tree, or nothing where it is no SELECT.
func rewritten(text string, change func(*pg.Node)) string {
	tree, err := pg.Parse(text)
	if err != nil || len(tree.Stmts) != 1 {
		return ""
	}
	syntax.EachNode(tree.Stmts[0].Stmt, func(n *pg.Node) bool { change(n); return true })
	out, err := pg.Deparse(tree)
	if err != nil {
		return ""
	}
	return out
}
