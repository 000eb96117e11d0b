package account

import (
	"cmp"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/privacyloss"
)

// responses is the privacy loss of k randomized responses with one epsilon: with
// j lies it is (k - 2j) epsilon, and j is binomial with probability 1/(1 + exp(epsilon)).
//
// It is walked upward in j from where the probability of fewer lies no longer matters. The
// probability there comes from binomialLog, with its error bound, and the next ones by recurrence.
// In all some 20 standard deviations, 10 sqrt(k), steps are made.
type responses struct {
	each float64
	k    int
}

// Probabilities are multiplied by 2^200, so that all that matters to a delta of
// 1e-300 is well inside the range of float64.
const (
	scaleBits        = 200
	probabilityScale = 0x1p200
	// What is left out changes a result by less than exp(-42) of it, and is paid
	// for in the upper end.
	leftOutLog = 42
)

// lieWalk is a position in the walk.
type lieWalk struct {
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

// fewer bounds the logarithm of the probability of fewer than j lies, j at most the mode: going
// down, the ratio of neighbours only gets smaller, so the sum is below that of a geometric series.
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
func (w *lieWalk) more() float64 {
	ratio := up(up(float64(w.k-w.j)/float64(w.j+1)) * w.odds.hi)
	if ratio >= 0.999 {
		return probabilityScale
	}
	return up(up(up(w.probability.hi*ratio)/down(1-ratio)) * (1 + 0x1p-50))
}

// start begins at the largest number of lies such that fewer have at most probability exp(log).
func (r responses) start(log float64) *lieWalk {
	low, _ := numeric.BisectWhole(0, r.mode()+1, func(j int) bool { return r.fewer(j) <= log })
	missing := 0.0
	if low > 0 {
		missing = roundExpUp(math.Exp(r.fewer(low) + scaleBits*math.Ln2 + 1e-9))
	}
	lo, hi := r.logProbability(low)
	e := exactly(r.each)
	double := exactly(2 * r.each)
	w := &lieWalk{
		responses: r, j: low, odds: e.expMinus(),
		rise: double.oneMinusExpMinus(), decay: double.expMinus(),
		// The constant, and a sum of less than 1024, are rounded by less than 2^-43.
		probability: span{
			roundExpDown(math.Exp(lo + scaleBits*math.Ln2 - 0x1p-42)),
			roundExpUp(math.Exp(hi + scaleBits*math.Ln2 + 0x1p-42)),
		},
	}
	w.high = span{0, missing}
	w.mass = w.probability.add(span{0, missing})
	return w
}

func (w *lieWalk) next() {
	ratio := exactly(float64(w.k - w.j)).div(exactly(float64(w.j + 1))).mul(w.odds)
	w.probability = w.probability.mul(ratio)
	w.j++
	w.descend(w.rise, w.decay, w.probability)
}

// remainder reports whether more lies no longer matter, and by how much they could.
func (w *lieWalk) remainder() (float64, bool) {
	if w.j == w.k {
		return 0, true
	}
	rest := w.more()
	return rest, rest < w.mass.lo*0x1p-60 && rest < w.high.lo*0x1p-60
}

// loss is (k - 2j) epsilon - minus, rounded once.
func (w *lieWalk) loss(minus float64) float64 { return math.FMA(float64(w.k-2*w.j), w.each, -minus) }

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
		negligible = lo + math.Log(-math.Expm1(-2*r.each)) - leftOutLog
	}
	w := r.start(negligible)
	rest, settled := 0.0, false
	for w.j < last && !settled {
		w.next()
		rest, settled = w.remainder()
	}
	s := w.loss(epsilon)
	d := w.shifted(span{down(s), up(s)})
	if settled {
		d.hi = up(d.hi + rest)
	}
	return span{down(d.lo / probabilityScale), up(d.hi / probabilityScale)}
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
	target := span{x.lo * probabilityScale, x.hi * probabilityScale}
	w := r.start(math.Log(x.lo) - leftOutLog)
	rest, settled := 0.0, false
	// Go on while the delta at the next value is still within x for certain.
	for !settled && 2*w.j < w.k && w.shifted(exactly(2*w.each)).hi <= target.lo {
		w.next()
		rest, settled = w.remainder()
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

// outcomes is the privacy loss of randomized responses with different epsilons,
// every value with its probability, largest loss first.
//
// A loss is a sum that was rounded, within slack of the true one. Moving every loss up
// by slack moves epsilon by slack, so that is how it is paid for.
type outcomes struct {
	all   []outcome
	slack float64
}

type outcome struct {
	loss        float64
	probability span
}

// maxOutcomes bounds what is enumerated: a fraction of a second.
const maxOutcomes = 1 << 20

// enumerateOutcomes multiplies the binomial distributions of the groups, if they have few
// enough values.
func enumerateOutcomes(groups []Repeated) (outcomes, bool) {
	count := 1
	for _, g := range groups {
		if g.Times >= maxOutcomes || count*(g.Times+1) > maxOutcomes {
			return outcomes{}, false
		}
		count *= g.Times + 1
	}
	all := append(make([]outcome, 0, count), outcome{0, exactly(1)})
	size := 0.0
	for _, g := range groups {
		r := responses{g.Epsilon, g.Times}
		size += float64(g.Times) * g.Epsilon
		before := slices.Clone(all)
		all = all[:0]
		for j := 0; j <= g.Times; j++ {
			lo, hi := r.logProbability(j)
			p := span{roundExpDown(math.Exp(lo)), roundExpUp(math.Exp(hi))}
			loss := float64(g.Times-2*j) * g.Epsilon
			for _, o := range before {
				all = append(all, outcome{o.loss + loss, o.probability.mul(p)})
			}
		}
	}
	slices.SortFunc(all, func(a, b outcome) int { return cmp.Compare(b.loss, a.loss) })
	// One product and one sum for each group, each rounded by at most roundoff
	// of size, and size itself.
	return outcomes{all, size * roundoff * float64(4*len(groups)+4)}, true
}

func (o outcomes) delta(epsilon float64) span {
	// The shift also covers its own rounding.
	shift := o.slack + epsilon*0x1p-51
	return span{o.exact(epsilon + shift).lo, o.exact(epsilon - shift).hi}
}

// exact is delta for the losses as they stand. Epsilon may be negative.
func (o outcomes) exact(epsilon float64) span {
	t := tally{}
	at := math.Inf(1)
	for _, next := range o.all {
		if next.loss <= epsilon {
			break
		}
		t.reach(at, next)
		at = next.loss
	}
	if math.IsInf(at, 1) {
		return span{}
	}
	gap := at - epsilon
	return t.shifted(span{down(gap), up(gap)})
}

// reach descends from the loss at to the next outcome.
func (t *tally) reach(at float64, next outcome) {
	if math.IsInf(at, 1) {
		t.mass = next.probability
		return
	}
	gap := at - next.loss
	if gap == 0 {
		t.mass = t.mass.add(next.probability)
		return
	}
	g := span{down(gap), up(gap)}
	t.descend(g.oneMinusExpMinus(), g.expMinus(), next.probability)
}

func (o outcomes) epsilon(x span) span {
	t := tally{}
	at := math.Inf(1)
	limit := math.Inf(1)
	for _, next := range o.all {
		if !math.IsInf(at, 1) {
			gap := at - next.loss
			if t.shifted(span{down(gap), up(gap)}).hi > x.lo && gap > 0 {
				limit = gap
				break
			}
		}
		t.reach(at, next)
		at = next.loss
		if at < -o.slack {
			break // Epsilon is zero.
		}
	}
	s := t.shift(x)
	s.lo = math.Min(s.lo, down(limit))
	slack := o.slack + math.Abs(at)*0x1p-50 // and the rounding below
	return span{down(at - s.hi - slack), upper(at - s.lo + slack)}
}

// inversion is the privacy loss of randomized responses whose values are too many to enumerate.
type inversion struct{ sum privacyloss.Sum }

func invertLosses(groups []Repeated) (losses, error) {
	var s privacyloss.Sum
	for _, g := range groups {
		law, err := privacyloss.Response(g.Epsilon, 0)
		if err != nil {
			return nil, err
		}
		if s, err = s.Plus(law, g.Times); err != nil {
			return nil, err
		}
	}
	return inversion{s}, nil
}

// The sum checks its arguments, which were checked before: what is refused is
// answered with a bracket that says nothing.

func (i inversion) delta(epsilon float64) span {
	b, err := i.sum.Delta(epsilon)
	if err != nil {
		return span{0, 1}
	}
	return span{b.Lower, b.Upper}
}

func (i inversion) epsilon(x span) span {
	most, err := i.sum.Epsilon(max(0, min(x.lo, 1-0x1p-53)))
	if err != nil {
		return span{0, math.Inf(1)}
	}
	if x.lo == x.hi {
		return span{most.Lower, most.Upper}
	}
	least, err := i.sum.Epsilon(max(0, min(x.hi, 1-0x1p-53)))
	if err != nil {
		return span{0, most.Upper}
	}
	return span{least.Lower, most.Upper}
}

// A tally walks down the values l of a privacy loss L and holds, at the value where it stands,
//
//	high = E[max(0, 1 - exp(l - L))], the delta at epsilon = l,
//	mass = E[exp(l - L); L >= l].
//
// Both are sums of positive parts, and for 0 <= s <= the gap to the next value
//
//	delta(l - s) = high + (1 - exp(-s)) mass,
//
// which is linear in exp(epsilon), so epsilon is solved for in closed form. The right-hand side is
// a lower bound for every s, since it leaves positive parts out, or takes negative ones in.
type tally struct{ high, mass span }

// descend goes down by a gap, given 1 - exp(-gap) and exp(-gap), to a value of
// the given probability.
func (t *tally) descend(rise, decay, probability span) {
	t.high = t.high.add(rise.mul(t.mass))
	t.mass = t.mass.mul(decay).add(probability)
}

// shifted returns delta(l - s).
func (t *tally) shifted(s span) span { return t.high.add(s.oneMinusExpMinus().mul(t.mass)) }

// shift solves delta(l - s) = x for s: -ln(1 - (x - high)/mass). It is +Inf
// where the delta stays below x.
func (t *tally) shift(x span) span {
	lo := down(down(x.lo-t.high.hi) / t.mass.hi)
	hi := math.Inf(1)
	if t.mass.lo > 0 {
		hi = up(up(math.Max(0, x.hi-t.high.lo)) / t.mass.lo)
	}
	return span{lo, hi}.minusLog1pMinus()
}
