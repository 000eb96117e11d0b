package noise

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// picked is a choice to test: a rate, gaps and counts.
type picked struct {
	rate         string
	gaps, counts []uint64
}

func (p picked) String() string { return fmt.Sprintf("rate %s, %v times %v", p.rate, p.gaps, p.counts) }

// want is the definition, in floating point.
func (p picked) want() []float64 {
	r, _ := rat(p.rate).Float64()
	least := uint64(math.MaxUint64)
	count := func(i int) float64 {
		if p.counts == nil {
			return 1
		}
		return float64(p.counts[i])
	}
	for i, g := range p.gaps {
		if count(i) > 0 {
			least = min(least, g)
		}
	}
	out, sum := make([]float64, len(p.gaps)), 0.0
	for i, g := range p.gaps {
		if count(i) > 0 {
			out[i] = count(i) * math.Exp(-r*float64(g-least))
			sum += out[i]
		}
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

type picker func(*Source, *big.Rat, []uint64, []uint64) int

// law measures the probability of each index from the production code: the choice is
// a monotone function of one uniform number, so that bisection with crafted bits finds
// where it changes. The bits that follow are not all zero, because a number that is
// exactly one half may be as close as exp(-2^60) to an end.
func (p picked) law(pick picker) []float64 {
	out := make([]float64, len(p.gaps))
	before := uint64(0)
	for i := range p.gaps {
		end := bisect(0x35, func(src *Source) bool { return pick(src, rat(p.rate), p.gaps, p.counts) <= i })
		out[i] = shareOfFine(end - before)
		before = end
	}
	return out
}

func variation(p, q []float64) float64 {
	sum := 0.0
	for i := range p {
		sum += math.Abs(p[i] - q[i])
	}
	return sum / 2
}

var picks = []picked{
	{"0.05", []uint64{0, 100, 440, 460}, nil},
	{"0.05", []uint64{1000, 1100, 1440, 1460}, nil},
	{"1", []uint64{0, 2}, nil},
	{"1/3", []uint64{7, 3, 3, 5, 4, 3, 9}, nil},
	{"0", []uint64{5, 0, 9}, nil},
	{"1/7", []uint64{0, 0, 0}, nil},
	{"2", []uint64{5}, nil},
	{"1/1099511627776", []uint64{0, 1 << 40, 1 << 41}, nil},
	{"1e-25", []uint64{0, math.MaxUint64, 1 << 63}, nil},
	{"1048576", []uint64{3, 4, 3}, nil},
	{"1", []uint64{0, 127, 128, 129, 1 << 60}, nil},
	{"1", []uint64{9, 0, 0, 7, 2, 0}, []uint64{1, 0, 3, 10000, 5, 0}},
	{"0.5", []uint64{0, 80, 84, 3}, []uint64{1, 1 << 60, 1 << 62, 12345}},
	{"1", []uint64{4, 7}, []uint64{math.MaxUint64 - 1, 1}},
}

func TestPick(t *testing.T) {
	for _, p := range picks {
		if d := variation(p.law(Pick), p.want()); !(d < closeEnough) {
			t.Errorf("%v: %.3g from the definition in total variation", p, d)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := picked{rate: fmt.Sprintf("%d/%d", 1+rng.IntN(100), 1+rng.IntN(1000))}
		for range 1 + rng.IntN(8) {
			p.gaps = append(p.gaps, rng.Uint64N(60))
			p.counts = append(p.counts, 1+rng.Uint64N(5))
		}
		if d := variation(p.law(Pick), p.want()); !(d < closeEnough) {
			t.Errorf("%v: %.3g from the definition in total variation", p, d)
		}
	}
}

// TestPickExact runs the interval arithmetic alone, with all 44 digits in its prefix.
func TestPickExact(t *testing.T) {
	exact := func(src *Source, r *big.Rat, gaps, counts []uint64) int {
		w := weigh(newRate(r), gaps, counts)
		return w.refine(src, newPrefix(src.Bits(32), 32))
	}
	for _, p := range picks {
		if d := variation(p.law(exact), p.want()); !(d < closeEnough) {
			t.Errorf("%v: %.3g from the definition in total variation", p, d)
		}
	}
}

// TestPickExactOnFewDigits gives the interval arithmetic all prefixes of six digits. It may
// decide where all numbers with that prefix are within one weight, and nowhere else.
func TestPickExactOnFewDigits(t *testing.T) {
	const digits = 6
	decided, left := 0, 0
	for _, p := range picks {
		w := weigh(newRate(rat(p.rate)), p.gaps, p.counts)
		for v := range uint64(1 << digits) {
			got, ok := w.findExact(newPrefix(v, digits))
			a, b := math.Ldexp(float64(v), -digits), math.Ldexp(float64(v+1), -digits)
			end := 0.0
			for i, q := range p.want() {
				begin := end
				end += q
				if ok && i == got && (a < begin-1e-12 || b > end+1e-12) {
					t.Errorf("%v: digits %06b are not all in %d", p, v, got)
				}
				if !ok && a > begin+1e-12 && b < end-1e-12 {
					t.Errorf("%v: digits %06b are all in %d", p, v, i)
				}
			}
			if ok {
				decided++
			} else {
				left++
			}
		}
	}
	if decided < 100 || left < 20 {
		t.Errorf("%d decided, %d left: this compares too little", decided, left)
	}
}

// TestPickFastAgreesWithExact compares what 64 digits decide in fixed point with
// the interval arithmetic on the same digits, next to every end: one unit of 2^-64 from
// it, some margins from it, and between.
func TestPickFastAgreesWithExact(t *testing.T) {
	decided, left := 0, 0
	for _, p := range picks {
		w := weigh(newRate(rat(p.rate)), p.gaps, p.counts)
		sum := 0.0
		for _, q := range p.want() {
			sum += q
			for _, d := range []int64{-1 << 40, -1 << 20, -1 << 12, -1 << 11, -1 << 10, -1 << 9, -100, -3, -1, 0, 1, 3, 100, 1 << 9,
				1 << 10, 1 << 11, 1 << 12, 1 << 20, 1 << 40} {
				v, _ := new(big.Float).SetMantExp(big.NewFloat(sum), 64).Int(nil)
				v.Add(v, big.NewInt(d))
				if !v.IsUint64() {
					continue
				}
				i, ok := w.find(v.Uint64())
				if !ok {
					left++
					continue
				}
				decided++
				for _, then := range []byte{0x01, 0xfe} {
					src := entropy.FromReader(&headReader{then: then})
					if want := w.refine(src, newPrefix(v.Uint64(), 64)); i != want {
						t.Errorf("%v: digits %x then %x: %d, exactly %d", p, v, then, i, want)
					}
				}
			}
		}
	}
	if decided < 100 || left < 20 {
		t.Errorf("%d decided, %d left to the exact arithmetic: this compares too little", decided, left)
	}
}

// TestPickEnds checks the slack: no end in fixed point is off by more.
func TestPickEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	all := append([]picked(nil), picks...)
	for range 100 {
		p := picked{rate: fmt.Sprintf("%d/%d", 1+rng.Int64N(1<<40), 1+rng.Int64N(1<<45))}
		for range 1 + rng.IntN(20) {
			p.gaps = append(p.gaps, rng.Uint64N(1<<rng.IntN(20)))
			p.counts = append(p.counts, 1+rng.Uint64N(1<<rng.IntN(50)))
		}
		all = append(all, p)
	}
	for _, p := range all {
		w := weigh(newRate(rat(p.rate)), p.gaps, p.counts)
		f := 127 - new(big.Int).SetUint64(w.size).BitLen()
		const prec = 320
		end := span{new(big.Int), new(big.Int)}
		for i, g := range p.gaps {
			if c := new(big.Int).SetUint64(w.count(i)); c.Sign() > 0 {
				e := expSpan(w.rate.exponent(g-w.least), w.rate.den, prec)
				end.add(span{e.lo.Mul(e.lo, c), e.hi.Mul(e.hi, c)})
			}
			got := toBig(w.ends[i])
			got.Lsh(got, uint(prec-f))
			off := new(big.Int).Sub(got, end.lo)
			off.Abs(off)
			if limit := toBig(w.slack); off.Cmp(limit.Lsh(limit, uint(prec-f))) >= 0 {
				t.Errorf("%v: end %d is off by more than the slack", p, i)
			}
		}
	}
}

func toBig(w wide) *big.Int {
	b := new(big.Int).SetUint64(w.hi)
	return b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(w.lo))
}

func TestWide(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	mask := new(big.Int).Sub(new(big.Int).Lsh(bigOne, 128), bigOne)
	for range 10000 {
		a := wide{rng.Uint64() >> rng.IntN(64), rng.Uint64() >> rng.IntN(64)}
		b := wide{rng.Uint64() >> rng.IntN(64), rng.Uint64()}
		v, n := rng.Uint64(), rng.IntN(300)-150
		if sum := new(big.Int).Add(toBig(a), toBig(b)); sum.And(sum, mask).Cmp(toBig(a.add(b))) != 0 {
			t.Fatalf("%v + %v", a, b)
		}
		if a.atMost(b) != (toBig(a).Cmp(toBig(b)) <= 0) || !a.atMost(a) {
			t.Fatalf("%v <= %v", a, b)
		}
		if p := new(big.Int).Mul(toBig(a), new(big.Int).SetUint64(v)); p.Rsh(p, 64).Cmp(toBig(a.share(v))) != 0 {
			t.Fatalf("%v times %d", a, v)
		}
		s := toBig(a)
		if n >= 0 {
			s.Lsh(s, uint(n)).And(s, mask)
		} else {
			s.Rsh(s, uint(-n))
		}
		if s.Cmp(toBig(a.shift(n))) != 0 {
			t.Fatalf("%v shifted by %d", a, n)
		}
	}
}

// TestRateTimes: the product is below the exact one by less than 2^-63.
func TestRateTimes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 10000 {
		r := big.NewRat(1+rng.Int64N(1<<(1+rng.IntN(61))), 1+rng.Int64N(1<<(1+rng.IntN(61))))
		gap := rng.Uint64() >> rng.IntN(64)
		step := newRate(r)
		exact := new(big.Rat).SetFrac(step.exponent(gap), step.den)
		x := step.times(gap)
		if exact.Cmp(powerOfTwo(64)) >= 0 {
			if x.whole != math.MaxUint64 {
				t.Fatalf("%v times %d is %v", r, gap, x)
			}
			continue
		}
		got := new(big.Rat).SetFrac(toBig(wide{x.whole, x.frac}), new(big.Int).Lsh(bigOne, 64))
		if d := exact.Sub(exact, got); d.Sign() < 0 || d.Cmp(powerOfTwo(-63)) >= 0 {
			t.Fatalf("%v times %d is %v: off by %v", r, gap, x, d)
		}
	}
	if x := newRate(powerOfTwo(100)).times(1); x.whole < 128 {
		t.Errorf("2^100 became %v", x)
	}
}

