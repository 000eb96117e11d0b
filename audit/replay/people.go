package replay

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
}

// filler is a column of the file that no policy has: no name ends in a space.
const filler = "filler "

func schemaOf(ds *policy.Dataset) schema {
	var out schema
	for _, name := range ds.TableNames() {
		t := ds.Tables[name]
		s := sheet{Table: t, header: t.ColumnNames(), unit: -1}
		for _, c := range s.header {
			s.values = append(s.values, valuesOf(t.Columns[c]))
		}
		if t.UnitColumn != "" {
			if s.unit = slices.Index(s.header, t.UnitColumn); s.unit < 0 {
				s.unit, s.header = len(s.header), append(s.header, t.UnitColumn)
			}
		}
		if len(s.header) < 2 {
			// A policy may list no column, and a file has one; and a single column without a value
			// would be an empty line, which is no row.
			s.header = append(s.header, filler)
		}
		out = append(out, s)
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
	return 1 + d.below(3)
}

// somebody makes a person. Where every row is a person of its own they have one row, in the
// table that turn names.
func (s schema) somebody(d dice, name string, m manner, turn int) person {
	p := make(person, len(s))
	for i, t := range s {
		if t.UnitKind == policy.Row && i != turn%len(s) {
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
		made.Tables[table.Name] = &table
		rows := [][]string{t.header}
		for _, p := range people {
			rows = append(rows, p[i]...)
		}
		for j := len(rows) - 1; j > 1; j-- {
			k := 1 + d.below(j)
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
