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
	"math/bits"
	"slices"
)

// MaxCells bounds a domain.
const MaxCells = 1 << 26

// errDomain is returned when there is no such domain, and ErrQuery when a query does not fit it.
var (
	errDomain = errors.New("not a domain")
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
		return nil, fmt.Errorf("%w: it has no attributes", errDomain)
	}
	cells := big.NewInt(1)
	for i, a := range attributes {
		if a.Name == "" {
			return nil, fmt.Errorf("%w: attribute %d has no name", errDomain, i+1)
		}
		if _, twice := d.names[a.Name]; twice {
			return nil, fmt.Errorf("%w: attribute %q appears twice", errDomain, a.Name)
		}
		if len(a.Values) == 0 {
			return nil, fmt.Errorf("%w: attribute %q has no values", errDomain, a.Name)
		}
		places := make(map[string]int, len(a.Values))
		for j, v := range a.Values {
			if _, twice := places[v]; twice {
				return nil, fmt.Errorf("%w: attribute %q has the value %q twice", errDomain, a.Name, v)
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
			errDomain, cells, MaxCells)
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

// Size is the number of cells of the product of some attributes.
func (d *Domain) Size(attributes []int) int {
	n := 1
	for _, a := range attributes {
		n *= d.size(a)
	}
	return n
}

func (d *Domain) size(attribute int) int { return len(d.attributes[attribute].Values) }

// table is a factor on its way to the canonical form. Its weights are at most steps, or steps + 1,
// which stands for all that is more.
type table struct {
	attributes []int
	weights    []int64
}

func isBinary(weights []int64) bool {
	for _, w := range weights {
		if w > 1 {
			return false
		}
	}
	return true
}

// divide divides weights by their greatest common divisor and returns it, 0 where all are 0.
func divide(weights []int64) ([]int64, int64) {
	var g int64
	for _, w := range weights {
		for w != 0 {
			g, w = w, g%w
		}
		if g == 1 {
			return weights, 1
		}
	}
	if g == 0 {
		return weights, 0
	}
	out := make([]int64, len(weights))
	for i, w := range weights {
		out[i] = w / g
	}
	return out, g
}

// strides returns how far apart in a table neighbouring values of each attribute are.
func (d *Domain) strides(attributes []int) []int {
	out := make([]int, len(attributes))
	n := 1
	for i := len(attributes) - 1; i >= 0; i-- {
		out[i] = n
		n *= d.size(attributes[i])
	}
	return out
}

// project returns the weights of a table where some attributes are free and the others are those of
// the entry at.
func (d *Domain) project(t table, free []int, at int) []int64 {
	steps := d.strides(t.attributes)
	var sizes, strides []int
	base := at
	for i, a := range t.attributes {
		if slices.Contains(free, a) {
			n := d.size(a)
			base -= at / steps[i] % n * steps[i]
			sizes, strides = append(sizes, n), append(strides, steps[i])
		}
	}
	out := make([]int64, d.Size(free))
	codes := make([]int, len(free))
	for i := range out {
		out[i] = t.weights[base]
		for k := len(codes) - 1; k >= 0; k-- {
			codes[k]++
			base += strides[k]
			if codes[k] < sizes[k] {
				break
			}
			base -= sizes[k] * strides[k]
			codes[k] = 0
		}
	}
	return out
}

// indexInto returns, for every entry of a table over attributes, the place of its values in a table
// over part of them.
func (d *Domain) indexInto(attributes, part []int) []int32 {
	out := []int32{0}
	for _, a := range attributes {
		n := d.size(a)
		in := slices.Contains(part, a)
		next := make([]int32, 0, len(out)*n)
		for _, o := range out {
			for c := range n {
				if in {
					next = append(next, o*int32(n)+int32(c))
				} else {
					next = append(next, o)
				}
			}
		}
		out = next
	}
	return out
}

// join multiplies tables, whose attributes may overlap. The product is capped at most + 1.
func (d *Domain) join(most int64, tables []table) (table, error) {
	if len(tables) == 1 {
		return tables[0], nil
	}
	var all []int
	for _, t := range tables {
		all = append(all, t.attributes...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	n := 1
	for _, a := range all {
		// Every factor is at most MaxCells, so this stops before it overflows.
		if n *= d.size(a); n > maxTable {
			return table{}, tooLarge(d.Size(all))
		}
	}
	out := table{all, make([]int64, n)}
	for i := range out.weights {
		out.weights[i] = 1
	}
	for _, t := range tables {
		for i, o := range d.indexInto(all, t.attributes) {
			out.weights[i] = mulCapped(out.weights[i], t.weights[o], most)
		}
	}
	return out, nil
}

// mulCapped is a product, or most + 1 where it is more than most.
func mulCapped(a, b, most int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi > 0 || lo > uint64(most) {
		return most + 1
	}
	return int64(lo)
}
