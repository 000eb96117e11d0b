// Package fakedata makes up data that a policy could be about. It reads the policy and nothing
// else: what it makes has the tables, the columns, the paths and the people that a policy speaks
// of, and not a value of anybody's.
//
// [Schema] has the shape, and whoever makes rows brings the values: an audit those at which a
// system may forget something, and [MakeTown] those that one would expect, for who tries SQL out.
package fakedata

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/policy"
)

// Null is how a row holds that there is no value. A CSV file cannot tell it from the empty text,
// which is as well: neither can a policy about one.
const Null = ""

// Person is somebody's rows in every table, in the order of the schema.
type Person [][][]string

// Schema is the tables of a dataset as files of rows.
type Schema []Sheet

type Sheet struct {
	*policy.Table
	// Header is the columns of the policy in their order, then those that it needs and does not
	// list: the unit's, and those of paths.
	Header []string
	// Unit is the place of the unit's column, or -1.
	Unit int

	keys   []int // the places of columns that paths of other tables lead to
	ref    int   // the place of the column by which the table leads to its parent, or -1
	parent int   // the parent's place in the schema
}

// fillerColumn is a column of the file that no policy has: no name ends in a space.
const fillerColumn = "filler "

// SchemaOf returns the schema of a dataset.
func SchemaOf(ds *policy.Dataset) Schema {
	var out Schema
	for _, name := range ds.TableNames() {
		t := ds.Tables[name]
		s := Sheet{Table: t, Header: t.ColumnNames(), Unit: -1, ref: -1}
		if t.UnitColumn != "" {
			s.Unit = s.columnIndex(t.UnitColumn)
		}
		s.linkPaths(ds)
		if len(s.Header) < 2 {
			// A policy may list no column, and a file has one; and a single column without a value
			// would be an empty line, which is no row.
			s.Header = append(s.Header, fillerColumn)
		}
		out = append(out, s)
	}
	return out
}

// columnIndex is where a column is, at the end where there was none.
func (s *Sheet) columnIndex(column string) int {
	i := slices.Index(s.Header, column)
	if i < 0 {
		i, s.Header = len(s.Header), append(s.Header, column)
	}
	return i
}

// linkPaths finds the columns of paths with several steps.
func (s *Sheet) linkPaths(ds *policy.Dataset) {
	names := ds.TableNames()
	if len(s.Path) > 1 {
		s.ref, s.parent = s.columnIndex(s.Path[0].Column), slices.Index(names, s.Path[0].Table)
	}
	for _, name := range names {
		if child := ds.Tables[name]; len(child.Path) > 1 && child.Path[0].Table == s.Name {
			if i := s.columnIndex(child.Path[0].Key); !slices.Contains(s.keys, i) {
				s.keys = append(s.keys, i)
			}
		}
	}
}

// Row makes one row of somebody, of a value for each column of the policy.
func (s Sheet) Row(name string, choose func(column int) string) []string {
	row := make([]string, len(s.Header))
	for i := range len(s.Columns) {
		row[i] = choose(i)
	}
	if s.Unit >= 0 {
		row[s.Unit] = name
	}
	if last := len(row) - 1; s.Header[last] == fillerColumn {
		row[last] = "1"
	}
	return row
}

// Connect gives the rows of a person the keys that paths lead to, no two the same, and lets rows
// lead to rows of the same person. What has no parent leads nowhere.
func (s Schema) Connect(d detrand.Choices, p Person, name string) {
	if !slices.ContainsFunc(s, func(t Sheet) bool { return t.ref >= 0 }) {
		return // no path has several steps
	}
	if name == Null {
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
				key := slices.Index(s[t.parent].Header, t.Path[0].Key)
				p[i][k][t.ref] = all[d.Below(len(all))][key]
			}
		}
	}
}

// Write writes people's rows, and those of public tables, as CSV files, in an order that does not
// tell whose they are, and returns the dataset with these files as its only source. The types are
// the policy's whatever a file is made of, so nothing depends on the kind of the real one.
func (s Schema) Write(
	ds *policy.Dataset, folder string, d detrand.Choices, people []Person, public func(table int) [][]string,
) (*policy.Dataset, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	made := *ds
	made.Engine, made.Source, made.VersionQuery, made.Refresh = "duckdb", "", "", 0 // whatever runs the questions on the data
	made.Tables = map[string]*policy.Table{}
	for i, t := range s {
		table := *t.Table
		table.Source, table.Delimiter = filepath.Join(folder, fmt.Sprintf("%d.csv", i)), ','
		table.CSV = policy.CSVFile{} // what is written here is spelt as SQL does
		table.Relation, table.Trusted, table.Prepared = "", false, ""
		made.Tables[table.Name] = &table
		rows := [][]string{t.Header}
		for _, p := range people {
			rows = append(rows, p[i]...)
		}
		if t.Public {
			rows = append(rows, public(i)...)
		}
		for j := len(rows) - 1; j > 1; j-- {
			k := 1 + d.Below(j)
			rows[j], rows[k] = rows[k], rows[j]
		}
		if err := writeCSV(table.Source, rows); err != nil {
			return nil, err
		}
	}
	return &made, nil
}

func writeCSV(path string, rows [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = csv.NewWriter(f).WriteAll(rows)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
