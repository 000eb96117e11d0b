package linear

import (
	"math/bits"
	"slices"
)

// table is a factor on its way to the canonical form. Its weights are at most steps, or steps + 1,
// which stands for all that is more.
type table struct {
	attributes []int
	weights    []int64
}

func ofBits(weights []int64) bool {
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

// spread returns, for every entry of a table over attributes, the place of its values in a table
// over part of them.
func (d *Domain) spread(attributes, part []int) []int32 {
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
		if n *= d.size(a); n > MaxTable {
			return table{}, tooLarge(d.Size(all))
		}
	}
	out := table{all, make([]int64, n)}
	for i := range out.weights {
		out.weights[i] = 1
	}
	for _, t := range tables {
		for i, o := range d.spread(all, t.attributes) {
			out.weights[i] = capped(out.weights[i], t.weights[o], most)
		}
	}
	return out, nil
}

// capped is a product, or most + 1 where it is more than most.
func capped(a, b, most int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi > 0 || lo > uint64(most) {
		return most + 1
	}
	return int64(lo)
}
