package noise

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// The enumeration computes the distribution of a sampler from the sampler. It runs draw once for
// every way the choices can come out and adds up the probabilities of the ways. The probabilities
// are not those of a formula but those of the production code: every choice is a monotone function
// of one uniform number, so it is enough to find, by bisection with crafted bits, where its outcome
// changes. TestFastAgreesWithExact checks that nothing but these changes happens between.

// fineBits is the number of digits to which changes are found.
const fineBits = 44

func shareOfFine(v uint64) float64 { return math.Ldexp(float64(v), -fineBits) }

// measure holds the measured probabilities of the choices of one lattice.
type measure struct {
	l      *lattice
	blocks []float64
	keep   map[[2]uint64]float64
}

var blocksOf sync.Map // what blocks weigh, by all of a lattice

func newMeasure(l *lattice) *measure {
	m := &measure{l: l, keep: map[[2]uint64]float64{}}
	// Several samplers stand on one lattice, which is the same where all of it is.
	key := fmt.Sprint(l.power, l.num, l.den, l.shift, l.step, l.table)
	if blocks, ok := blocksOf.Load(key); ok {
		m.blocks = blocks.([]float64)
		return m
	}
	defer func() { blocksOf.Store(key, m.blocks) }()
	at := func(v uint64) uint64 { return sourceChoices{sourceOf(v << (64 - fineBits))}.block(l) }
	ends := []uint64{0} // ends[h] is where block h begins
	guess := guessedEnds(l)
	var split func(lo, hi, hlo, hhi uint64)
	split = func(lo, hi, hlo, hhi uint64) {
		if hlo == hhi {
			return
		}
		if hi-lo == 1 {
			for range hhi - hlo {
				ends = append(ends, hi)
			}
			return
		}
		mid := lo + (hi-lo)/2
		// A guess that is right saves a dozen exact choices; one that is wrong only divides badly.
		if h := hlo + (hhi-hlo-1)/2; h < uint64(len(guess)) {
			if g := guess[h]; lo < g && g < hi {
				mid = g
			} else if g == hi {
				mid = max(lo+1, g-1)
			}
		}
		hmid := at(mid)
		if hmid < hlo || hmid > hhi {
			panic("the choice of a block is not monotone")
		}
		split(lo, mid, hlo, hmid)
		split(mid, hi, hmid, hhi)
	}
	last := uint64(1)<<fineBits - 1
	split(0, last, at(0), at(last))
	ends = append(ends, last+1)
	for h := range len(ends) - 1 {
		m.blocks = append(m.blocks, shareOfFine(ends[h+1]-ends[h]))
	}
	return m
}

// guessedEnds returns where blocks should end, which tells the search where to look first, and
// nothing else.
func guessedEnds(l *lattice) (out []uint64) {
	ends, total := l.blocks(96)
	for _, e := range ends {
		v := new(big.Int).Lsh(e.lo, fineBits)
		if v.Add(v.Quo(v, total.lo), bigOne); !v.IsUint64() {
			break
		}
		out = append(out, v.Uint64())
	}
	return out
}

// accept returns the measured probability of keeping u in block h.
func (m *measure) accept(h, u uint64) float64 {
	if p, ok := m.keep[[2]uint64{h, u}]; ok {
		return p
	}
	p := shareOfFine(bisect(0, func(src *Source) bool { return sourceChoices{src}.accept(m.l, h, u) }))
	m.keep[[2]uint64{h, u}] = p
	return p
}

// bisect returns how many of the numbers of fine digits, and some more that are given, a
// monotone decision is true for.
func bisect(then byte, decide func(*Source) bool) uint64 {
	lo, hi := uint64(0), uint64(1)<<fineBits // true below lo, false from hi on
	for lo < hi {
		mid := lo + (hi-lo)/2
		v := mid<<(64-fineBits) | uint64(then)>>7*(1<<(64-fineBits)-1)
		if decide(entropy.FromReader(&headReader{head: word(v), then: then})) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// walk is one way through the choices of a draw.
type walk struct {
	m      *measure
	script []int   // what to choose, as far as it is fixed
	ways   []int   // between how many, as far as we have come
	weight float64 // the probability of this way
	begun  bool
}

// drawAgain is thrown when a draw starts over. It does so knowing nothing of its first attempt, so
// all that the attempts that start over weigh is shared out in proportion.
type drawAgain struct{}

func (w *walk) choose(n int) int {
	i := len(w.ways)
	w.ways = append(w.ways, n)
	if i == len(w.script) {
		w.script = append(w.script, 0)
	}
	return w.script[i]
}

func (w *walk) digits(n uint) uint64 {
	w.weight = math.Ldexp(w.weight, -int(n))
	return uint64(w.choose(1 << n))
}

func (w *walk) block(*lattice) uint64 {
	if w.begun {
		panic(drawAgain{})
	}
	w.begun = true
	h := w.choose(len(w.m.blocks))
	w.weight *= w.m.blocks[h]
	return uint64(h)
}

func (w *walk) accept(_ *lattice, h, u uint64) bool {
	p := w.m.accept(h, u)
	if w.choose(2) == 0 {
		w.weight *= p
		return true
	}
	w.weight *= 1 - p
	return false
}

func enumerate(m *measure, draw func(choices) int64) map[int64]float64 {
	pmf := map[int64]float64{}
	kept := 0.0
	var script []int
	for {
		w := &walk{m: m, script: script, weight: 1}
		if k, ok := w.run(draw); ok {
			pmf[k] += w.weight
			kept += w.weight
		}
		// The next way is the next choice at the last place that has one.
		script = w.script[:len(w.ways)]
		i := len(script) - 1
		for i >= 0 && script[i]+1 == w.ways[i] {
			i--
		}
		if i < 0 {
			break
		}
		script = script[:i+1]
		script[i]++
	}
	for k := range pmf {
		pmf[k] /= kept
	}
	return pmf
}

func (w *walk) run(draw func(choices) int64) (k int64, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(drawAgain); !is {
				panic(r)
			}
			ok = false
		}
	}()
	return draw(w), true
}

