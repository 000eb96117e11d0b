package dialect

import (
	"slices"

	"github.com/discreet-dp/discreet/policy"
)

// Schema is how the tables of a dataset are stored, as far as statements depend on it.
type Schema struct {
	*Dialect
	Tables map[string]*Table
	Kinds  map[string]string // the type of each identity; see [Schema.FindKinds]
	ByRow  bool              // every row is a person
	// Keys are relations of public keys, as what follows IN, and Listed conditions that a key is
	// public, with %s where it stands. Columns that have none of them are compared with parameters.
	Keys   map[*policy.Column]string
	Listed map[*policy.Column]string
}

// NewSchema returns a schema to which tables have to be added, and kinds when all are.
func NewSchema(d *Dialect, ds *policy.Dataset) Schema {
	return Schema{Dialect: d, Tables: map[string]*Table{}, ByRow: ds.Unit.Row(), Keys: map[*policy.Column]string{},
		Listed: map[*policy.Column]string{}}
}

// Table is how a table is stored.
type Table struct {
	*policy.Table
	*Dialect
	From     string   // what follows FROM
	RowID    string   // what tells rows apart where each is a person; empty where nothing needs to
	Collated bool     // text columns may have a collation
	Convert  string   // how the owner stores columns in other types, where that takes more than to say which
	Paths    []string // the columns that paths use, which are compared as they are stored
	// Stored has the columns that a question can use, by the policy's name, and OnLattice those
	// that are on their lattice already.
	Stored    map[string]Column
	OnLattice map[string]bool
	// Codes names the columns that stand beside texts and have the place of each in a list, by the
	// policy's name of the text, and Number the one that numbers people in the order in which they
	// are stored, where there is one. Whoever prints them knows the lists.
	Codes  map[string]string
	Number string
	// Rows is about how many rows there are, in a number that everybody may know, or 0. Which side
	// of a join comes last follows from it; see [Printer].
	Rows int64
}

// Column is a stored column.
type Column struct {
	Name string // as stored
	Type string // as the database spells it
}

// Needed names the columns that a question can use.
func (t *Table) Needed() []string {
	names := t.ColumnNames()
	for _, name := range t.Paths {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
