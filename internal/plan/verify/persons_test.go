package verify_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/plan/verify"
)

// below finds the first relation of a kind.
func below[T tree.Relation](r tree.Relation) (found T) {
	switch x := r.(type) {
	case T:
		return x
	case *tree.Select:
		return below[T](x.From)
	case *tree.Cut:
		return below[T](x.From)
	case *tree.Window:
		return below[T](x.From)
	case *tree.Persons:
		return below[T](x.From)
	}
	return found
}

// TestOwnRows plants mistakes about the rows of one person: windows that see others' rows, an order
// that an engine is left to choose, and people of whom one row is claimed and several can be.
func TestOwnRows(t *testing.T) {
	ds := load(t, "hospital.yaml", "hospital")
	const (
		windows = "SELECT AVG(cost) FROM (SELECT pid, cost, lag(cost) OVER (PARTITION BY pid ORDER BY day) AS b FROM visits) t " +
			"WHERE cost > b"
		numbers = "SELECT AVG(cost) FROM (SELECT pid, cost, row_number() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits) t " +
			"WHERE n = 1"
		apart = "SELECT AVG(cost) FROM (SELECT pid, cost, row_number() OVER (PARTITION BY pid, ward ORDER BY day) AS n FROM visits) t " +
			"WHERE n = 1"
		twice = "SELECT COUNT(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits) t " +
			"JOIN visits v ON t.pid = v.pid WHERE n = 1"
		groups = "SELECT SUM(n) FROM (SELECT pid, ward, COUNT(*) AS n FROM visits GROUP BY pid, ward) t"
	)
	for _, c := range []struct {
		name, text, says string
		plant            func(q *tree.Query)
	}{
		{"the person of another field", windows, "several people", func(q *tree.Query) { below[*tree.Window](q.From).Whose = 0 }},
		{"no ties", windows, "comes first", func(q *tree.Query) { below[*tree.Window](q.From).Ties = nil }},
		{"a cut by what is not tied", windows, "where they are stored", func(q *tree.Query) {
			q.From = &tree.Cut{From: q.From, Rows: 1000}
		}},
		{"a tie that is not there", windows, "do not have", func(q *tree.Query) { below[*tree.Window](q.From).Ties = []int{1, 2, 77} }},
		{"a frame by peers", windows, "which row", func(q *tree.Query) { below[*tree.Window](q.From).Calls[0].Frame.Peers = true }},
		{"a narrower lag", windows, "claimed to be between", func(q *tree.Query) {
			w := below[*tree.Window](q.From)
			w.Row[len(w.Row)-1].Type.Hi = big.NewInt(7)
		}},
		{"one row of several", windows, "one row of each person", func(q *tree.Query) {
			q.From = &tree.Select{From: q.From, Where: q.Where, One: true, UnitField: q.From.Unit(), Row: q.From.Fields(),
				Columns: all(q.From)}
		}},
		{"a number of another partition", apart, "the same number", func(q *tree.Query) {
			w := below[*tree.Window](q.From)
			w.Row[len(w.Row)-1].Serial = true
		}},
		{"the largest number", numbers, "one row of each person", func(q *tree.Query) {
			q.From.(*tree.Select).Where.(*tree.Compare).R = expr.NewNumber(big.NewRat(50, 1))
		}},
		{"another comparison", numbers, "one row of each person", func(q *tree.Query) {
			q.From.(*tree.Select).Where.(*tree.Compare).Op = tree.Ge
		}},
		{"a number of rows that are there twice", twice, "the same number", func(q *tree.Query) {
			j := q.From.(*tree.Join)
			for i, f := range j.L.Fields() {
				j.Row[i].Serial = f.Serial
			}
		}},
		{"people with keys as one row each", groups, "in a field does not follow", func(q *tree.Query) {
			below[*tree.Persons](q.From).Row[0].Key = true
		}},
		{"more groups than rows", groups, "may", func(q *tree.Query) { q.RowLimit = 51 }},
	} {
		st, err := plan.Prepare(ds, c.text, plan.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		q := &st.Plans[0].Query
		if err := verify.Query(ds, q); err != nil {
			t.Errorf("%s: %v before it is planted", c.name, err)
		}
		c.plant(q)
		if err := verify.Query(ds, q); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s is not seen: %v", c.name, err)
		}
	}
}

// all are all fields of a relation.
func all(r tree.Relation) (out []tree.Expr) {
	for i := range r.Fields() {
		out = append(out, tree.NewColumn(r, i))
	}
	return out
}
