package noise

import "math/big"

var bigOne = big.NewInt(1)

// span encloses a real number: lo <= 2^prec r <= hi, at a precision that its
// user knows. Every operation rounds outwards, so that the enclosure is a proof
// whatever the precision; a higher precision only makes it narrower.
type span struct{ lo, hi *big.Int }

// add adds t to s, in place.
func (s span) add(t span) {
	s.lo.Add(s.lo, t.lo)
	s.hi.Add(s.hi, t.hi)
}

func (s span) clone() span {
	return span{new(big.Int).Set(s.lo), new(big.Int).Set(s.hi)}
}

// scale multiplies s, in place, by another number that is not negative. The
// scratch saves memory, which is what costs most here.
func (s span) scale(t span, prec uint, scratch *big.Int) {
	s.lo.Rsh(scratch.Mul(s.lo, t.lo), prec)
	s.hi.Rsh(scratch.Mul(s.hi, t.hi), prec)
	s.hi.Add(s.hi, bigOne)
}

// upRsh divides x by 2^n in place and rounds up, to the next integer that is
// larger.
func upRsh(x *big.Int, n uint) *big.Int {
	x.Rsh(x, n)
	return x.Add(x, bigOne)
}

// expSpan encloses exp(-num/den) for num >= 0 and den > 0.
//
// The argument is halved until it is below 2^-8, the alternating series is
// summed, and the result is squared as often. With y the halved argument,
// Y = floor(2^q y), and all in units of 2^-q:
//
//   - A term is the previous one times Y/n, rounded down twice, so its error e
//     becomes at most (e/256 + 1)/n + 1, which stays below 3. The series
//     alternates and falls, so that what follows the last term that is not zero is
//     at most the next term, and that is below 3 as well. With n-1 terms summed the sum is
//     within 3n of exp(-Y).
//   - y is above Y by less than 1 unit, so exp(-y) is below exp(-Y) by less than 1.
//
// The guard bits make the result about as narrow as prec allows. They have no
// part in its being an enclosure.
func expSpan(num, den *big.Int, prec uint) span {
	if num.Sign() == 0 {
		e := new(big.Int).Lsh(bigOne, prec)
		return span{e, new(big.Int).Set(e)}
	}
	size := num.BitLen() - den.BitLen() + 1 // num/den < 2^size
	if size > 64 || new(big.Int).Mul(den, new(big.Int).SetUint64(uint64(prec))).Cmp(num) <= 0 {
		return span{new(big.Int), big.NewInt(1)} // num/den >= prec, and exp(-prec) < 2^-prec
	}
	halvings := uint(max(size, 0) + 8)
	q := prec + halvings + 16
	y := new(big.Int).Lsh(num, q-halvings)
	y.Quo(y, den)

	term := new(big.Int).Lsh(bigOne, q)
	sum := new(big.Int).Set(term)
	n := int64(1)
	for ; ; n++ {
		term.Mul(term, y).Rsh(term, q)
		term.Quo(term, big.NewInt(n))
		if term.Sign() == 0 {
			break
		}
		if n%2 == 1 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
	}
	slack := big.NewInt(3 * n)
	hi := new(big.Int).Add(sum, slack)
	lo := sum.Sub(sum, slack.Add(slack, bigOne))
	if lo.Sign() < 0 {
		lo.SetInt64(0)
	}
	e := span{lo, hi}
	for range halvings {
		e.scale(e, q, term)
	}
	return span{e.lo.Rsh(e.lo, q-prec), upRsh(e.hi, q-prec)}
}
