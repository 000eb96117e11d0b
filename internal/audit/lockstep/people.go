package lockstep

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/fiction"
	"github.com/discreet-dp/discreet/policy"
)

// person is somebody's rows in every table, in the order of the schema.
type person = fiction.Person

// schema is the tables of a dataset with what their columns can hold.
type schema struct {
	fiction.Schema
	values [][]values // of the columns of the policy, by table
}

func schemaOf(ds *policy.Dataset) schema {
	out := schema{Schema: fiction.SchemaOf(ds)}
	for _, t := range out.Schema {
		var all []values
		for _, c := range t.ColumnNames() {
			all = append(all, valuesOf(t.Columns[c]))
		}
		out.values = append(out.values, all)
	}
	return out
}

// makePublicRows makes the rows of a public table, which are the same in all databases.
func (s schema) makePublicRows(table int) [][]string {
	t := s.Schema[table]
	d := newDice("public "+t.Name, 1)
	unique := slices.Index(t.Header, t.UniqueColumn)
	seen := map[string]bool{}
	var out [][]string
	for i := range 40 {
		row := s.makeRow(d, table, nullValue, []manner{anyValues, lowValues, highValues}[i%3])
		if unique >= 0 && (row[unique] == nullValue || seen[row[unique]]) {
			continue
		}
		if unique >= 0 {
			seen[row[unique]] = true
		}
		if out = append(out, row); len(out) == 8 || unique >= 0 && len(out) == 1 {
			break // of values that are moved to a bound two may become one
		}
	}
	return out
}

// maxPersonRows is how many rows a made-up person has at most in a table. A policy that allows more
// is tried with fewer, which shortens the search and raises no false alarm.
const maxPersonRows = 600

// makeRow makes one row of somebody.
func (s schema) makeRow(d dice, table int, name string, m manner) []string {
	return s.Schema[table].Row(name, func(column int) string { return s.values[table][column].choose(d, m) })
}

// rowCount says how many rows somebody has in a table.
func rowCount(t fiction.Sheet, d dice, m manner) int {
	most := int(min(t.MaxRows, maxPersonRows/4))
	switch {
	case m == noGroup:
		return 0
	case t.UnitKind != policy.Many:
		return 1
	case m == everyGroup:
		return maxPersonRows
	case m.alike():
		return 2*most + 2
	}
	return 1 + d.Below(3)
}

// makePerson makes a person. Where every row is a person of its own they have one row, in the
// table that turn names.
func (s schema) makePerson(d dice, name string, m manner, turn int) person {
	p := make(person, len(s.Schema))
	for i, t := range s.Schema {
		if t.Public || t.UnitKind == policy.Row && i != turn%len(s.Schema) {
			continue
		}
		n := rowCount(t, d, m)
		if m.alike() {
			// All in one group, so that the limit of rows in a group is reached.
			row := s.makeRow(d, i, name, m)
			for range n {
				p[i] = append(p[i], row)
			}
			continue
		}
		for range n {
			p[i] = append(p[i], s.makeRow(d, i, name, m))
		}
	}
	s.Connect(d, p, name)
	return p
}

// write writes people's rows, and returns the dataset with them as its only source.
func (s schema) write(ds *policy.Dataset, folder string, d dice, people []person) (*policy.Dataset, error) {
	return s.Write(ds, folder, d, people, s.makePublicRows)
}
