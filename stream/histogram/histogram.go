// Package histogram holds how many people are in each cell of a domain, sealed, and answers linear queries on it exactly, sealed: it is the engine of a
// stream. Memory goes with the cells that have people.
package histogram

import (
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/stream/linear"
)

// Table is a sealed histogram. It does not change and is safe for concurrent use.
type Table struct{}

// Dense takes one count per cell, and Sparse the counts of some cells, in any order, a cell being allowed more than once.
func Dense(d *linear.Domain, counts exact.Vector) (*Table, error)         { panic("not built") }
func Sparse(d *linear.Domain, cells, counts exact.Vector) (*Table, error) { panic("not built") }

// Answer is the sum over people of the weights of a query, sealed: a vector of one.
func (t *Table) Answer(q *linear.Query) exact.Vector { panic("not built") }
