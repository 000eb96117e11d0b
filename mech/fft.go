package mech

import (
	"math"
	"math/bits"
)

// transform is the discrete Fourier transform of a vector whose length is a
// power of two, in place: Cooley and Tukey's, radix two. Sums need it for a few
// vectors of a fixed kind only, with a proven error, so we do not import one.
//
// Error: with roots of unity that are within 2u of the true ones, the result is
// within 8 u log2(n) of itself in the 2-norm (Higham 2002, Theorem 24.2, u =
// 2^-53); transformError allows twice that.
func transform(x []complex128) {
	n := len(x)
	shift := 64 - uint(bits.TrailingZeros(uint(n)))
	for i := range x {
		if j := int(bits.Reverse64(uint64(i)) >> shift); n > 1 && i < j {
			x[i], x[j] = x[j], x[i]
		}
	}
	roots := make([]complex128, n/2)
	for i := range roots {
		sin, cos := math.Sincos(-2 * math.Pi * float64(i) / float64(n))
		roots[i] = complex(cos, sin)
	}
	for size := 2; size <= n; size *= 2 {
		half, step := size/2, n/size
		for start := 0; start < n; start += size {
			low, high := x[start:start+half], x[start+half:start+size]
			for i := range low {
				t := high[i] * roots[i*step]
				low[i], high[i] = low[i]+t, low[i]-t
			}
		}
	}
}

func transformError(n int) float64 { return 16 * float64(bits.Len(uint(n))) * 0x1p-53 }
