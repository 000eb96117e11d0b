package predict

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
)

// sums adds up the cells that queries select. It keeps sums over the attributes of a query for
// others over the same attributes, and makes them of those that it has. The integers are exact, so
// nothing of this can be seen in a sum.
type sums struct {
	domain *linear.Domain
	all    []int // attributes
	cells  []int64
	kept   map[string]*marginal
	tables []*marginal // those of kept that have cells, the largest first
	room   int
	blocks linear.Blocks
}

// marginal has the sums over all attributes but some.
type marginal struct {
	attributes []int
	cells      []int64 // nil as long as it has not paid off
	went       int     // how many cells were added up for want of it
}

// How many numbers are kept: 16 MB, and no marginal of more than 4 MB.
const (
	allMarginals = 1 << 21
	oneMarginal  = 1 << 19
)

func newSums(d *linear.Domain, cells []int64) *sums {
	s := &sums{domain: d, cells: cells}
	for i := range d.Attributes() {
		s.all = append(s.all, i)
	}
	s.forget()
	return s
}

// forget is for cells that have changed.
func (s *sums) forget() {
	s.kept, s.room = map[string]*marginal{}, allMarginals
	s.tables = append(s.tables[:0], &marginal{attributes: s.all, cells: s.cells})
}

// total returns the sum of weight times cell.
func (s *sums) total(q *linear.Query) float64 {
	m := s.table(q)
	if level, _ := q.Level(); q.Blocks(m.attributes, &s.blocks) {
		return product(s.blocks.Sum(m.cells), level)
	}
	var hi, lo uint64
	q.RunsOver(m.attributes, func(from, to int, weight int64) {
		var n int64
		for _, c := range m.cells[from:to] {
			n += c
		}
		h, l := bits.Mul64(uint64(n), uint64(weight))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	})
	return float128(hi, lo)
}

func product(n, weight int64) float64 { return float128(bits.Mul64(uint64(n), uint64(weight))) }

func float128(hi, lo uint64) float64 { return float64(float64(hi)*(1<<64)) + float64(lo) }

// table returns sums to answer a query from. To make a marginal takes as long as what it is made of
// is large, and pays off when as much has been added up without it.
func (s *sums) table(q *linear.Query) *marginal {
	attributes := q.Attributes()
	n := s.domain.Size(attributes)
	name := make([]byte, 0, 16)
	for _, a := range attributes {
		name = binary.AppendUvarint(name, uint64(a))
	}
	own := s.kept[string(name)]
	if own != nil && own.cells != nil {
		return own
	}
	// The smallest that has all attributes.
	from := s.tables[0]
	for _, m := range s.tables[1:] {
		if len(m.cells) < len(from.cells) && contains(m.attributes, attributes) {
			from = m
		}
	}
	if own == nil {
		own = &marginal{attributes: attributes}
		s.kept[string(name)] = own
	}
	own.went += q.Selected(from.attributes)
	if n > oneMarginal || n > s.room || n*2 > len(from.cells) || own.went < len(from.cells)/2 {
		return from
	}
	s.room -= n
	own.cells = sumOut(s.domain, from.attributes, from.cells, attributes)
	s.tables = append(s.tables, own)
	return own
}

// contains says whether all of some are among attributes.
func contains(attributes, some []int) bool {
	return !slices.ContainsFunc(some, func(a int) bool { return !slices.Contains(attributes, a) })
}

// sumOut sums a table over attributes up to one over part of them. It needs no memory besides.
func sumOut(d *linear.Domain, attributes []int, cells []int64, part []int) []int64 {
	// Neighbouring attributes that stay, or go, are one.
	var spans []span
	for _, a := range attributes {
		n, stays := len(d.Attributes()[a].Values), slices.Contains(part, a)
		if last := len(spans) - 1; last >= 0 && spans[last].stays == stays {
			spans[last].size *= n
		} else {
			spans = append(spans, span{n, stays})
		}
	}
	out := make([]int64, d.Size(part))
	addUp(spans, cells, out)
	return out
}

type span struct {
	size  int
	stays bool
}

func addUp(spans []span, cells, out []int64) {
	first := spans[0]
	switch {
	case len(spans) == 1 && first.stays:
		for i, c := range cells {
			out[i] += c
		}
		return
	case len(spans) == 1:
		for _, c := range cells {
			out[0] += c
		}
		return
	case len(spans) == 2 && first.stays:
		n := spans[1].size
		for i := range out {
			var sum int64
			for _, c := range cells[i*n : (i+1)*n] {
				sum += c
			}
			out[i] += sum
		}
		return
	case len(spans) == 2:
		for ; len(cells) > 0; cells = cells[len(out):] {
			for i, c := range cells[:len(out)] {
				out[i] += c
			}
		}
		return
	}
	n, m := len(cells)/first.size, len(out)
	if first.stays {
		m /= first.size
	}
	for i := range first.size {
		to := out
		if first.stays {
			to = out[i*m : (i+1)*m]
		}
		addUp(spans[1:], cells[i*n:(i+1)*n], to)
	}
}
