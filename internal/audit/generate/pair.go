package generate

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/policy"
)

// Pair makes a database with a person whom questions can single out, because nobody else has the
// text [Target] anywhere, and its neighbour: without that person, or with somebody else instead, as
// the dataset says.
func Pair(d Dice, ds *policy.Dataset) (with, without *Database) {
	with = Make(d, ds)
	owner := with.target(d)
	for _, t := range with.order() {
		all := with.Tables[t.Name]
		for i, r := range all.Rows {
			if with.owners[t.Name][i] == owner {
				mark(d, t, all.Columns, r)
			}
		}
	}
	without = with.without(d, owner)
	if d.One(3) { // not always: an engine is faster where it finds people's rows together
		without.shuffle(d)
	}
	return with, without
}

// target adds a person who has at least a row, and returns whose those are.
func (db *Database) target(d Dice) string {
	m := detrand.Pick(d, []manner{anyhow, high, high, low, many, odd})
	if !db.Dataset.Unit.Row() {
		name := detrand.Pick(d, []int64{77, 77, 77, 1<<53 + 3, -77})
		owner := fmt.Sprint("person ", name)
		for !slices.ContainsFunc(db.order(), func(t *policy.Table) bool { return slices.Contains(db.owners[t.Name], owner) }) {
			db.somebody(d, name, m)
		}
		return owner
	}
	private := slices.DeleteFunc(db.order(), func(t *policy.Table) bool { return t.Public })
	t := detrand.Pick(d, private)
	owner := fmt.Sprint("row ", db.rows)
	db.rows++
	db.add(t, db.row(d, t, m), owner)
	return owner
}

// mark writes the target's text into most of somebody's texts.
func mark(d Dice, t *policy.Table, columns []string, r []any) {
	for i, name := range columns {
		if c := t.Columns[name]; c != nil && c.Type == policy.Text && !d.One(5) {
			r[i] = Target
		}
	}
}
