package survey

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// The enumeration computes the exact law of a client's reports from the client itself: it
// runs the production code once for every way the draws can come out, and adds up the
// probabilities, as fractions. A coin has the probability b/(b+E), and the coins' own tests
// show that E is exp(epsilon); here E is any fraction, because the claim, that no ratio is
// above E and some are E, is one about fractions in E.

// walk is a source of randomness that follows a path, and remembers where else it could go.
type walk struct {
	e    *big.Rat
	path []int // what each draw gives
	ways []int // how many ways each draw can go
	prob *big.Rat
}

// A draw from very many numbers is walked through at these only. That is for hash
// functions, which must not depend on the value whichever they are.
const maxEnumerated = 1 << 20

var someNumbers = []uint64{12345678901234567, 998877665544332211, 3}

func (w *walk) next(ways int) int {
	i := len(w.ways)
	w.ways = append(w.ways, ways)
	if i == len(w.path) {
		w.path = append(w.path, 0)
	}
	return w.path[i]
}

func (w *walk) flip(c *coin) bool {
	b := new(big.Rat).SetInt(new(big.Int).SetUint64(c.b))
	total := new(big.Rat).Add(b, w.e)
	if w.next(2) == 0 {
		w.prob.Mul(w.prob, b.Quo(b, total))
		return true
	}
	w.prob.Mul(w.prob, total.Quo(w.e, total))
	return false
}

func (w *walk) below(n uint64) uint64 {
	if n > maxEnumerated {
		w.prob.Mul(w.prob, big.NewRat(1, int64(len(someNumbers))))
		return someNumbers[w.next(len(someNumbers))]
	}
	w.prob.Mul(w.prob, big.NewRat(1, int64(n)))
	return uint64(w.next(int(n)))
}

// paths calls f with every path and its probability.
func paths[T any](e *big.Rat, client func(c randomness) T, f func(T, *big.Rat)) {
	var path []int
	for {
		w := &walk{e: e, path: path, prob: big.NewRat(1, 1)}
		out := client(w)
		f(out, w.prob)
		path = w.path
		for len(path) > 0 {
			if last := len(path) - 1; path[last]+1 < w.ways[last] {
				path[last]++
				break
			} else {
				path = path[:last]
			}
		}
		if len(path) == 0 {
			return
		}
	}
}

// lawOf is the exact law of the reports on a value.
func lawOf[T any](e *big.Rat, client func(c randomness) T) map[string]*big.Rat {
	out := map[string]*big.Rat{}
	paths(e, client, func(r T, p *big.Rat) {
		key := fmt.Sprint(r)
		if out[key] == nil {
			out[key] = new(big.Rat)
		}
		out[key].Add(out[key], p)
	})
	return out
}

// checkPure compares the laws of every two values: no ratio above E, and one that is E.
func checkPure[T any](e *big.Rat, size int, client func(c randomness, value int) T) error {
	var laws []map[string]*big.Rat
	for v := range size {
		l := lawOf(e, func(c randomness) T { return client(c, v) })
		total := new(big.Rat)
		for _, p := range l {
			total.Add(total, p)
		}
		if total.Cmp(big.NewRat(1, 1)) != 0 {
			return fmt.Errorf("the probabilities of value %d add up to %v", v, total)
		}
		laws = append(laws, l)
	}
	worst := new(big.Rat)
	for v, l := range laws {
		for w, m := range laws {
			for key, p := range l {
				if m[key] == nil || m[key].Sign() == 0 {
					return fmt.Errorf("%s is a report on %d, and never one on %d", key, v, w)
				}
				if ratio := new(big.Rat).Quo(p, m[key]); ratio.Cmp(worst) > 0 {
					worst = ratio
				}
			}
		}
	}
	switch worst.Cmp(e) {
	case 1:
		return fmt.Errorf("a ratio is %v, above %v", worst, e)
	case -1:
		return fmt.Errorf("no ratio is above %v, below %v: privacy that is not used", worst, e)
	}
	return nil
}

