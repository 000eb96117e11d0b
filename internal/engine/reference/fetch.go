package reference

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Fetch hands the rows of a table over. It does not fail.
func (e *Engine) Fetch(_ context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	r := run{e, map[tree.Relation][]row{}}
	people := map[string][][]int64{}
	for i, values := range r.rows(t.From) {
		unit := values[t.From.Unit()]
		// Rows of nobody are left out, but where nobody has two a row without a name is one of its
		// own.
		if unit == nil && t.Bounded() || !r.holds(t.Where, values) {
			continue
		}
		person := fmt.Sprint(unit)
		if !t.Bounded() {
			person = fmt.Sprint("#", i)
		}
		codes := make([]int64, len(t.Columns))
		for k, c := range t.Columns {
			codes[k] = code(c, expr.Eval(c.Expr, r.leaf(values)))
		}
		people[person] = append(people[person], codes)
	}
	hash := t.Hash()
	for _, person := range slices.Sorted(maps.Keys(people)) {
		for _, codes := range e.cut(t, hash, person, people[person]) {
			into.Add(codes)
		}
	}
	return engine.ReadFrom{}, nil
}

// cut keeps MaxRows rows of a person. Rows that are equal are as good as each other.
func (e *Engine) cut(t *tree.Table, hash, person string, rows [][]int64) [][]int64 {
	if !t.Bounded() || int64(len(rows)) <= t.MaxRows() {
		return rows
	}
	if e.dataset.Unit.Row() {
		person = "" // which row somebody is depends on how many come before
	}
	slices.SortFunc(rows, func(a, b []int64) int {
		return cmp.Or(cmp.Compare(e.rankRow(hash, person, a), e.rankRow(hash, person, b)), slices.Compare(a, b))
	})
	return rows[:t.MaxRows()]
}

// rankRow is the number of a row of codes.
func (e *Engine) rankRow(hash, person string, codes []int64) uint64 {
	row := make([]tree.Value, len(codes))
	for i, c := range codes {
		if c != engine.Null {
			row[i] = big.NewInt(c)
		}
	}
	return e.numberOf(Choice{Hash: hash, Person: person, Row: row}, fmt.Sprint(codes))
}

// code is a value of a column.
func code(c tree.TableColumn, v tree.Value) int64 {
	if v == nil {
		return engine.Null
	}
	if c.Values != nil {
		return int64(slices.IndexFunc(c.Values, func(key policy.Value) bool { return isKey(v, key) }))
	}
	switch v := v.(type) {
	case *big.Int:
		return v.Int64()
	case tree.Moment:
		return int64(v)
	case tree.Day:
		return int64(v)
	}
	panic(fmt.Sprintf("reference: no code of %T", v))
}
