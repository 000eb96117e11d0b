package account

import (
	"math"

	"github.com/discreet-dp/discreet/internal/root"
)

// responses is the privacy loss of k randomized responses with one epsilon: with
// j lies it is (k - 2j) epsilon, and j is binomial with probability 1/(1 + exp(epsilon)).
//
// It is walked upward in j from where the probability of fewer lies no longer
// matters. The probability there comes from binomialLog, with its error bound, and
// the next ones by recurrence. In all some 20 standard deviations, 10 sqrt(k), steps
// are made.
type responses struct {
	each float64
	k    int
}

// Probabilities are multiplied by 2^200, so that all that matters to a delta of
// 1e-300 is well inside the range of float64.
const (
	scaleBits = 200
	scale     = 0x1p200
	// What is left out changes a result by less than exp(-42) of it, and is paid
	// for in the upper end.
	leftOut = 42
)

// lies is a position in the walk.
type lies struct {
	tally
	responses
	j           int
	probability span // of j, times scale
	rise, decay span // 1 - exp(-2 epsilon) and exp(-2 epsilon)
	odds        span // exp(-epsilon)
}

// truth returns the probabilities of a lie and of the truth. Exp errs by 3.2
// roundoff, so they are within 8.
func (r responses) truth() (q, p float64) {
	e := math.Exp(-r.each)
	return e / (1 + e), 1 / (1 + e)
}

// logProbability bounds the logarithm of the probability of j lies.
func (r responses) logProbability(j int) (lo, hi float64) {
	if r.each > 700 {
		// Where exp(-epsilon) is, or nearly is, below the range of float64, even
		// one lie in a million millions has probability below 1e-290.
		if j == 0 {
			return -1e-290, 0
		}
		return math.Inf(-1), float64(j) * (math.Log(float64(r.k)) - 700)
	}
	q, p := r.truth()
	value, bound := binomialLog(float64(r.k), float64(j), q, p)
	return value - bound, math.Min(0, value+bound)
}

// mode is about the most likely number of lies.
func (r responses) mode() int {
	q, _ := r.truth()
	return int(float64(r.k) * q)
}

// fewer bounds the logarithm of the probability of fewer than j lies, j at most
// the mode: going down, the ratio of neighbours only gets smaller, so the sum is below
// that of a geometric series.
func (r responses) fewer(j int) float64 {
	if j == 0 {
		return math.Inf(-1)
	}
	ratio := float64(j) / float64(r.k-j+1) * math.Exp(r.each) * (1 + 0x1p-40)
	if ratio >= 1 {
		return 0
	}
	_, hi := r.logProbability(j)
	return hi + math.Log(ratio/(1-ratio)) + 1e-9
}

// more bounds the probability, times scale, of more lies than at w, beyond the mode.
func (w *lies) more() float64 {
	ratio := up(up(float64(w.k-w.j)/float64(w.j+1)) * w.odds.hi)
	if ratio >= 0.999 {
		return scale
	}
	return up(up(up(w.probability.hi*ratio)/down(1-ratio)) * (1 + 0x1p-50))
}

// start begins at the largest number of lies such that fewer have at most
// probability exp(log).
func (r responses) start(log float64) *lies {
	low, _ := root.Whole(0, r.mode()+1, func(j int) bool { return r.fewer(j) <= log })
	missing := 0.0
	if low > 0 {
		missing = above(math.Exp(r.fewer(low) + scaleBits*math.Ln2 + 1e-9))
	}
	lo, hi := r.logProbability(low)
	e := exactly(r.each)
	double := exactly(2 * r.each)
	w := &lies{
		responses: r, j: low, odds: e.expMinus(),
		rise: double.oneMinusExpMinus(), decay: double.expMinus(),
		// The constant, and a sum of less than 1024, are rounded by less than 2^-43.
		probability: span{below(math.Exp(lo + scaleBits*math.Ln2 - 0x1p-42)), above(math.Exp(hi + scaleBits*math.Ln2 + 0x1p-42))},
	}
	w.high = span{0, missing}
	w.mass = w.probability.add(span{0, missing})
	return w
}

// next makes one more lie.
func (w *lies) next() {
	ratio := exactly(float64(w.k - w.j)).div(exactly(float64(w.j + 1))).mul(w.odds)
	w.probability = w.probability.mul(ratio)
	w.j++
	w.descend(w.rise, w.decay, w.probability)
}

// settled reports whether more lies no longer matter, and by how much they could.
func (w *lies) settled() (float64, bool) {
	if w.j == w.k {
		return 0, true
	}
	rest := w.more()
	return rest, rest < w.mass.lo*0x1p-60 && rest < w.high.lo*0x1p-60
}

// loss is (k - 2j) epsilon - minus, rounded once.
func (w *lies) loss(minus float64) float64 {
	return math.FMA(float64(w.k-2*w.j), w.each, -minus)
}

func (r responses) delta(epsilon float64) span {
	// The last number of lies whose loss is above epsilon.
	estimate := math.Ceil((float64(r.k) - epsilon/r.each) / 2)
	last := int(math.Max(-1, estimate)) + 1
	for last >= 0 && !(math.FMA(float64(r.k-2*last), r.each, -epsilon) > 0) {
		last--
	}
	if last < 0 {
		return span{}
	}
	negligible := math.Inf(-1)
	if last > 0 {
		// Delta is at least the probability of last - 1 lies, or of the mode,
		// times 1 - exp(-2 epsilon).
		lo, _ := r.logProbability(min(last-1, r.mode()))
		negligible = lo + math.Log(-math.Expm1(-2*r.each)) - leftOut
	}
	w := r.start(negligible)
	rest, settled := 0.0, false
	for w.j < last && !settled {
		w.next()
		rest, settled = w.settled()
	}
	s := w.loss(epsilon)
	d := w.shifted(span{down(s), up(s)})
	if settled {
		d.hi = up(d.hi + rest)
	}
	return span{down(d.lo / scale), up(d.hi / scale)}
}

func (r responses) epsilon(x span) span {
	most := exactly(float64(r.k)).mul(exactly(r.each))
	if x.lo < 1e-300 {
		if x.hi == 0 {
			return most
		}
		// Delta this small is not computed: the upper end is the loss of no lie.
		return span{r.epsilon(exactly(1e-300)).lo, most.hi}
	}
	target := span{x.lo * scale, x.hi * scale}
	w := r.start(math.Log(x.lo) - leftOut)
	rest, settled := 0.0, false
	// Go on while the delta at the next value is still within x for certain.
	for !settled && 2*w.j < w.k && w.shifted(exactly(2*w.each)).hi <= target.lo {
		w.next()
		rest, settled = w.settled()
	}
	s := w.shift(target)
	if settled {
		// No value further down matters, whatever the gap is.
		t := w.tally
		t.high.hi = up(t.high.hi + rest)
		s.lo = t.shift(target).lo
	} else {
		s.lo = math.Min(s.lo, 2*w.each)
	}
	loss := w.loss(0)
	return span{down(down(loss) - s.hi), upper(up(math.Max(0, loss)) - s.lo)}
}
