package mech

import "math/big"

// table is the shape of cells: how many values each attribute has. The last changes fastest.
type table struct{ sizes []int }

func (t table) cells() int {
	n := 1
	for _, size := range t.sizes {
		n *= size
	}
	return n
}

// over is the shape of a marginal.
func (t table) over(axes []int) table {
	out := table{make([]int, len(axes))}
	for i, axis := range axes {
		out.sizes[i] = t.sizes[axis]
	}
	return out
}

// places says for each cell which cell of a marginal it is in.
func (t table) places(axes []int) []int {
	steps := make([]int, len(t.sizes)) // how far a step along an attribute goes in the marginal
	step := 1
	for i := len(axes) - 1; i >= 0; i-- {
		steps[axes[i]] = step
		step *= t.sizes[axes[i]]
	}
	out := make([]int, t.cells())
	digits := make([]int, len(t.sizes))
	at := 0
	for cell := range out {
		out[cell] = at
		for i := len(digits) - 1; i >= 0; i-- {
			digits[i]++
			at += steps[i]
			if digits[i] < t.sizes[i] {
				break
			}
			at -= digits[i] * steps[i]
			digits[i] = 0
		}
	}
	return out
}

// project replaces v by n P v, where n is the number of cells and P the projection of [Residuals]:
// along each attribute, the number of its values times each cell less the sum of the line.
func (t table) project(v []big.Int) {
	line, sum := 1, new(big.Int)
	for i := len(t.sizes) - 1; i >= 0; i-- {
		size := t.sizes[i]
		n := big.NewInt(int64(size))
		for block := 0; block < len(v); block += size * line {
			for start := block; start < block+line; start++ {
				sum.SetInt64(0)
				for at := start; at < start+size*line; at += line {
					sum.Add(sum, &v[at])
				}
				for at := start; at < start+size*line; at += line {
					v[at].Mul(&v[at], n).Sub(&v[at], sum)
				}
			}
		}
		line *= size
	}
}
