package noise

import "math/big"

// prefix is a uniform number in [0, 1) as far as it has been drawn: it lies in
// [digits, digits+1] 2^-n, and nothing else about it exists yet. Drawing more
// digits later is therefore the same as having drawn them at once, and a decision
// made as soon as the digits allow is the decision of the whole number.
type prefix struct {
	digits *big.Int
	n      uint
}

func newPrefix(digits uint64, n uint) prefix {
	return prefix{new(big.Int).SetUint64(digits), n}
}

// extend draws as many digits again.
func (p *prefix) extend(src *Source) {
	for more := p.n; more > 0; {
		w := min(more, 64)
		p.digits.Lsh(p.digits, w)
		p.digits.Or(p.digits, new(big.Int).SetUint64(src.Bits(w)))
		p.n += w
		more -= w
	}
}
