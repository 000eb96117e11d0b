package plan_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// missed is a value that a key has in some row, and not among its public values; NULL is left out,
// which mostly is no group.
func missed(t *testing.T, e *reference.Engine, q *tree.Query) string {
	t.Helper()
	found := *q
	found.Keys, found.Choice, found.Measures = slices.Clone(q.Keys), nil, []tree.Measure{{Kind: tree.CountRows}}
	found.RowLimit, found.GroupLimit = tree.MostRows, tree.MostRows
	for i := range found.Keys {
		found.Keys[i].Values, found.Keys[i].Private = nil, true
	}
	r, err := e.Run(context.Background(), &found)
	if err != nil {
		t.Fatal(err)
	}
	places := make([]int, r.Persons.Len())
	for i := range places {
		places[i] = i
	}
	for _, combination := range r.Combos.Pick(places) {
		for i, v := range combination {
			if !v.Null && !q.Keys[i].Private && !slices.ContainsFunc(q.Keys[i].Values, func(w policy.Value) bool {
				return !w.Null && w.Text == v.Text && w.Int == v.Int
			}) {
				return fmt.Sprintf("%q of %s", v.String(), q.Keys[i].Describe())
			}
		}
	}
	return ""
}

// listed reports whether the owner lists values of a column of a key, of which data may have more.
func listed(q *tree.Query) (found bool) {
	for _, k := range q.Keys {
		tree.Walk(k.Expr, func(x tree.Expr) {
			c, ok := x.(*tree.Column)
			found = found || ok && c.Field.Source != nil && c.Field.Source.Keys == policy.PublicKeys
		})
	}
	return found
}

// byPublic are questions with keys that come from public tables.
var byPublic = []string{
	"SELECT p.zip, COUNT(*) FROM patients p JOIN codes c ON c.label = p.zip GROUP BY p.zip",
	"SELECT p.zip, COUNT(*) FROM patients p JOIN codes c ON c.label = p.zip WHERE c.chapter = 1 GROUP BY p.zip",
	"SELECT c.label, COUNT(*) FROM patients p JOIN codes c ON c.code = p.code WHERE c.chapter < 2 GROUP BY c.label",
	"SELECT c.label, COUNT(*) FROM patients p LEFT JOIN codes c ON c.code = p.code AND c.chapter < 2 GROUP BY c.label",
	"SELECT c.label, COUNT(*) FROM patients p LEFT JOIN codes c ON c.code = p.code " +
		"WHERE c.chapter < 2 OR c.chapter IS NULL GROUP BY c.label",
	"SELECT p.code, COUNT(*) FROM patients p LEFT JOIN codes c ON c.code = p.code AND c.chapter < 2 GROUP BY p.code",
	"SELECT p.code, COUNT(*) FROM patients p JOIN codes c ON c.code = p.code AND c.chapter < 2 GROUP BY p.code",
	"SELECT c.code * 10 + c.chapter AS x, COUNT(*) FROM visits v JOIN codes c ON c.code = v.code GROUP BY x",
	"SELECT COALESCE(c.code, 7) * 10 + COALESCE(c.chapter, 0) AS x, COUNT(*) " +
		"FROM visits v LEFT JOIN codes c ON c.code = v.code GROUP BY x",
	"SELECT x, COUNT(*) FROM (SELECT COALESCE(c.code, 4) AS x, c.chapter AS y FROM visits v LEFT JOIN codes c ON c.code = v.code) AS t " +
		"WHERE y = 1 OR y IS NULL GROUP BY x",
	"SELECT p.code, COUNT(*) FROM patients p WHERE p.code IN (SELECT c.code FROM codes c WHERE c.chapter > 0) GROUP BY p.code",
	"SELECT p.code, COUNT(*) FROM patients p WHERE p.code NOT IN (SELECT c.code FROM codes c WHERE c.chapter > 0) GROUP BY p.code",
	"SELECT r.zone, r.rate, COUNT(*) FROM visits v JOIN rates r ON r.code = v.code JOIN codes c ON c.code = r.rate " +
		"WHERE c.chapter = 0 GROUP BY r.zone, r.rate",
	"SELECT v.code, COUNT(*) FROM visits v, patients p, rates r WHERE v.pid = p.pid AND v.code = p.code AND p.code = r.rate " +
		"AND r.code > 1 GROUP BY v.code",
}

// TestPublicKeys: no row has a key that is not among the public values that the planner has found
// for it, in public tables and elsewhere, but for those that the owner has left out of a list.
func TestPublicKeys(t *testing.T) {
	asked := 0
	try := func(db *generate.Database, text string) {
		e := reference.New(db.Dataset, db.Tables)
		st, err := generate.Prepare(db.Dataset, text, plan.Options{Public: e.Public()})
		if err != nil {
			return
		}
		for _, p := range st.Plans {
			q := &p.Query
			if q.ListsKeys() || len(q.PublicKeys()) == 0 || listed(q) {
				continue
			}
			asked++
			if v := missed(t, e, q); v != "" {
				t.Errorf("%s\n%s is not there in\n%s", text, v, q.Format())
			}
		}
	}
	for w, ds := range generate.Worlds() {
		maker := generate.NewMaker(ds, plan.Options{Public: reference.New(ds, nil).Public()})
		for seed := range 8 {
			d := generate.NewDice(fmt.Sprint("public ", w), uint64(seed))
			db := generate.Make(d, ds)
			for range 20 {
				try(db, maker.Question(d))
			}
			for _, text := range byPublic {
				if strings.HasPrefix(ds.Name, "clinic") {
					try(db, text)
				}
			}
		}
	}
	if asked < 200 {
		t.Errorf("only %d questions have such keys", asked)
	}
}