// TestPickPlantedBugs: a measured law that passes is worth something, because these do not.
func TestPickPlantedBugs(t *testing.T) {
	p := picked{"1/20", []uint64{30, 10, 0, 50}, []uint64{3, 1, 2, 4}}
	bugs := map[string]picker{
		"rate wrong by a part in a billion": func(src *Source, r *big.Rat, gaps, counts []uint64) int {
			return Pick(src, new(big.Rat).Mul(r, rat("1.000000001")), gaps, counts)
		},
		"counts forgotten": func(src *Source, r *big.Rat, gaps, _ []uint64) int { return Pick(src, r, gaps, nil) },
		"off by one": func(src *Source, r *big.Rat, gaps, counts []uint64) int {
			return min(Pick(src, r, gaps, counts)+1, len(gaps)-1)
		},
		"softmax of float32": func(src *Source, r *big.Rat, gaps, counts []uint64) int {
			f, _ := r.Float32()
			u := float32(src.Bits(44)) * 0x1p-44
			total, end := float32(0), float32(0)
			for i, g := range gaps {
				total += float32(counts[i]) * float32(math.Exp(float64(-f*float32(g))))
			}
			for i, g := range gaps {
				if end += float32(counts[i]) * float32(math.Exp(float64(-f*float32(g)))); u*total < end {
					return i
				}
			}
			return len(gaps) - 1
		},
	}
	if d := variation(p.law(Pick), p.want()); !(d < closeEnough) {
		t.Fatalf("without a bug: %.3g", d)
	}
	for name, pick := range bugs {
		if d := variation(p.law(pick), p.want()); d < closeEnough {
			t.Errorf("%s: not caught, %.3g", name, d)
		}
	}
	// One end is wrong by 2^-34 of the total.
	shifted := func(src *Source, r *big.Rat, gaps, counts []uint64) int {
		w := weigh(newRate(r), gaps, counts)
		w.ends[1] = w.ends[1].add(w.ends[3].shift(-34))
		i, _ := w.find(src.Uint64())
		return i
	}
	if d := variation(p.law(shifted), p.want()); d < closeEnough {
		t.Errorf("wrong end: not caught, %.3g", d)
	}
}

