package tree

import "github.com/discreet-dp/discreet/policy"

// Public tells what is in public tables. It is nobody's, so to look at it tells nothing about
// anybody.
type Public interface {
	// Values returns the different values of a column, sorted.
	Values(table, column string, limit int) ([]policy.Value, error)
	// Most returns how many rows have the same values in some columns at most, as they are
	// declared, NULL left out. In no columns it is how many rows there are.
	Most(table string, columns []string) (int64, error)
	// Rows returns the rows of a table, its columns in the order of [policy.Table.ColumnNames] and
	// as they are declared. More than limit is an error.
	Rows(table string, limit int) ([][]Value, error)
}
