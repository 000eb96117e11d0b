package noise

import "math/bits"

// Uniform returns a number below n, each with probability exactly 1/n. It panics
// where n is zero, because then there is no such number.
//
// It draws as many bits as n-1 has and starts again where they are not below n.
// Every number below n is then one word out of equally many, which is the whole
// proof; less than two attempts are needed on average.
func Uniform(src *Source, n uint64) uint64 {
	if n == 0 {
		panic("noise: Uniform needs at least one number to choose from, and n is 0")
	}
	width := uint(bits.Len64(n - 1))
	for {
		if v := src.Bits(width); v < n {
			return v
		}
	}
}
