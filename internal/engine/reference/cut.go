package reference

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Cuts is how many people were cut so far before their rows were joined or sorted. Where that is
// nobody, which rows are kept is no choice.
func (e *Engine) Cuts() int64 { return e.cuts.Load() }

// cut keeps some rows of each person, and none of nobody. Rows that are equal are as good as each
// other.
func (r run) cut(c *tree.Cut) []row {
	people := map[tree.Value][]row{}
	var names []tree.Value
	for _, from := range r.rows(c.From) {
		name := from[c.Unit()]
		if name == nil {
			continue
		}
		if people[name] == nil {
			names = append(names, name)
		}
		people[name] = append(people[name], from)
	}
	salt := c.Salt()
	var out []row
	for _, name := range names {
		rows := people[name]
		if int64(len(rows)) > c.Rows {
			r.cuts.Add(1)
			rows = slices.Clone(rows)
			slices.SortFunc(rows, func(a, b row) int { return r.order(c, salt, a, b) })
			rows = rows[:c.Rows]
		}
		out = append(out, rows...)
	}
	return out
}

func (r run) order(c *tree.Cut, salt string, a, b row) int {
	a, b = withoutSigns(a), withoutSigns(b)
	x, y := r.spelled(c, a), r.spelled(c, b)
	person := fmt.Sprint(a[c.Unit()])
	if r.dataset.Unit.Row() {
		person = "" // which row somebody is depends on how many come before
	}
	rank := func(values row, what string) uint64 {
		return r.numberOf(Choice{Hash: salt, Person: person, Row: slices.Delete(slices.Clone(values), c.Unit(), c.Unit()+1)}, what)
	}
	return cmp.Or(cmp.Compare(rank(a, x), rank(b, y)), cmp.Compare(x, y))
}

// withoutSigns is a row in which 0 and -0, which are equal, are one.
func withoutSigns(values row) row {
	out := slices.Clone(values)
	for i, v := range out {
		if v == 0.0 {
			out[i] = 0.0
		}
	}
	return out
}

// spelled is what is in a row beside whose it is.
func (run) spelled(c *tree.Cut, values row) string {
	text := ""
	for i, v := range values {
		if i != c.Unit() {
			text += fmt.Sprintf("%q ", fmt.Sprint(v))
		}
	}
	return text
}
