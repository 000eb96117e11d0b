package linear

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// canonical brings the product of a scale and of tables into the form that the package comment
// describes.
func (d *Domain) canonical(steps, scale int64, tables []table) (int64, []table, error) {
	var parts []table
	for _, t := range tables {
		g, p := d.split(t)
		if g == 0 {
			return 0, nil, nil
		}
		scale = mulCapped(scale, g, steps)
		parts = append(parts, p...)
	}
	// Tables that share attributes are one table, and may fall apart differently then.
	var out []table
	for _, cluster := range clusters(parts) {
		if len(cluster) == 1 {
			out = append(out, cluster[0]) // split above
			continue
		}
		joint, err := d.join(steps, cluster)
		if err != nil {
			return 0, nil, err
		}
		g, p := d.split(joint)
		if g == 0 {
			return 0, nil, nil
		}
		scale = mulCapped(scale, g, steps)
		out = append(out, p...)
	}
	heaviest := scale
	for _, t := range out {
		heaviest = mulCapped(heaviest, slices.Max(t.weights), steps)
	}
	if heaviest > steps {
		return 0, nil, fmt.Errorf("%w: the product of its factors has weights above %d", ErrQuery, steps)
	}
	slices.SortFunc(out, func(a, b table) int { return a.attributes[0] - b.attributes[0] })
	return scale, out, nil
}

// clusters groups tables that share attributes, directly or by way of others.
func clusters(tables []table) [][]table {
	var out [][]table
	for _, t := range tables {
		merged := []table{t}
		var apart [][]table
		for _, c := range out {
			if slices.ContainsFunc(c, func(o table) bool { return overlap(o.attributes, t.attributes) }) {
				merged = append(merged, c...)
			} else {
				apart = append(apart, c)
			}
		}
		out = append(apart, merged)
	}
	return out
}

func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(x int) bool { return slices.Contains(b, x) })
}

// split returns the greatest common divisor of a table and its finest independent groups, without
// those that weigh all alike. The divisor of a table of zeros is 0.
func (d *Domain) split(t table) (int64, []table) {
	weights, g := divide(t.weights)
	if g == 0 {
		return 0, nil
	}
	t.weights = weights
	var out []table
	// One attribute after the other that does not depend on the rest. This is all there is to do
	// for conjunctions, and exact.
	for i := 0; i < len(t.attributes) && len(t.attributes) > 1; {
		one := t.attributes[i : i+1]
		rest := slices.Delete(slices.Clone(t.attributes), i, i+1)
		a, b, ok := d.halves(t, one, rest)
		if !ok {
			i++
			continue
		}
		out = append(out, a)
		// What is left had no attribute before i that was independent of the rest, and has none
		// now: it is a factor of the same table.
		t = b
	}
	out = append(out, d.blocks(t)...)
	return g, slices.DeleteFunc(out, func(t table) bool { return len(t.weights) == 1 || slices.Min(t.weights) == slices.Max(t.weights) })
}

// halves writes a table, whose greatest common divisor is 1, as a product of tables over two parts
// of its attributes, if it is one.
func (d *Domain) halves(t table, one, two []int) (a, b table, ok bool) {
	at := slices.IndexFunc(t.weights, func(w int64) bool { return w != 0 })
	pivot := t.weights[at]
	x, y := d.project(t, one, at), d.project(t, two, at)
	ones, twos := d.indexInto(t.attributes, one), d.indexInto(t.attributes, two)
	for i, w := range t.weights {
		// Weights are at most MaxSteps, so products fit.
		if w*pivot != x[ones[i]]*y[twos[i]] {
			return a, b, false
		}
	}
	x, _ = divide(x)
	y, _ = divide(y)
	return table{slices.Clone(one), x}, table{slices.Clone(two), y}, true
}