// laplacePMF and gaussianPMF are the definitions, in floating point: right to
// about 1e-15 of their largest value.
func laplacePMF(b float64) func(int64) float64 {
	q := math.Exp(-1 / b)
	zero := -math.Expm1(-1/b) / (1 + q)
	return func(k int64) float64 { return zero * math.Exp(-math.Abs(float64(k))/b) }
}

func gaussianPMF(s2 float64) func(int64) float64 {
	total := 1.0
	for k := 1.0; k < 20+20*math.Sqrt(s2); k++ {
		total += 2 * math.Exp(-k*k/(2*s2))
	}
	return func(k int64) float64 { return math.Exp(-float64(k)*float64(k)/(2*s2)) / total }
}

// distance is the total variation between an enumerated distribution and a
// definition, counting what the enumeration missed.
func distance(pmf map[int64]float64, want func(int64) float64) float64 {
	sum, seen := 0.0, 0.0
	for k, p := range pmf {
		sum += math.Abs(p - want(k))
		seen += want(k)
	}
	return (sum + math.Abs(1-seen)) / 2
}

// closeEnough is the distance that an exact sampler keeps in the enumeration,
// which finds changes to 2^-44 and adds in floating point. It is smaller than the
// tail beyond the tables, about 2^-30, so that a tail cut off is a failure.
const closeEnough = 2e-11

type enumerated struct {
	name string
	l    *lattice
	want func(int64) float64
}

func enumeratedLaplace(scale string) enumerated {
	d, err := NewLaplace(rat(scale))
	if err != nil {
		panic(err)
	}
	b, _ := rat(scale).Float64()
	return enumerated{"laplace " + scale, d.l, laplacePMF(b)}
}

func enumeratedGaussian(sigma2 string) enumerated {
	d, err := NewGaussian(rat(sigma2))
	if err != nil {
		panic(err)
	}
	s2, _ := rat(sigma2).Float64()
	return enumerated{"gaussian " + sigma2, d.l, gaussianPMF(s2)}
}

// TestEnumeration holds every sampler against its definition, on both sides of
// the scale where offsets begin, and at the narrow end.
func TestEnumeration(t *testing.T) {
	cases := []enumerated{
		enumeratedLaplace("1/1048576"), enumeratedLaplace("1/2"), enumeratedLaplace("1"), enumeratedLaplace("3.7"),
		enumeratedLaplace("15.99"), enumeratedLaplace("16"), enumeratedLaplace("100"),
		enumeratedGaussian("1/1099511627776"), enumeratedGaussian("1/4"), enumeratedGaussian("1"), enumeratedGaussian("4"),
		enumeratedGaussian("255.9"), enumeratedGaussian("256"), enumeratedGaussian("10000"),
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pmf := enumerate(newMeasure(c.l), c.l.draw)
			if d := distance(pmf, c.want); !(d < closeEnough) {
				t.Errorf("the sampler is %.3g from its definition in total variation", d)
			}
		})
	}
}

