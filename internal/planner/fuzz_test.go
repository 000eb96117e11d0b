package planner_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// FuzzPrepare checks that every text becomes a plan that can be priced, or a refusal at a
// place inside the text. The corpus is all of testdata.
func FuzzPrepare(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		for _, c := range readCases(f, file)[1:] {
			text, _, _ := strings.Cut(c, "----\n")
			f.Add(strings.TrimSuffix(text, "\n"))
		}
	}
	ds := hospital(f)
	f.Fuzz(func(t *testing.T, text string) {
		opened := syntax.Open(text, nil)
		kinds, _, err := planner.Parameters(ds, opened)
		for _, k := range kinds {
			of := strings.TrimSuffix(k, "[]")
			if err != nil || !slices.Contains([]string{"integer", "decimal", "text", "boolean", "date", "timestamp"}, of) {
				t.Errorf("kind %q", k)
			}
		}
		st, err := planner.PrepareText(ds, opened, planner.Options{})
		if err != nil {
			checkRefusal(t, text, err)
			return
		}
		again, err := planner.PrepareText(ds, opened, planner.Options{}) // which the first has not changed
		if err != nil || len(again.Plans) != len(st.Plans) || len(st.Plans)+len(st.Tables) == 0 && !(st.Empty && len(st.Rows) > 0) {
			t.Fatalf("the same question twice: %v", err)
		}
		for i, p := range st.Plans {
			checkPlan(t, p)
			if p.Query.Hash() != again.Plans[i].Query.Hash() {
				t.Error("the same question twice has two hashes")
			}
		}
	})
}

func checkPlan(t *testing.T, p *tree.Plan) {
	q := &p.Query
	known := q.ListsKeys() && !slices.ContainsFunc(p.Columns, func(o tree.Output) bool { return p.IsNoisy(o.Expr) })
	if len(p.Columns) == 0 || len(q.Measures) == 0 && len(q.Keys) == 0 && !known || q.Groups() < 1 || q.MaxGroups() < 1 || q.MaxRows() < 1 {
		t.Errorf("an empty plan: %+v", p)
	}
	for _, m := range q.Measures {
		q.Sensitivity(m, dp.L1) // panics where it is not positive
		q.Sensitivity(m, dp.L2)
		m.Describe()
	}
	for _, s := range p.Stats {
		if !s.Kind.Exact() && q.Choice == nil && max(s.Measure, s.Count, s.Square) >= len(q.Measures) {
			t.Errorf("a value of no measure: %+v", s)
		}
	}
}

func checkRefusal(t *testing.T, text string, err error) {
	var r *api.Refusal
	switch {
	case !errors.As(err, &r):
		t.Errorf("not a refusal: %v", err)
	case r.Reason == "" || r.Instead == "":
		t.Errorf("a refusal that does not help: %+v", r)
	case !utf8.ValidString(r.Error()):
		t.Errorf("a refusal that is not text: %q", r.Error())
	case r.Position < -1 || r.Position > len(text):
		t.Errorf("position %d of %d bytes: %v", r.Position, len(text), r)
	case r.Position >= 0 && r.Position < len(text) && !utf8.RuneStart(text[r.Position]):
		t.Errorf("position %d is inside a character: %v", r.Position, r)
	}
}