// TestPickDraws: 64 bits, whatever there is to pick from.
func TestPickDraws(t *testing.T) {
	for _, p := range picks {
		f := &headReader{head: word(0x5555_1234_5678_9abc), then: 0x37}
		Pick(entropy.FromReader(f), rat(p.rate), p.gaps, p.counts)
		if f.read != 8 {
			t.Errorf("%v: read %d bytes", p, f.read)
		}
	}
}

func TestPickPanics(t *testing.T) {
	src := NewSource()
	mustPanic(t, func() { Pick(src, rat("1"), nil, nil) })
	mustPanic(t, func() { Pick(src, rat("1"), []uint64{1, 2}, []uint64{0, 0}) })
	mustPanic(t, func() { Pick(src, rat("-1"), []uint64{1}, nil) })
	mustPanic(t, func() { Pick(src, rat("1"), []uint64{1, 1}, []uint64{math.MaxUint64, 1}) })
}

func BenchmarkPick(b *testing.B) {
	const n = 1_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	for name, gap := range map[string]func(i int) uint64{
		"equal":  func(int) uint64 { return 0 },
		"random": func(int) uint64 { return rng.Uint64N(1000) },
		"rising": func(i int) uint64 { return uint64(i) },
		"far":    func(i int) uint64 { return uint64(min(i, 1)) << 40 },
	} {
		gaps := make([]uint64, n)
		for i := range gaps {
			gaps[i] = gap(i)
		}
		b.Run(name, func(b *testing.B) {
			src := NewSource()
			for b.Loop() {
				sink += int64(Pick(src, rat("1/20"), gaps, nil))
			}
		})
	}
}