// checkRates compares the probability that a report on v supports x with p and q, as fractions.
func checkRates(e *big.Rat, o Oracle, p, q *big.Rat, client func(c randomness, value int) Report) error {
	for v := range o.Size() {
		support := make([]*big.Rat, o.Size())
		for x := range support {
			support[x] = new(big.Rat)
		}
		paths(e, func(c randomness) Report { return client(c, v) }, func(r Report, prob *big.Rat) {
			sums := make([]int64, o.sumsLen())
			o.add(sums, r)
			for x, c := range o.counts(sums, 1) {
				if c != 0 {
					support[x].Add(support[x], prob)
				}
			}
		})
		for x, got := range support {
			want := q
			if x == v {
				want = p
			}
			if got.Cmp(want) != 0 {
				return fmt.Errorf("a report on %d supports %d with probability %v, want %v", v, x, got, want)
			}
		}
	}
	return nil
}

var fractions = []*big.Rat{big.NewRat(3, 1), big.NewRat(11, 10), big.NewRat(2718281828, 1000000000), big.NewRat(1000, 7)}

func TestClientsAreExactlyPrivate(t *testing.T) {
	for _, e := range fractions {
		for _, name := range names {
			for _, size := range []int{2, 3, 5} {
				o := oracle(name, size, "1")
				if err := checkPure(e, size, o.report); err != nil {
					t.Errorf("%s of %d values: %v", name, size, err)
				}
			}
		}
		b := must(NewBinary(dp.One))
		if err := checkPure(e, 2, func(c randomness, v int) bool { return b.answer(c, v == 1) }); err != nil {
			t.Errorf("binary: %v", err)
		}
		for levels := 1; levels <= 3; levels++ {
			c, _ := reportCost(dp.One)
			h := newHeavy(6, levels, c)
			if err := checkPure(e, 6, func(c randomness, v int) HeavyReport { return h.report(c, uint64(v)) }); err != nil {
				t.Errorf("heavy with %d levels: %v", levels, err)
			}
		}
	}
}

// TestBiasIsExact: the coin-flip survey has the ratio 3, and a cost that is not below ln 3.
func TestBiasIsExact(t *testing.T) {
	for _, c := range []struct{ g, ratio *big.Rat }{
		{big.NewRat(1, 4), big.NewRat(3, 1)}, {big.NewRat(1, 10), big.NewRat(3, 2)}, {big.NewRat(49, 100), big.NewRat(99, 1)},
		{big.NewRat(1, 2000), big.NewRat(1001, 999)},
	} {
		b := must(NewBiased(c.g))
		if err := checkPure(c.ratio, 2, func(ch randomness, v int) bool { return b.answer(ch, v == 1) }); err != nil {
			t.Errorf("bias %v: %v", c.g, err)
		}
		// exp(epsilon) is at least the ratio, and a unit less would not be.
		lo, _ := expSpan(b.Cost().Epsilon, 100)
		scaled := func(r *big.Rat) *big.Int {
			return new(big.Int).Quo(new(big.Int).Lsh(r.Num(), 100), r.Denom())
		}
		if lo.Cmp(scaled(c.ratio)) < 0 {
			t.Errorf("bias %v: exp(%v) is below %v", c.g, b.Cost().Epsilon, c.ratio)
		}
		if _, hi := expSpan(b.Cost().Epsilon-2, 100); hi.Cmp(scaled(c.ratio)) >= 0 {
			t.Errorf("bias %v: epsilon %v is rounded up too far", c.g, b.Cost().Epsilon)
		}
	}
}

func TestRatesAreExact(t *testing.T) {
	one, half := big.NewRat(1, 1), big.NewRat(1, 2)
	for _, e := range fractions {
		over := func(k int64) *big.Rat { return new(big.Rat).Quo(one, new(big.Rat).Add(e, big.NewRat(k-1, 1))) }
		for _, size := range []int{2, 3, 5, 8} {
			k := int64(size)
			for _, c := range []struct {
				name string
				p, q *big.Rat
			}{
				{"direct", new(big.Rat).Mul(e, over(k)), over(k)},
				{"oue", half, over(2)},
				{"hadamard", new(big.Rat).Mul(e, over(2)), half},
			} {
				o := oracle(c.name, size, "1")
				if err := checkRates(e, o, c.p, c.q, o.report); err != nil {
					t.Errorf("%s of %d values: %v", c.name, size, err)
				}
			}
		}
	}
}

