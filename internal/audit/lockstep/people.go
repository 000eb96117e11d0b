package lockstep

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/discreet-dp/discreet/policy"
)

// person is somebody's rows in every table, in the order of the schema.
type person [][][]string

// schema is the tables of a dataset with what their columns can hold.
type schema []sheet

type sheet struct {
	*policy.Table
	header []string // the columns of the policy, then the unit's, where it is not one of them
	values []values // of the columns of the policy
	unit   int      // the place of the unit's column, or -1
	keys   []int    // the places of columns that paths of other tables lead to
	ref    int      // the place of the column by which the table leads to its parent, or -1
	parent int      // the parent's place in the schema
}

// filler is a column of the file that no policy has: no name ends in a space.
const filler = "filler "

func schemaOf(ds *policy.Dataset) schema {
	var out schema
	for _, name := range ds.TableNames() {
		t := ds.Tables[name]
		s := sheet{Table: t, header: t.ColumnNames(), unit: -1, ref: -1}
		for _, c := range s.header {
			s.values = append(s.values, valuesOf(t.Columns[c]))
		}
		if t.UnitColumn != "" {
			if s.unit = slices.Index(s.header, t.UnitColumn); s.unit < 0 {
				s.unit, s.header = len(s.header), append(s.header, t.UnitColumn)
			}
		}
		s.link(ds)
		if len(s.header) < 2 {
			// A policy may list no column, and a file has one; and a single column without a value
			// would be an empty line, which is no row.
			s.header = append(s.header, filler)
		}
		out = append(out, s)
	}
	return out
}

// link finds the columns of paths with several steps.
func (s *sheet) link(ds *policy.Dataset) {
	place := func(column string) int {
		i := slices.Index(s.header, column)
		if i < 0 {
			i, s.header = len(s.header), append(s.header, column)
		}
		return i
	}
	names := ds.TableNames()
	if len(s.Path) > 1 {
		s.ref, s.parent = place(s.Path[0].Column), slices.Index(names, s.Path[0].Table)
	}
	for _, name := range names {
		if child := ds.Tables[name]; len(child.Path) > 1 && child.Path[0].Table == s.Name {
			if i := place(child.Path[0].Key); !slices.Contains(s.keys, i) {
				s.keys = append(s.keys, i)
			}
		}
	}
}

// connect gives the rows of a person the keys that paths lead to, no two the same, and lets rows
// lead to rows of the same person. What has no parent leads nowhere.
func (s schema) connect(d dice, p person, name string) {
	if !slices.ContainsFunc(s, func(t sheet) bool { return t.ref >= 0 }) {
		return // no path has several steps
	}
	if name == null {
		name = fmt.Sprintf("8%09d", d.Below(1_000_000_000))
	}
	for i, t := range s {
		for k := range p[i] {
			p[i][k] = slices.Clone(p[i][k])
			for _, key := range t.keys {
				p[i][k][key] = fmt.Sprintf("%s%05d", name, k+1)
			}
		}
	}
	for i, t := range s {
		for k := range p[i] {
			if t.ref < 0 {
				continue
			}
			p[i][k][t.ref] = "0"
			if all := p[t.parent]; len(all) > 0 {
				key := slices.Index(s[t.parent].header, t.Path[0].Key)
				p[i][k][t.ref] = all[d.Below(len(all))][key]
			}
		}
	}
}

// public makes the rows of a public table, which are the same in all databases.
func (s sheet) public() [][]string {
	d := newDice("public "+s.Name, 1)
	unique := slices.Index(s.header, s.UniqueColumn)
	seen := map[string]bool{}
	var out [][]string
	for i := range 40 {
		row := s.row(d, null, []manner{anyhow, low, high}[i%3])
		if unique >= 0 && (row[unique] == null || seen[row[unique]]) {
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

// maxRows is how many rows a made-up person has at most in a table. A policy that allows more
// is tried with fewer, which shortens the search and raises no false alarm.
const maxRows = 600

// row makes one row of somebody.
func (s sheet) row(d dice, name string, m manner) []string {
	row := make([]string, len(s.header))
	for i := range s.values {
		row[i] = s.values[i].choose(d, m)
	}
	if s.unit >= 0 {
		row[s.unit] = name
	}
	if last := len(row) - 1; s.header[last] == filler {
		row[last] = "1"
	}
	return row
}

// rows says how many rows somebody has here.
func (s sheet) rows(d dice, m manner) int {
	most := int(min(s.MaxRows, maxRows/4))
	switch {
	case m == nowhere:
		return 0
	case s.UnitKind != policy.Many:
		return 1
	case m == everywhere:
		return maxRows
	case m.alike():
		return 2*most + 2
	}
	return 1 + d.Below(3)
}

// somebody makes a person. Where every row is a person of its own they have one row, in the
// table that turn names.
func (s schema) somebody(d dice, name string, m manner, turn int) person {
	p := make(person, len(s))
	for i, t := range s {
		if t.Public || t.UnitKind == policy.Row && i != turn%len(s) {
			continue
		}
		n := t.rows(d, m)
		if m.alike() {
			// All in one group, so that the limit of rows in a group is reached.
			row := t.row(d, name, m)
			for range n {
				p[i] = append(p[i], row)
			}
			continue
		}
		for range n {
			p[i] = append(p[i], t.row(d, name, m))
		}
	}
	s.connect(d, p, name)
	return p
}

// write writes people's rows as CSV files, in an order that does not tell whose they are, and
// returns the dataset with these files as its only source. The types are the
// policy's whatever a file is made of, so nothing depends on the kind of the real one.
func (s schema) write(ds *policy.Dataset, folder string, d dice, people []person) (*policy.Dataset, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	made := *ds
	made.Source, made.Tables = "", map[string]*policy.Table{}
	for i, t := range s {
		table := *t.Table
		table.Source, table.Delimiter = filepath.Join(folder, fmt.Sprintf("%d.csv", i)), ','
		table.CSV = policy.CSVFile{} // what is written here is spelt as SQL does
		made.Tables[table.Name] = &table
		rows := [][]string{t.header}
		for _, p := range people {
			rows = append(rows, p[i]...)
		}
		if t.Public {
			rows = append(rows, t.public()...)
		}
		for j := len(rows) - 1; j > 1; j-- {
			k := 1 + d.Below(j)
			rows[j], rows[k] = rows[k], rows[j]
		}
		f, err := os.Create(table.Source)
		if err != nil {
			return nil, err
		}
		err = csv.NewWriter(f).WriteAll(rows)
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return nil, err
		}
	}
	return &made, nil
}
