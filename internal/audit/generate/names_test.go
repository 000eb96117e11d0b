package generate_test

import (
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
)

// TestQualifiedQuestions: a question that is taken is the same question with the dataset and the
// schema before its tables, and one that is refused is refused still.
func TestQualifiedQuestions(t *testing.T) {
	for _, ds := range generate.Worlds() {
		o := plan.Options{Public: reference.New(ds, generate.Make(generate.NewDice("public", 1), ds).Tables).Public()}
		m := generate.NewMaker(ds, o)
		asked := 0
		for i := range 120 {
			text := m.Question(generate.NewDice("names", uint64(i)))
			plain, full := respelled(text, ""), respelled(text, ds.Name)
			if plain == "" || full == "" {
				continue
			}
			asked++
			before, err := generate.Prepare(ds, plain, o)
			after, other := generate.Prepare(ds, full, o)
			switch {
			case (err == nil) != (other == nil):
				t.Errorf("%s\n%v\n%s\n%v", plain, err, full, other)
			case err == nil && meaning(before) != meaning(after):
				t.Errorf("%s\nmeans another thing than\n%s", full, plain)
			}
		}
		if asked < 100 {
			t.Errorf("%s: %d questions", ds.Name, asked)
		}
	}
}

// meaning is what the private queries of a statement are known by.
func meaning(s *plan.Statement) string {
	var parts []string
	for _, p := range s.Plans {
		parts = append(parts, p.Query.Format())
	}
	return strings.Join(parts, "\n")
}

// respelled is a question with the dataset and the schema before every table that is none of WITH;
// nothing where the parser and its printer do not agree.
func respelled(text, dataset string) string {
	parsed, err := pg.Parse(text)
	if err != nil {
		return ""
	}
	with := map[string]bool{}
	for _, change := range []func(*pg.Node){
		func(n *pg.Node) { with[n.GetCommonTableExpr().GetCtename()] = true },
		func(n *pg.Node) {
			if v := n.GetRangeVar(); v != nil && dataset != "" && !with[v.Relname] {
				v.Catalogname, v.Schemaname = dataset, "public"
			}
		},
	} {
		syntax.EachNode(parsed.Stmts[0].Stmt, func(n *pg.Node) bool { change(n); return true })
	}
	out, err := pg.Deparse(parsed)
	if err != nil {
		return ""
	}
	if _, err := pg.Parse(out); err != nil {
		return ""
	}
	return out
}