// reference computes 2^200 b/(b + exp(epsilon)), to some 190 digits, another way: the exponential
// by squaring (1 + y + y^2/2 + ... + y^8/8!) with y = x/2^32, in floats of 400 bits.
func reference(b uint64, epsilon dp.Amount) *big.Float {
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	y := f(0).SetMantExp(f(0).SetUint64(uint64(epsilon)), -40-32)
	sum, term := f(1), f(1)
	for i := 1; i <= 12; i++ {
		term.Mul(term, y)
		term.Quo(term, f(float64(i)))
		sum.Add(sum, term)
	}
	for range 32 {
		sum.Mul(sum, sum)
	}
	n := f(float64(b))
	return n.Quo(n, sum.Add(sum, f(float64(b))))
}

var coins = []struct {
	b       uint64
	epsilon string
}{{1, "1"}, {1, "0.1"}, {1, "1e-12"}, {1, "32"}, {3, "1"}, {2, "5"}, {1 << 24, "0.001"}, {1<<24 - 2, "20"}, {7, "2.0794415416798357"}}

// TestCoinEncloses compares the enclosure with the reference, and asks that it is tight.
func TestCoinEncloses(t *testing.T) {
	for _, c := range coins {
		k := newCoin(c.b, amount(c.epsilon))
		want := reference(c.b, amount(c.epsilon))
		for _, n := range []uint{64, 100, 160} {
			lo, hi := k.enclose(n)
			exact, _ := new(big.Float).SetMantExp(want, int(n)).Int(nil)
			// The integer part of the truth is between, and they are a unit or two apart.
			if lo.Cmp(exact) > 0 || hi.Cmp(exact) < 0 || new(big.Int).Sub(hi, lo).Cmp(big.NewInt(2)) > 0 {
				t.Errorf("b = %d, epsilon %s, %d digits: [%v, %v] around %v", c.b, c.epsilon, n, lo, hi, exact)
			}
		}
	}
}

// TestCoinIsExact: the decision is a comparison of the digits with the probability, at every
// place where the digits can end it. Bisection over the first 64 digits finds where it
// changes, and there over the next 64.
func TestCoinIsExact(t *testing.T) {
	for _, c := range coins {
		k := newCoin(c.b, amount(c.epsilon))
		want := reference(c.b, amount(c.epsilon))
		first := bisect(func(v uint64) bool { return k.flip(sourceOfWords(v, 0, 0)) })
		// The digits of the probability begin with first, and the next word decides.
		second := bisect(func(v uint64) bool { return k.flip(sourceOfWords(first-1, v, 0)) })
		got := new(big.Int).SetUint64(first - 1)
		got.Lsh(got, 64)
		got.Add(got, new(big.Int).SetUint64(second-1))
		exact, _ := new(big.Float).SetMantExp(want, 128).Int(nil)
		if got.Cmp(exact) != 0 {
			t.Errorf("b = %d, epsilon %s: changes at %x, want %x", c.b, c.epsilon, got, exact)
		}
		// Both sides of the change, with all digits that follow.
		for _, v := range []uint64{0, 1, 1 << 32, first / 2, first - 2} {
			if v < first-1 && !k.flip(sourceOfWords(v, math.MaxUint64)) {
				t.Errorf("b = %d, epsilon %s: false at %x", c.b, c.epsilon, v)
			}
		}
		for _, v := range []uint64{first, first + 1, math.MaxUint64} {
			if k.flip(sourceOfWords(v)) {
				t.Errorf("b = %d, epsilon %s: true at %x", c.b, c.epsilon, v)
			}
		}
	}
}

// bisect returns the first word at which a decision is no longer true.
func bisect(decide func(uint64) bool) uint64 {
	lo, hi := uint64(0), uint64(math.MaxUint64)
	for lo < hi {
		if mid := lo + (hi-lo)/2; decide(mid) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func TestCoinAllocates(t *testing.T) {
	k, src := newCoin(1, dp.One), seeded(1)
	if n := testing.AllocsPerRun(10000, func() { k.flip(src) }); n != 0 {
		t.Errorf("%v allocations per flip", n)
	}
}
