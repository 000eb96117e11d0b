package mech

import (
	"math"
	"slices"
)

// search moves cells of a rounded table by one, so that its marginals are near those of the table
// that was rounded.
type search struct {
	places [][]int     // for each different marginal, the place of each cell
	off    [][]float64 // by how much rounding has moved it
	of     []int       // which of them each set is
	moved  []int8
}

func newSearch(m *Residuals, off []float64) *search {
	s := &search{moved: make([]int8, len(off))}
	var known [][]int
	for _, set := range m.of.Sets {
		i := slices.IndexFunc(known, func(k []int) bool { return slices.Equal(k, set) })
		if i < 0 {
			i = len(known)
			known = append(known, set)
			places, sums := m.table.places(set), make([]float64, m.table.over(set).cells())
			for cell, at := range places {
				sums[at] += off[cell]
			}
			s.places, s.off = append(s.places, places), append(s.off, sums)
		}
		s.of = append(s.of, i)
	}
	return s
}

// sweeps is how often all cells are looked at: a few are enough, because each move makes the sum of
// squares smaller. mostPairs is how many pairs of cells are worth it.
const (
	sweeps    = 64
	mostPairs = 1 << 17
)

// run returns by how much each cell is moved.
func (s *search) run(t table) []int8 {
	for range sweeps {
		if !s.single() && !s.pairs(t) {
			break
		}
	}
	return s.moved
}

// single moves cells one by one. A move by d adds 2 d off + 1 to the square at each of the
// marginals' cells that the cell is in.
func (s *search) single() (moved bool) {
	half := float64(len(s.places)) / 2
	for cell := range s.moved {
		sum := 0.0
		for i, places := range s.places {
			sum += s.off[i][places[cell]]
		}
		if math.Abs(sum) <= half+1e-9 {
			continue
		}
		by := int8(1)
		if sum > 0 {
			by = -1
		}
		moved = s.move(cell, by) || moved
	}
	return moved
}

// pairs moves one up and one down of two cells that differ in one attribute, which leaves the
// marginals without it as they are, and adds 2 (up - down) + 2 to the squares of each other.
func (s *search) pairs(t table) (moved bool) {
	line := 1
	for axis := len(t.sizes) - 1; axis >= 0; axis-- {
		size := t.sizes[axis]
		if len(s.moved)*size > mostPairs {
			line *= size
			continue
		}
		for cell := range s.moved {
			for other := cell + line; other/(line*size) == cell/(line*size); other += line {
				apart, sets := 0.0, 0.0
				for i, places := range s.places {
					if a, b := places[cell], places[other]; a != b {
						apart += s.off[i][a] - s.off[i][b]
						sets++
					}
				}
				switch {
				case apart > sets+1e-9:
					moved = s.move(cell, -1) && s.move(other, 1) || moved
				case apart < -sets-1e-9:
					moved = s.move(cell, 1) && s.move(other, -1) || moved
				}
			}
		}
		line *= size
	}
	return moved
}

// move moves a cell, and never far.
func (s *search) move(cell int, by int8) bool {
	if s.moved[cell] > 100 || s.moved[cell] < -100 {
		return false
	}
	s.moved[cell] += by
	for i, places := range s.places {
		s.off[i][places[cell]] += float64(by)
	}
	return true
}
