// Package catalogue is what a database says about its tables, whatever the database is: columns,
// keys, conditions and comments. Policies are drafted from it, and no row is read for it.
package catalogue

import (
	"errors"
	"fmt"
	"slices"
)

// Catalogue is what a database says about its tables.
type Catalogue struct {
	// Role is as whom it was read, and Superuser whether that role may do everything.
	Role      string
	Superuser bool
	// Unread says that the role may read none of the tables yet. They are listed all the same: what
	// tables there are everybody sees who may connect.
	Unread bool
	Tables []*Table
}

type Table struct {
	Schema, Name, Comment string
	// Kind says what it is where it is no plain table, such as "a view": then the owner has to
	// answer for it.
	Kind string
	// Columns are those that the role may read; all, where it may read nothing yet.
	Columns []Column
	// Hidden are the columns that the role may not read.
	Hidden []string
	// Unique are the columns, or lists of columns, that no two rows have in common, the primary key
	// first.
	Unique     [][]string
	References []Reference
	// Checks are the conditions that every row fulfils, as SQL.
	Checks []string
	// Inherited says that other tables inherit from it, which is not to be divided: what is said of
	// it need not be so of their rows.
	Inherited bool
	// Unmarked says that its store does not tell whether it has changed.
	Unmarked bool
	// Question is what the owner has to answer for before the table is read, or nothing.
	Question string
}

type Column struct {
	Name    string
	Type    string // as the database spells it
	Comment string
	Kind    Kind
	// Precision and Scale are those of a Decimal.
	Precision, Scale int
	NotNull          bool
	// Labels are those of an enumeration.
	Labels []string
	// Checks are the conditions of the column's domain, as SQL about VALUE.
	Checks []string
	// Computed says that it is computed when it is read.
	Computed bool
}

// Reference is a foreign key: these columns are those of a row of another table.
type Reference struct {
	Columns       []string
	Schema, Table string
	Far           []string
	// Valid says that it holds for all rows, and not only for those that were added since.
	Valid bool
}

// Kind is what a value is, whatever the database calls its type.
type Kind int

// The kinds of values that can be read.
const (
	Unreadable Kind = iota
	Boolean
	Int16
	Int32
	Int64
	Float32
	Float64
	Decimal // with a precision and a scale
	Numeric // of any precision
	Text
	Padded // texts with blanks at the end, which are not part of them
	UUID
	Date
	Timestamp
	TimestampTZ
)

// Relation is the schema and the name, as a policy spells it.
func (t *Table) Relation() string { return t.Schema + "." + t.Name }

func (t *Table) Column(name string) (Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, false
	}
	return t.Columns[i], true
}

// TableIdentity is a table of a policy, and by what it is known wherever it is named: two are one
// where they have a part in common, and two names of one table would be two budgets of its people.
type TableIdentity struct {
	Dataset, Name string
	Public        bool
	Parts         map[string]bool
}

// CheckDistinct returns an error where two tables that must not be the same are. The last words say
// what they are then, such as "are one table of one database".
func (t TableIdentity) CheckDistinct(first TableIdentity, one string) error {
	shared := false
	for part := range t.Parts {
		shared = shared || first.Parts[part]
	}
	if !shared || t.Public && first.Public {
		return nil
	}
	instead := "their people would have two budgets; put both into one dataset"
	switch {
	case t.Public != first.Public:
		instead = "only one of them is public, so the rows would be protected in one place and shown in the other; make both public, " +
			"or remove one of them"
	case t.Dataset == first.Dataset:
		instead = "a person must not appear under two names; remove one of them"
	}
	return fmt.Errorf("the table %s of the dataset %s and the table %s of the dataset %s %s: %s", t.Name, t.Dataset, first.Name,
		first.Dataset, one, instead)
}

// ForOwner is an error in the words that are for the owner, where it has some: what everybody is
// told says nothing about the database.
func ForOwner(err error) error {
	var more interface{ Explain() string }
	if errors.As(err, &more) {
		return errors.New(more.Explain())
	}
	return err
}