// blocks finds the finest partition where every attribute depends on some others, which takes at
// least four attributes to be more than one block.
//
// As a polynomial in one variable for every value of every attribute the table has an attribute at
// most once in every term, so it factors into polynomials over parts of the attributes. Attributes
// i and j are in different irreducible factors where F(a,b) F(a',b') = F(a,b') F(a',b) for all
// their values, F(a,b) being the coefficient of a and b, a polynomial in the rest (Shpilka and
// Volkovich 2010). These are compared at a point that a hash chooses, modulo a prime. Equal
// polynomials are equal there, so what belongs apart is never kept together; the other mistake is
// seen by multiplying out, and leaves the table in one piece.
func (d *Domain) blocks(t table) []table {
	if len(t.attributes) < 4 {
		return []table{t}
	}
	var parts [][]int
	for _, a := range t.attributes {
		k := slices.IndexFunc(parts, func(p []int) bool { return !d.separate(t, p[0], a) })
		if k < 0 {
			parts = append(parts, []int{a})
		} else {
			parts[k] = append(parts[k], a)
		}
	}
	var out []table
	rest := t
	for _, p := range parts[:len(parts)-1] {
		others := slices.DeleteFunc(slices.Clone(rest.attributes), func(a int) bool { return slices.Contains(p, a) })
		a, b, ok := d.halves(rest, p, others)
		if !ok {
			return []table{t}
		}
		out, rest = append(out, a), b
	}
	return append(out, rest)
}

func (q *Query) digest() string {
	text := make([]byte, 0, 256)
	text = append(text, "linear 1\n"...)
	text = binary.AppendUvarint(text, uint64(q.steps))
	text = binary.AppendUvarint(text, uint64(q.scale))
	text = binary.AppendUvarint(text, uint64(len(q.groups)))
	for _, g := range q.groups {
		text = binary.AppendUvarint(text, uint64(len(g.attributes)))
		for _, a := range g.attributes {
			text = binary.AppendUvarint(text, uint64(a))
		}
		// The number of weights follows from the domain.
		for _, w := range g.weights {
			text = binary.AppendUvarint(text, uint64(w))
		}
	}
	sum := sha256.Sum256(text)
	return string(sum[:])
}

const mersennePrime = 1<<61 - 1

func mulMod(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	// 2^64 is 8 modulo the prime.
	s := lo&mersennePrime + (lo>>61 | hi<<3)
	if s >= mersennePrime {
		s -= mersennePrime
	}
	return s
}

func addMod(a, b uint64) uint64 {
	s := a + b
	if s >= mersennePrime {
		s -= mersennePrime
	}
	return s
}

// hashPoint returns the coordinate of a value of an attribute: splitmix64, which is public and
// always the same.
func hashPoint(attribute, value int) uint64 {
	z := uint64(attribute+1)*0x9e3779b97f4a7c15 + uint64(value)*0xd1342543de82ef95
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z ^ z>>31) % mersennePrime
}

// separate says whether two attributes of a table are in different irreducible factors of it, as
// far as one point shows.
func (d *Domain) separate(t table, i, j int) bool {
	sums := make([]uint64, len(t.weights))
	for k, w := range t.weights {
		sums[k] = uint64(w)
	}
	// Every other attribute is summed out, from the last to the first, so that what is left shrinks
	// quickly.
	inner := 1
	for k := len(t.attributes) - 1; k >= 0; k-- {
		a := t.attributes[k]
		n := d.size(a)
		if a == i || a == j {
			inner *= n
			continue
		}
		outer := len(sums) / (n * inner)
		for o := range outer {
			for x := range inner {
				var s uint64
				for c := range n {
					s = addMod(s, mulMod(sums[(o*n+c)*inner+x], hashPoint(a, c)))
				}
				sums[o*inner+x] = s
			}
		}
		sums = sums[:outer*inner]
	}
	// Rank one: every row is a multiple of a row that is not 0.
	columns := d.size(max(i, j))
	pivot := -1
	for k, s := range sums {
		if s != 0 {
			pivot = k
			break
		}
	}
	if pivot < 0 {
		return true
	}
	row, column := pivot/columns*columns, pivot%columns
	for k, s := range sums {
		if mulMod(s, sums[pivot]) != mulMod(sums[row+k%columns], sums[k/columns*columns+column]) {
			return false
		}
	}
	return true
}
