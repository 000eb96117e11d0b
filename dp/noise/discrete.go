package noise

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// Source is a stream of random bits. It is not safe for concurrent use and must
// not be copied: every goroutine makes its own with [NewSource].
type Source = entropy.Source

// NewSource returns a Source of the operating system's randomness. Where the system has none the
// program ends (see crypto/rand.Read), because noise made of anything else would protect nobody.
func NewSource() *Source { return entropy.New() }

// Laplace is the discrete Laplace distribution, P(k) ~ exp(-|k|/b) on the integers, known as the
// two-sided geometric distribution (Ghosh, Roughgarden, Sundararajan 2009). It does not change and
// is safe for concurrent use with different Sources.
type Laplace struct {
	scale *big.Rat
	l     *lattice
}

// NewLaplace returns the discrete Laplace distribution with scale b, from 2^-20 to 2^40.
func NewLaplace(scale *big.Rat) (*Laplace, error) {
	if scale == nil || !inRange(scale, -20, 40) {
		return nil, fmt.Errorf("%w: the scale of Laplace noise must be from 2^-20 to 2^40, and is %s; choose another granularity",
			ErrScale, shortDecimal(scale))
	}
	b := new(big.Rat).Set(scale)
	shift := max(0, floorLog2(b)-3) // W = 2^shift is at most b/8, and above b/16
	return &Laplace{b, newLattice(1, b.Denom(), b.Num(), uint(shift))}, nil
}

func (l *Laplace) Draw(src *Source) int64 { return l.l.draw(sourceChoices{src}) }

func (l *Laplace) Fill(src *Source, dst []int64) {
	for i := range dst {
		dst[i] = l.l.draw(sourceChoices{src})
	}
}

func (l *Laplace) Scale() *big.Rat { return new(big.Rat).Set(l.scale) }

// Variance returns the variance, 2q/(1-q)^2 with q = exp(-1/b), for reports: it
// is a rounded number and decides nothing. It is computed as
// 1/(2 sinh^2(1/(2b))), which loses no digits where q is close to 1.
func (l *Laplace) Variance() float64 {
	b, _ := l.scale.Float64()
	s := math.Sinh(1 / (2 * b))
	return 1 / (2 * s * s)
}

// Gaussian is the discrete Gaussian distribution, P(k) ~ exp(-k^2/(2 sigma^2)) on
// the integers (Canonne, Kamath, Steinke 2020, Definition 1). It does not change
// and is safe for concurrent use with different Sources.
type Gaussian struct {
	sigma2 *big.Rat
	l      *lattice
}

// NewGaussian returns the discrete Gaussian distribution with the parameter
// sigma^2, from 2^-40 to 2^80. The variance is below sigma^2, and hardly so from
// sigma = 1 on (Canonne, Kamath, Steinke 2020).
func NewGaussian(sigma2 *big.Rat) (*Gaussian, error) {
	if sigma2 == nil || !inRange(sigma2, -40, 80) {
		return nil, fmt.Errorf("%w: the sigma^2 of Gaussian noise must be from 2^-40 to 2^80, and is %s; choose another granularity",
			ErrScale, shortDecimal(sigma2))
	}
	s := new(big.Rat).Set(sigma2)
	// W = 2^shift is at most sigma/8, and above sigma/16: 64 W^2 <= sigma^2 < 256 W^2.
	shift := max(0, (floorLog2(s)-6)>>1)
	return &Gaussian{s, newLattice(2, s.Denom(), new(big.Int).Lsh(s.Num(), 1), uint(shift))}, nil
}

func (g *Gaussian) Draw(src *Source) int64 { return g.l.draw(sourceChoices{src}) }

func (g *Gaussian) Fill(src *Source, dst []int64) {
	for i := range dst {
		dst[i] = g.l.draw(sourceChoices{src})
	}
}

func (g *Gaussian) Sigma2() *big.Rat { return new(big.Rat).Set(g.sigma2) }

// Variance returns the variance, for reports: it is a rounded number and decides nothing. From
// sigma^2 = 4 on it differs from sigma^2 by a share of less than 1e-30, because the Poisson sum of
// the distribution has its next term at exp(-2 pi^2 sigma^2).
func (g *Gaussian) Variance() float64 {
	s, _ := g.sigma2.Float64()
	if s >= 4 {
		return s
	}
	total, squares := 1.0, 0.0
	for k := 1.0; k < 40; k++ {
		w := 2 * math.Exp(-k*k/(2*s))
		total += w
		squares += k * k * w
	}
	return squares / total
}

// Geometric is the geometric distribution, P(k) ~ exp(-k/b) on 0, 1, 2, ...: one side of
// [Laplace]. It does not change and is safe for concurrent use with different Sources.
type Geometric struct{ two *Laplace }

// NewGeometric returns the geometric distribution with scale b, from 2^-20 to 2^40.
func NewGeometric(scale *big.Rat) (*Geometric, error) {
	two, err := NewLaplace(scale)
	if err != nil {
		return nil, err
	}
	return &Geometric{two}, nil
}