// TestVarianceFromEnumeration compares with figures computed to 17 digits from first principles.
func TestVarianceFromEnumeration(t *testing.T) {
	for _, c := range []struct {
		enumerated
		variance float64
	}{
		{enumeratedLaplace("1"), 1.8413471884155846},
		{enumeratedLaplace("10"), 199.83341663360945},
		{enumeratedLaplace("0.5"), 0.36203083048315523},
		{enumeratedGaussian("1"), 0.99999978876772808},
		{enumeratedGaussian("4"), 4.0},
		{enumeratedGaussian("0.25"), 0.21501267508813849},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			mean, square := 0.0, 0.0
			for k, p := range enumerate(newMeasure(c.l), c.l.draw) {
				mean += p * float64(k)
				square += p * float64(k) * float64(k)
			}
			if math.Abs(mean) > 1e-9 {
				t.Errorf("mean %g, want 0", mean)
			}
			if math.Abs(square/c.variance-1) > 1e-9 {
				t.Errorf("variance %.17g, want %.17g", square, c.variance)
			}
		})
	}
}

// TestPlantedBugs shows that the enumeration can fail: each of these samplers
// has one fault, and none of them passes.
func TestPlantedBugs(t *testing.T) {
	type sampler func(*lattice, choices) int64
	zeroSigned := func(l *lattice, c choices) int64 {
		for {
			if k := withSign(int64(c.block(l)), c.digits(1)); k != 0 || c.digits(1) == 0 {
				return k
			}
		}
	}
	tailCut := func(l *lattice, c choices) int64 {
		return l.draw(cutOff{c, uint64(len(l.table.bound) - 1)})
	}
	wide := map[string]sampler{
		"zero counted twice": planted{keepMinusZero: true}.draw,
		"offset off by one":  planted{offset: 1}.draw,
		"offset not weighed": planted{keepAll: true}.draw,
		"tail cut off":       tailCut,
	}
	narrow := map[string]sampler{
		"zero refused half the time": zeroSigned,
		"tail cut off":               tailCut,
	}
	for _, c := range []struct {
		enumerated
		bugs map[string]sampler
	}{
		{enumeratedLaplace("20"), wide},
		{enumeratedGaussian("400"), wide},
		{enumeratedLaplace("2"), narrow},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newMeasure(c.l)
			if d := distance(enumerate(m, c.l.draw), c.want); d >= closeEnough {
				t.Fatalf("without a bug the distance is %.3g", d)
			}
			for bug, draw := range c.bugs {
				d := distance(enumerate(m, func(ch choices) int64 { return draw(c.l, ch) }), c.want)
				if d < closeEnough {
					t.Errorf("%s: not caught, distance %.3g", bug, d)
				}
			}
			if len(c.l.table.bound) > 200 {
				return // what follows takes long there, and differs in nothing
			}
			// The rate is wrong by a part in a billion.
			rate := new(big.Rat).SetFrac(c.l.num, c.l.den)
			rate.Mul(rate, rat("1.000000001"))
			off := newLattice(c.l.power, rate.Num(), rate.Denom(), c.l.shift)
			if d := distance(enumerate(newMeasure(off), off.draw), c.want); d < closeEnough {
				t.Errorf("wrong rate: not caught, distance %.3g", d)
			}
			// One bound of the table is wrong by four units of 2^-32.
			bad := *c.l
			bad.table.bound = append([]uint32(nil), c.l.table.bound...)
			bad.table.bound[3] += 4
			bad.table.fill()
			if d := distance(enumerate(newMeasure(&bad), bad.draw), c.want); d < closeEnough {
				t.Errorf("wrong bound: not caught, distance %.3g", d)
			}
		})
	}
}

// planted is lattice.draw with faults to switch on.
type planted struct {
	keepMinusZero bool
	keepAll       bool
	offset        uint64
}

func (p planted) draw(l *lattice, c choices) int64 {
	for {
		h := c.block(l)
		v := c.digits(l.shift + 1)
		u, minus := v>>1, v&1
		if !p.keepAll && !c.accept(l, h, u) {
			continue
		}
		k := int64(h<<l.shift + u + p.offset)
		if k == 0 && minus == 1 && !p.keepMinusZero {
			continue
		}
		return withSign(k, minus)
	}
}

// cutOff refuses blocks from end on.
type cutOff struct {
	choices
	end uint64
}

func (c cutOff) block(l *lattice) uint64 {
	for {
		if h := c.choices.block(l); h < c.end {
			return h
		}
	}
}

// headReader is a stream of chosen bytes, and then one byte for ever. It counts what
// was read, so that a test can tell which way a decision took.
type headReader struct {
	head []byte
	then byte
	read int
}

func (f *headReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = f.then
		if f.read < len(f.head) {
			p[i] = f.head[f.read]
		}
		f.read++
	}
	return len(p), nil
}

var _ io.Reader = (*headReader)(nil)

// sourceOf returns a Source whose first 64 bits are v, followed by zeros: the number
// v 2^-64 itself.
func sourceOf(v uint64) *Source { return entropy.FromReader(&headReader{head: word(v)}) }

func word(v ...uint64) []byte {
	var b []byte
	for _, w := range v {
		b = binary.BigEndian.AppendUint64(b, w)
	}
	return b
}
