package noise

import (
	"fmt"
	"math/big"
)

// Reals is a vector of real random numbers, of which as many digits are drawn as
// somebody asks for. The numbers are all there from the beginning, in the sense that
// nothing anybody asks changes them: a question only makes more of their digits
// known. It is not safe for concurrent use, and shares its Source with nobody, or
// else the digits depend on who asks first.
//
// It prints as [noise]: with it and an answer one has what the noise was added to.
type Reals struct {
	src     *Source
	normals []normal
	// steps are exponential numbers, whose sum is the length of a radial vector. There are
	// none where the normal numbers are what was asked for.
	steps []positive
	words int // so many words of every number are drawn at least
}

// NewNormals draws n independent numbers of density exp(-x^2/2)/sqrt(2 pi).
func NewNormals(src *Source, n int) *Reals {
	r := &Reals{src: src, normals: make([]normal, n)}
	r.drawNormals(&drawn{src: src})
	return r
}

func (r *Reals) drawNormals(c *drawn) {
	for i := range r.normals {
		z := newNormal(c)
		z.part = z.part.clone()
		r.normals[i] = z
	}
}

// Len returns how many numbers there are.
func (r *Reals) Len() int { return len(r.normals) }

// Format hides the numbers.
func (*Reals) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[noise]") }

// Approximate returns every number with an error of at most 2^-bits. Asked again, it
// returns approximations of the same numbers, whatever was asked in between.
func (r *Reals) Approximate(bits uint) []*big.Float {
	for {
		if out, ok := r.middles(bits); ok {
			return out
		}
		r.extend()
	}
}

// middles returns the middle of what every number is known to lie in, where no such
// interval is longer than 2^(1-bits).
func (r *Reals) middles(bits uint) ([]*big.Float, bool) {
	if r.prec() < bits {
		return nil, false
	}
	known, ok := r.magnitudes()
	if !ok {
		return nil, false
	}
	out := make([]*big.Float, len(known))
	longest := new(big.Int).Lsh(bigOne, r.prec()-bits+1)
	gap := new(big.Int)
	for i, k := range known {
		if gap.Sub(k.hi, k.lo).Cmp(longest) > 0 {
			return nil, false
		}
		twice := gap.Add(k.lo, k.hi)
		// As many bits as the integer has: nothing is rounded here.
		f := new(big.Float).SetPrec(uint(max(64, twice.BitLen()))).SetInt(twice)
		f.SetMantExp(f, -int(r.prec())-1)
		if r.normals[i].minus {
			f.Neg(f)
		}
		out[i] = f
	}
	return out, true
}

// prec is how many binary digits of every number are drawn.
func (r *Reals) prec() uint { return uint(r.words) * wordSize }

// extend draws one more word of every number that does not have it already, in their
// order. The order of the digits in the Source therefore is the same whoever asks for
// what, and so are the numbers.
func (r *Reals) extend() {
	for _, x := range r.steps {
		x.part.at(r.words, r.src)
	}
	for _, z := range r.normals {
		z.part.at(r.words, r.src)
	}
	r.words++
}

// magnitudes encloses the absolute values of the numbers, in units of 2^-prec, or
// says that there are not yet digits enough to do so.
func (r *Reals) magnitudes() ([]span, bool) {
	normals := make([]span, len(r.normals))
	for i, z := range r.normals {
		normals[i] = z.enclose(r.words)
	}
	if r.steps == nil {
		return normals, true
	}
	length := span{new(big.Int), new(big.Int)}
	for _, x := range r.steps {
		length.add(x.enclose(r.words))
	}
	return scaleTo(length, normals)
}

// enclose encloses the number as its first words tell it, in units of its last digit.
func (p positive) enclose(words int) span {
	lo := new(big.Int).SetUint64(p.whole)
	for i := range words {
		lo.Lsh(lo, wordSize)
		lo.Or(lo, new(big.Int).SetUint64(p.part.at(i, nil)))
	}
	return span{lo, new(big.Int).Add(lo, bigOne)}
}
