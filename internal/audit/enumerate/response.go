package enumerate

// Direct is the law of a report of k-ary randomized response: the own value with
// probability p, and each other one with q (Warner 1965 for two values; Kairouz,
// Bonawitz, Ramage 2016).
func Direct(p, q float64, size int, value int64) Law {
	out := map[int64]float64{}
	for i := range int64(size) {
		out[i] = q
		if i == value {
			out[i] = p
		}
	}
	return FromMap(out)
}

// Unary is the law of a report of unary encoding: a bit for each value, 1 with
// probability p for the own one and with q for another (Wang, Blocki, Li, Jha 2017).
// The outcome is the bits as a number.
func Unary(p, q float64, size int, value int64) Law {
	out := map[int64]float64{}
	for bits := range int64(1) << size {
		w := 1.0
		for i := range int64(size) {
			one := q
			if i == value {
				one = p
			}
			if bits>>i&1 == 0 {
				one = 1 - one
			}
			w *= one
		}
		out[bits] = w
	}
	return FromMap(out)
}

// Hashed is the law of which of two values a report of local hashing into g buckets
// supports: bit 0 for the value 0 and bit 1 for the value 1. They share a bucket for one
// hash function in g, and then the report tells nothing about which it was; otherwise it
// is direct encoding of the bucket. What a report supports is all that it tells about
// the two.
func Hashed(p float64, g int, value int64) Law {
	same := 1 / float64(g)
	lie := (1 - p) / float64(g-1) // each of the other buckets
	own, other := int64(1)<<value, int64(2)>>value
	return FromMap(map[int64]float64{
		3:     same * p,
		own:   (1 - same) * p,
		other: (1 - same) * lie,
		0:     same*(1-p) + (1-same)*lie*float64(g-2),
	})
}

// Hadamard is the law of a row out of so many, drawn uniformly, and the sign that the
// value has in it, turned with probability 1-p (Acharya, Sun, Zhang 2019). The outcome
// is twice the row plus the sign.
func Hadamard(p float64, rows, value int64) Law {
	out := map[int64]float64{}
	for row := range rows {
		sign := parity(row & value)
		out[2*row+sign] = p / float64(rows)
		out[2*row+1-sign] = (1 - p) / float64(rows)
	}
	return FromMap(out)
}

func parity(x int64) (sign int64) {
	for ; x > 0; x &= x - 1 {
		sign ^= 1
	}
	return sign
}
