// Package linear is the public side of a stream: a finite domain, which is a product of attributes
// with public values, and linear queries over it. It knows nothing of data.
//
// A query weighs every cell with a whole number from 0 to its Steps, and its answer on data is the
// sum of weights over people. A predicate weighs with 0 and 1, and its answer is a count.
//
// # The canonical form
//
// What counts of a query is its steps and the weight of every cell, and two queries that agree
// there have the same [Query.Key], however they were written. The weights are read as a
// distribution that nobody normalised: a partition of the attributes into independent groups that
// is finer than all others exists and is unique, as long as some weight is not 0. A query is stored
// as the greatest common divisor of its weights times one table for each of these groups, whose
// greatest common divisor is 1; groups of one attribute that weigh all values alike are left out.
// So everything is a query without tables, and nothing is the one with the divisor 0.
package linear

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// MaxCells bounds a domain.
const MaxCells = 1 << 26

// ErrDomain is returned when there is no such domain, and ErrQuery when a query does not fit it.
var (
	ErrDomain = errors.New("not a domain")
	ErrQuery  = errors.New("not a query of this domain")
)

// Attribute is one factor of a domain. Its values are told apart by their place; the names are for
// people and tables.
type Attribute struct {
	Name   string
	Values []string
}

// Domain is a product of attributes. Cells are numbered from 0; the last attribute changes fastest.
// It does not change.
type Domain struct {
	attributes []Attribute
	cells      int
	names      map[string]int
	values     []map[string]int
	all        []int // the places of all attributes
}

// NewDomain checks the attributes. More than [MaxCells] cells are refused with their number.
func NewDomain(attributes ...Attribute) (*Domain, error) {
	d := &Domain{names: map[string]int{}}
	if len(attributes) == 0 {
		return nil, fmt.Errorf("%w: it has no attributes", ErrDomain)
	}
	cells := big.NewInt(1)
	for i, a := range attributes {
		if a.Name == "" {
			return nil, fmt.Errorf("%w: attribute %d has no name", ErrDomain, i+1)
		}
		if _, twice := d.names[a.Name]; twice {
			return nil, fmt.Errorf("%w: attribute %q is there twice", ErrDomain, a.Name)
		}
		if len(a.Values) == 0 {
			return nil, fmt.Errorf("%w: attribute %q has no values", ErrDomain, a.Name)
		}
		places := make(map[string]int, len(a.Values))
		for j, v := range a.Values {
			if _, twice := places[v]; twice {
				return nil, fmt.Errorf("%w: attribute %q has the value %q twice", ErrDomain, a.Name, v)
			}
			places[v] = j
		}
		d.names[a.Name] = i
		d.values = append(d.values, places)
		d.attributes = append(d.attributes, Attribute{a.Name, slices.Clone(a.Values)})
		d.all = append(d.all, i)
		cells.Mul(cells, big.NewInt(int64(len(a.Values))))
	}
	if cells.Cmp(big.NewInt(MaxCells)) > 0 {
		return nil, fmt.Errorf("%w: it would have %v cells, and at most %d are allowed; leave columns out or make bins wider",
			ErrDomain, cells, MaxCells)
	}
	d.cells = int(cells.Int64())
	return d, nil
}

// Cells is their number, and Attributes what they are a product of, which is not to be changed.
func (d *Domain) Cells() int              { return d.cells }
func (d *Domain) Attributes() []Attribute { return d.attributes }

// Cell returns the number of a cell, and -1 where there is no such cell.
func (d *Domain) Cell(codes ...int) int {
	if len(codes) != len(d.attributes) {
		return -1
	}
	cell := 0
	for i, c := range codes {
		n := d.size(i)
		if c < 0 || c >= n {
			return -1
		}
		cell = cell*n + c
	}
	return cell
}

// Codes returns the place of a cell's value in each attribute, and nil where there is no such cell.
func (d *Domain) Codes(cell int) []int {
	if cell < 0 || cell >= d.cells {
		return nil
	}
	codes := make([]int, len(d.attributes))
	for i := len(codes) - 1; i >= 0; i-- {
		n := d.size(i)
		codes[i] = cell % n
		cell /= n
	}
	return codes
}

// Place returns the place of an attribute, and Value the place of one of its values; both report
// false where there is none.
func (d *Domain) Place(name string) (int, bool) { i, ok := d.names[name]; return i, ok }
func (d *Domain) Value(attribute int, value string) (int, bool) {
	if attribute < 0 || attribute >= len(d.values) {
		return 0, false
	}
	i, ok := d.values[attribute][value]
	return i, ok
}

// Size is the number of cells of the product of some attributes.
func (d *Domain) Size(attributes []int) int {
	n := 1
	for _, a := range attributes {
		n *= d.size(a)
	}
	return n
}

func (d *Domain) size(attribute int) int { return len(d.attributes[attribute].Values) }
