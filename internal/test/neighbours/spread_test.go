package neighbours_test

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/verify"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	"github.com/discreet-dp/discreet/internal/test/reference"
)

// The counts that limits are chosen from, of made-up questions, are in one group with one row for
// each person, agree with the second check, and move no further than is claimed.
func TestSpread(t *testing.T) {
	tried := 0
	for _, ds := range generate.Worlds() {
		o := planner.Options{Public: reference.New(ds, generate.Make(generate.NewDice("language", 5), ds).Tables).Public()}
		makers := []*generate.Maker{generate.NewMaker(ds, o), generate.NewMaker(ds, o).Sharp()}
		var texts []string
		for i := range 300 {
			text := makers[i%2].Question(generate.NewDice(fmt.Sprint("spread ", i), 7))
			read := syntax.Open(text, nil).At(generate.Now)
			st, err := planner.PrepareText(ds, read, o)
			if err != nil || len(st.Plans) != 1 || !st.Plans[0].Query.Bounded() {
				continue
			}
			sp, err := planner.SpreadOf(ds, read, st, o)
			if err != nil {
				continue
			}
			about, err := generate.Prepare(ds, sp.SQL, o)
			if err != nil {
				continue // that is refused
			}
			q := &about.Plans[0].Query
			if len(about.Plans) != 1 || q.MaxRows() != 1 || q.MaxGroups() != 1 || q.Bounded() {
				t.Errorf("%s\n%s", text, sp.SQL)
			}
			if err := verify.Query(ds, q); err != nil {
				t.Errorf("%s\n%s\n%v", text, sp.SQL, err)
			}
			texts = append(texts, sp.SQL)
		}
		tried += len(texts)
		for i := 0; i+6 <= len(texts); i += 6 {
			r, err := neighbours.Replay(t.Context(), ds, neighbours.Options{Seed: uint64(i + 1), Pairs: 12, Texts: texts[i : i+6]})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				t.Errorf("%s\n%s", f.Subject, f.Detail)
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d questions have such counts", tried)
	}
}
