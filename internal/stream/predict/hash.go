package predict

// mix is splitmix64: public, and the same everywhere. It makes members of an ensemble differ, and
// is no source of noise.
func mix(seed, i uint64) uint64 {
	z := seed*0xd1342543de82ef95 + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// normal is about a standard normal number: the sum of twelve uniform ones, less 6.
func normal(seed, i uint64) float64 {
	sum := -6.0
	for k := range uint64(3) {
		h := mix(seed+k, i)
		for range 4 {
			sum += float64(h&0xffff) / 65536
			h >>= 16
		}
	}
	return sum
}
