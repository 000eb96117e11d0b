package linear

import "math/bits"

// prime is 2^61 - 1.
const prime = 1<<61 - 1

func mulMod(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	// 2^64 is 8 modulo the prime.
	s := lo&prime + (lo>>61 | hi<<3)
	if s >= prime {
		s -= prime
	}
	return s
}

func addMod(a, b uint64) uint64 {
	s := a + b
	if s >= prime {
		s -= prime
	}
	return s
}

// point returns the coordinate of a value of an attribute: splitmix64, which is public and always
// the same.
func point(attribute, value int) uint64 {
	z := uint64(attribute+1)*0x9e3779b97f4a7c15 + uint64(value)*0xd1342543de82ef95
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z ^ z>>31) % prime
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
					s = addMod(s, mulMod(sums[(o*n+c)*inner+x], point(a, c)))
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
