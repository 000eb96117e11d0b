// Package store says what a database has to be so that its tables can be asked through Discreet.
// Whoever brings one along needs a driver for database/sql and no more: what is printed, how people
// are bounded, what is sealed and what becomes of an error is not theirs to get right.
//
// # What a store promises
//
//  1. Its tables are called as in the policy, and hold what the policy says about them.
//  2. Rows can be read without an error, whatever is in them. A view that divides can fail over one
//     row, and a question that fails tells that the row is there.
//  3. A transaction sees one state of the data.
//  4. It computes what it is asked: nothing that stands in TRY is moved out of it. Settings of the
//     database that this rests on are made when it is opened.
//  5. What the policy says is unique is so at every moment, by a constraint of the database: it is
//     looked at when Version names another state, and not with every question.
//  6. Its people are those of no other dataset, or they would have two budgets. One handle for two
//     datasets is refused; two handles to one database cannot be told from two databases.
package store

import (
	"context"
	"database/sql"
	"errors"
)

// Store is a database with the tables of one dataset.
type Store struct {
	// DB is safe for concurrent use, and is closed with the dataset.
	DB *sql.DB
	// Dialect is the SQL that it speaks.
	Dialect Dialect
	// Version names the state of the data. It is asked before every question.
	Version func(context.Context) (Version, error)
}

// Dialect names a kind of SQL.
type Dialect string

// DuckDB is the SQL of DuckDB, and of what is compatible with it.
const DuckDB Dialect = "duckdb"

// ErrMemory is what an error of a driver wraps where the database does not have enough memory. The
// owner is told.
var ErrMemory = errors.New("the database does not have enough memory")

// Version names a state of the data. Answers are remembered as long as it is the same.
type Version struct {
	// Name is the owner's, has no line break, and analysts may see it. It may be empty.
	Name string
	// State is the rest, such as a hash of the contents, which they may not see.
	State string
	// Whole says that State is another one whenever anything in the tables is, as a hash of all
	// contents is. Where it is not said, a change that was missed makes remembered answers stale
	// and harms nobody. Where it is, an answer may be sharpened for the difference of two prices,
	// and that is private only if both are of the same data.
	Whole bool
}

// Key is the version as one text, which is another for another version.
func (v Version) Key() string {
	if v.Name == "" {
		return v.State
	}
	return v.Name + "\n" + v.State
}
