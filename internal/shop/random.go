package shop

// rowRandom is splitmix64. It makes up customers and never noise, so it may be
// predictable, and has to be.
type rowRandom struct{ state uint64 }

// newRowRandom returns the randomness of one row. The seed is mixed before the number is added,
// because states that differ by little are the same sequence a few steps later.
func newRowRandom(seed uint64, row int) *rowRandom {
	return &rowRandom{mixBits(mixBits(seed) + uint64(row))}
}

func mixBits(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rowRandom) below(n int) int {
	r.state += 0x9e3779b97f4a7c15
	return int(mixBits(r.state) % uint64(n))
}
