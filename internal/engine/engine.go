// Package engine says what an engine is to the curator: it computes the private part of a question
// exactly, on integers, and returns the result sealed. It sees neither noise nor the ledger.
package engine

import (
	"context"
	"math"

	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Engine computes exact aggregates. All methods are safe for concurrent use.
type Engine interface {
	// Version names the state of the data.
	Version(ctx context.Context) (store.Version, error)
	// Values returns the different values of a column of a public table, sorted, NULL left out.
	// More than limit is an error.
	Values(ctx context.Context, table, column string, limit int) ([]policy.Value, error)
	// Most returns how many rows of a public table have the same values in some columns at most,
	// NULL left out; in no columns, how many rows it has.
	Most(ctx context.Context, table string, columns []string) (int64, error)
	// Rows returns the rows of a public table: for each of its columns, in the order of
	// [policy.Table.ColumnNames], the value as it is declared. More than limit is an error.
	Rows(ctx context.Context, table string, limit int) ([][]tree.Value, error)
	// Run computes a query. Its errors do not depend on the data.
	Run(ctx context.Context, q *tree.Query) (*Result, error)
	// Fetch hands the rows of a table to a collector, one at a time and in no order that means
	// anything. A row is one code for each column: the number of steps, the place among a
	// category's values or -1 where it is none of them, or Null. Rows may have been handed over
	// when it fails. Its errors do not depend on the data.
	Fetch(ctx context.Context, t *tree.Table, into Collector) (ReadFrom, error)
}

// ReadFrom says which data something was read from.
type ReadFrom struct {
	// State is the key of the version of the data, as the engine had it then, or empty where it
	// does not say. Nobody but the owner may see it. Copied says that it was read from a copy that
	// nobody changes, so that it is of that version whatever happens to the data.
	State  string
	Copied bool
}

// Collector is who takes the rows of a table. It is the sealed one: only a trainer makes it.
type Collector = exact.Collector

// Null is the code of a value that is missing.
const Null = math.MinInt64

// Result is what an engine returns. Groups stand in the order of Query.Group; where the query has
// private keys, all groups of the first combination of them come first, then those of the second,
// and so on.
type Result struct {
	// Combos are the combinations of private keys that were found, each in the order of
	// Query.PrivateKeys, and Persons is how many people are in each, after a person was cut to
	// MaxGroups of them. Empty where there are no private keys.
	Combos  exact.List[[]policy.Value]
	Persons exact.Vector
	// Members are the combinations that each person is in, where the query weighs people
	// ([tree.Query.Weighs]); see [SealMembers].
	Members exact.Members
	// Measures are, for each measure, one integer per group, zero where there are no rows. For a
	// quantile the vector is empty.
	Measures []exact.Vector
	// Values are, for each measure that is a quantile, for each group all values in steps (dates in
	// days), in any order, NULL left out. Nil for other measures.
	Values [][]exact.Vector
	ReadFrom
}
