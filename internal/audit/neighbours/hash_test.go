package neighbours_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/audit/neighbours"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// TestHash: questions that differ in names alone have one hash, and questions with one hash have
// one result and one sensitivity. An answer that was paid for is given again by its hash.
func TestHash(t *testing.T) {
	ds := generate.Worlds()[1]
	db := generate.Make(generate.NewDice("hash", 4), ds)
	e := reference.New(ds, db.Tables)
	o := plan.Options{Public: e.Public()}
	m := generate.NewMaker(ds, o)
	type answer struct {
		text   string
		query  *tree.Query
		result *engine.Result
	}
	seen := map[string]answer{}
	again := 0
	n := 1500
	if testing.Short() {
		n = 500
	}
	for i := range n {
		text := m.Question(generate.NewDice("hash", uint64(i)))
		s, err := generate.Prepare(ds, text, o)
		if err != nil || s.Free() {
			continue
		}
		if !strings.Contains(text, "'"+generate.Mark) {
			other := strings.ReplaceAll(text, generate.Mark, "other")
			if r, err := generate.Prepare(ds, other, o); err != nil || r.Plans[0].Query.Hash() != s.Plans[0].Query.Hash() {
				t.Errorf("another hash under other names: %s\n%v", text, err)
			}
		}
		for _, p := range s.Plans {
			q := &p.Query
			if q.ListsKeys() {
				continue
			}
			r, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			old, ok := seen[q.Hash()]
			if !ok {
				seen[q.Hash()] = answer{text, q, r}
				continue
			}
			again++
			if ratio, err := neighbours.Judge(q, old.result, r); err != nil || ratio != 0 {
				t.Errorf("one hash and two results:\n%s\n%s", old.text, text)
			}
			for k, measure := range q.Measures {
				if measure.Kind != tree.Quantile && q.Sensitivity(measure,
					dp.L1).String() != old.query.Sensitivity(old.query.Measures[k], dp.L1).String() {
					t.Errorf("one hash and two sensitivities:\n%s\n%s", old.text, text)
				}
			}
		}
	}
	if again < n/300 {
		t.Errorf("only %d of %d questions were asked before", again, n)
	}
}
