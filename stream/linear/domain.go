// Package linear is the public side of a stream: a finite domain, which is a product of attributes with public values, and linear queries over it. It knows
// nothing of data.
//
// A query weighs every cell with a whole number from 0 to its Steps, and its answer on data is the sum of weights over people. A predicate weighs with 0 and 1,
// and its answer is a count.
package linear

import "errors"

// MaxCells bounds a domain.
const MaxCells = 1 << 26

// ErrDomain is returned when there is no such domain, and ErrQuery when a query does not fit it.
var (
	ErrDomain = errors.New("not a domain")
	ErrQuery  = errors.New("not a query of this domain")
)

// Attribute is one factor of a domain. Its values are told apart by their place; the names are for people and tables.
type Attribute struct {
	Name   string
	Values []string
}

// Domain is a product of attributes. Cells are numbered from 0; the last attribute changes fastest.
type Domain struct {
	attributes []Attribute
	cells      int
}

// NewDomain checks the attributes. More than [MaxCells] cells are refused with their number.
func NewDomain(attributes ...Attribute) (*Domain, error) { panic("not built") }

// Cells is their number, and Attributes what they are a product of.
func (d *Domain) Cells() int              { return d.cells }
func (d *Domain) Attributes() []Attribute { return d.attributes }

// Cell returns the number of a cell, and Codes the place of its value in each attribute.
func (d *Domain) Cell(codes ...int) int { panic("not built") }
func (d *Domain) Codes(cell int) []int  { panic("not built") }
