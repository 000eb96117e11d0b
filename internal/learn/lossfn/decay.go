package lossfn

import (
	"math"
	"math/big"
)

// ln2/64 in two parts: the first has 33 bits, so that its products with whole numbers below 2^17
// are exact.
const (
	part    = 0x1.62e42fefp-7
	rest    = math.Ln2/64 - part
	inverse = 64 / math.Ln2
)

// table has e^(-j ln2/64) for j = 0..63. It is made from numbers of 128 bits and not written down,
// so that nobody has to believe it.
var table = func() (t [64]float64) {
	for j := range t {
		t[j], _ = root64(j).Float64()
	}
	return t
}()

// root64 is 2^(-j/64), within 2^-100: square roots of 1/2, six deep, and products of them.
func root64(j int) *big.Float {
	out := big.NewFloat(1).SetPrec(128)
	root := big.NewFloat(0.5).SetPrec(128)
	for bit := 32; bit > 0; bit /= 2 {
		root = new(big.Float).SetPrec(128).Sqrt(root) // 2^-(bit/64)
		if j&bit != 0 {
			out.Mul(out, root)
		}
	}
	return out
}

// decay is e^-a for a >= 0, within 4 * 2^-53 in proportion where a is below 700, and 0 above. The
// package's comment has the proof.
func decay(a float64) float64 {
	if !(a < 700) {
		return 0
	}
	n := int(a*inverse + 0.5)
	k := float64(n)
	r := (a - k*part) - k*rest
	p := 1 - r*(1-r*(1./2-r*(1./6-r*(1./24-r*(1./120-r*(1./720))))))
	return table[n&63] * p * math.Float64frombits(uint64(1023-n>>6)<<52)
}
