package neighbours_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/attack"
	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/audit/neighbours"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// TestStores: the same data in another store has the same exact numbers, and the same groups and
// rows of people are kept, question by question, with the signs, infinities, dates and texts that
// databases disagree about.
func TestStores(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	stores := slices.DeleteFunc(attack.Stores(), func(s attack.Store) bool { return s.Computes }) // as TestTrino is for
	for w, ds := range generate.Worlds() {
		d := generate.NewDice(fmt.Sprint("stores ", w, " 0"), 1)
		db := attack.Everywhere(generate.Make(d, ds))
		o := plan.Options{Public: reference.New(ds, db.Tables).Public()}
		maker := generate.NewMaker(ds, o)
		var texts []string
		for range 40 {
			texts = append(texts, maker.Question(d))
		}
		if w == 0 { // the clinic
			for _, a := range generate.Attacks() {
				texts = append(texts, a.Text)
			}
		}
		var all []engine.Engine
		for _, s := range stores {
			all = append(all, s.Open(t, db))
		}
		questions := 0
		for _, text := range texts {
			st, err := generate.Prepare(ds, text, o)
			if err != nil {
				continue
			}
			for _, p := range st.Plans {
				if !p.Query.ListsKeys() {
					questions++
					sameResults(t, ds.Name+": "+text, stores, all, &p.Query)
				}
			}
		}
		if questions < 20 || w == 0 && questions < 80 {
			t.Errorf("%s: only %d questions were compared", ds.Name, questions)
		}
	}
}

// sameResults runs a query in all stores.
func sameResults(t *testing.T, what string, stores []attack.Store, all []engine.Engine, q *tree.Query) {
	t.Helper()
	x, err := all[0].Run(t.Context(), q)
	for i, e := range all[1:] {
		name := stores[1+i].Name
		y, other := e.Run(t.Context(), q)
		if (err == nil) != (other == nil) {
			t.Errorf("%s: %v, and in %s %v", what, err, name, other)
			continue
		}
		if err != nil {
			continue
		}
		if far, err := neighbours.Judge(q, x, y); far != 0 || err != nil {
			t.Errorf("%s: other numbers in %s: %v, %v", what, name, far, err)
		}
	}
}