func (g *Geometric) Draw(src *Source) int64 { return g.draw(sourceChoices{src}) }

// A Laplace draw that is not negative is geometric: given that k >= 0, P(k) is in proportion to
// exp(-k/b), 0 included. More than half of all draws are, so how long it takes depends on coins and
// on nothing else. To fold the negative ones over would count zero once and the others twice.
func (g *Geometric) draw(c choices) int64 {
	for {
		if k := g.two.l.draw(c); k >= 0 {
			return k
		}
	}
}

func (g *Geometric) Scale() *big.Rat { return g.two.Scale() }

// Sharpened makes Laplace noise of a smaller scale out of a draw of a larger one, such that the two
// together tell no more than the smaller one alone.
//
// Theorem. Let X1 be discrete Laplace noise of scale b1 and X2 the draw that is made of it here, of
// scale b2 < b1. Then X2 is discrete Laplace noise of scale b2, and X1 = X2 + M with an M that is
// independent of X2. So y + X1 is a function of y + X2 and of coins, for every number y.
//
// Proof. Let a = exp(-1/b1), and call a number geometric at a if it is k with probability (1 - a)
// a^k. Discrete Laplace noise at a is G - H for independent G and H that are geometric at a.
// Given G - H = x, the pair is (max(x, 0) + m, max(-x, 0) + m) with a probability in proportion
// to a^(abs(x) + 2m), so m is geometric at a^2 = exp(-2/b1), whatever x is: this is how the pair
// is drawn back. Now let J be geometric at c = exp(-(1/b2 - 1/b1)), independent of G. At least k
// are both with probability a^k c^k, so min(G, J) is geometric at a c = exp(-1/b2); and how far
// the larger one is above the smaller, and which it is, does not depend on min(G, J), because
// both forget: given that both are at least k, what they are above k has the law that they began
// with. So G - min(G, J) is independent of min(G, J). The same for H with a J of its own. X2 is
// min(G, J) - min(H, J'), and M what is left.
//
// It does not change and is safe for concurrent use with different Sources.
type Sharpened struct{ pair, limit *Geometric }

// errNotSmaller is returned where there is nothing to sharpen: the second scale has to be the
// smaller.
var errNotSmaller = errors.New("the second scale is not smaller than the first")

// NewSharpened returns how a draw of the first scale becomes one of the second.
func NewSharpened(from, to *big.Rat) (*Sharpened, error) {
	if to.Sign() <= 0 || from.Cmp(to) <= 0 {
		return nil, errNotSmaller
	}
	pair, err := NewGeometric(new(big.Rat).Quo(from, big.NewRat(2, 1)))
	if err != nil {
		return nil, err
	}
	scale := new(big.Rat).Mul(from, to)
	thin, err := NewGeometric(scale.Quo(scale, new(big.Rat).Sub(from, to)))
	return &Sharpened{pair, thin}, err
}

// Coins are what one of them draws. They do not depend on what is sharpened.
type Coins struct{ pair, left, right int64 }

// Draw draws the coins of one of them.
func (r *Sharpened) Draw(src *Source) Coins {
	return Coins{r.pair.Draw(src), r.limit.Draw(src), r.limit.Draw(src)}
}

// Sharpen turns a draw of the first scale into one of the second.
func (c Coins) Sharpen(x int64) int64 {
	left, right := max(x, 0), max(-max(x, -math.MaxInt64), 0)
	return min(addUpToMax(left, c.pair), c.left) - min(addUpToMax(right, c.pair), c.right)
}

// addUpToMax adds two numbers that are not negative, up to the largest there is. No draw of a scale
// that is allowed comes near it.
func addUpToMax(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// ErrScale is returned when a distribution is asked for that is narrower or wider
// than this package draws.
var ErrScale = errors.New("noise: scale out of range")

// inRange reports whether 2^lo <= x <= 2^hi.
func inRange(x *big.Rat, lo, hi int) bool {
	if x.Sign() <= 0 {
		return false
	}
	e := floorLog2(x)
	return e >= lo && (e < hi || e == hi && x.Cmp(powerOfTwo(hi)) == 0)
}

// floorLog2 returns the largest e with 2^e <= x, for x > 0.
func floorLog2(x *big.Rat) int {
	// num is in [2^(n-1), 2^n) and den in [2^(d-1), 2^d), so x is in (2^(n-d-1), 2^(n-d+1)).
	e := x.Num().BitLen() - x.Denom().BitLen()
	if x.Cmp(powerOfTwo(e)) < 0 {
		e--
	}
	return e
}

func powerOfTwo(e int) *big.Rat {
	p := new(big.Int).Lsh(bigOne, uint(max(e, -e)))
	if e < 0 {
		return new(big.Rat).SetFrac(bigOne, p)
	}
	return new(big.Rat).SetInt(p)
}

// shortDecimal writes a number in few digits.
func shortDecimal(x *big.Rat) string {
	if x == nil {
		return "missing"
	}
	return new(big.Float).SetPrec(64).SetRat(x).Text('g', 10)
}
