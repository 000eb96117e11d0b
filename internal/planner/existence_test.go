package planner_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/test/golden"
)

const existenceData = "testdata/existence/questions.txt"

func TestExistence(t *testing.T) {
	ds := hospital(t)
	ds.Existence = 20
	golden.Run(t, existenceData, func(question string) string {
		out := outcome(ds, question)
		if st, err := planner.Prepare(ds, question, planner.Options{Public: tables{}}); err == nil {
			for _, note := range st.Unlisted() {
				out += "note: " + note + "\n"
			}
		}
		return out
	})
}

// TestExistenceIsACount: it is the same purchase as that of the count, so either is free after the
// other. Without the owner's word it is refused, as rows are.
func TestExistenceIsACount(t *testing.T) {
	ds := hospital(t)
	for _, asked := range []string{
		"SELECT 1 AS one FROM %s LIMIT 1", "SELECT 'x' FROM %s FETCH FIRST ROW ONLY", "SELECT EXISTS (SELECT * FROM %s)",
		"SELECT NOT EXISTS (SELECT 1 FROM %s LIMIT 1)", "SELECT 1 WHERE EXISTS (SELECT NULL FROM %s)",
	} {
		for _, rows := range []string{"patients", "patients WHERE age > 50", "visits WHERE ward = 'a' AND cost > 5",
			"patients p JOIN visits v ON v.pid = p.pid WHERE p.age > 50"} {
			question := strings.Replace(asked, "%s", rows, 1)
			ds.Existence = 0
			if _, err := planner.Prepare(ds, question, planner.Options{Public: tables{}}); syntax.KindOf(err) != syntax.Private {
				t.Errorf("%s: %v", question, err)
			}
			ds.Existence = 20
			count, err := planner.Prepare(ds, "SELECT COUNT(*) FROM "+rows, planner.Options{Public: tables{}})
			if err != nil {
				t.Fatal(err)
			}
			st, err := planner.Prepare(ds, question, planner.Options{Public: tables{}})
			if err != nil {
				t.Errorf("%s: %v", question, err)
				continue
			}
			if len(st.Plans) != 1 || st.Plans[0].Query.Hash() != count.Plans[0].Query.Hash() {
				t.Errorf("%s is another purchase than its count", question)
			}
		}
	}
}
