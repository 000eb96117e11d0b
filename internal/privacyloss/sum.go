package privacyloss

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// Sum is a sum of independent losses: what several mechanisms lose together. The zero value is no
// mechanism, which loses nothing. Sums are values; adding makes a new one.
//
// If each mechanism is dominated by its pair, also when it is chosen after seeing earlier answers,
// then all together are dominated by the product of the pairs (Zhu, Dong, Wang 2022, Theorem 10).
// The pairs themselves, so the parameters, must be fixed in advance.
type Sum struct{ terms []term }

type term struct {
	law   Law
	times int
}

// maxTimes is how many mechanisms can be added up.
const maxTimes = 1 << 40

// Plus returns the sum with a law added a number of times.
func (s Sum) Plus(law Law, times int) (Sum, error) {
	if times < 1 || times > maxTimes {
		return Sum{}, fmt.Errorf("%w: %d times: write a number of times between 1 and %d", errParameter, times, maxTimes)
	}
	terms := make([]term, 0, len(s.terms)+1)
	added := false
	for _, t := range s.terms {
		if !added {
			t, added = t.merge(law, times)
		}
		terms = append(terms, t)
	}
	if !added {
		terms = append(terms, term{law, times})
	}
	if total := countTerms(terms); total > maxTimes {
		return Sum{}, fmt.Errorf("%w: more than %d mechanisms in all", errParameter, maxTimes)
	}
	return Sum{terms}, nil
}

// merge adds to a term what is of the same law.
func (t term) merge(law Law, times int) (term, bool) {
	if t.law != law {
		return t, false
	}
	return term{law, t.times + times}, true
}

func countTerms(terms []term) (total int) {
	for _, t := range terms {
		total += t.times
	}
	return total
}

// infinite is the probability that some loss is infinite, rounded up.
func (s Sum) infinite() dp.Bracket {
	log := 0.0
	for _, t := range s.terms {
		log += float64(t.times) * math.Log1p(-t.law.infinite())
	}
	mass := -math.Expm1(log)
	return bracket(mass, mass*unitRoundoff*(16+2*float64(len(s.terms))))
}

// top is the largest finite loss.
func (s Sum) top() float64 {
	top := 0.0
	for _, t := range s.terms {
		top += float64(t.times) * t.law.top()
	}
	return top * (1 + unitRoundoff*float64(8+len(s.terms)))
}

// single returns the law of a sum whose curve has a closed form.
func (s Sum) single() (closed, bool) {
	terms := mergeGaussians(s.terms)
	law, ok := terms[0].law.(closed)
	return law, ok && len(terms) == 1 && terms[0].times == 1
}

// Delta encloses the smallest delta at which the pair of products is (epsilon,
// delta)-indistinguishable, in this direction.
func (s Sum) Delta(epsilon float64) (dp.Bracket, error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 0) {
		return dp.Bracket{}, fmt.Errorf("%w: epsilon is %v, but must be a number of at least 0", errParameter, epsilon)
	}
	if len(s.terms) == 0 {
		return dp.Bracket{}, nil
	}
	if law, ok := s.single(); ok {
		return law.curve(epsilon), nil
	}
	if epsilon >= s.top() {
		return s.infinite(), nil
	}
	return s.delta(epsilon), nil
}

// Epsilon encloses the smallest epsilon at which the pair of products is (epsilon,
// delta)-indistinguishable, in this direction. The upper end is +Inf where there is none.
func (s Sum) Epsilon(delta float64) (dp.Bracket, error) {
	if !(delta >= 0 && delta < 1) {
		return dp.Bracket{}, fmt.Errorf("%w: delta is %v, but must be at least 0 and below 1", errParameter, delta)
	}
	if len(s.terms) == 0 {
		return dp.Bracket{}, nil
	}
	if never := s.infinite(); delta < never.Lower || delta == 0 {
		if delta < never.Lower {
			return dp.Bracket{Lower: math.Inf(1), Upper: math.Inf(1)}, nil
		}
		// At delta 0 all of the loss counts.
		top := s.top()
		return dp.Bracket{Lower: top * (1 - unitRoundoff*float64(64+2*len(s.terms))), Upper: top}, nil
	}
	if law, ok := s.single(); ok {
		below := func(e float64) float64 { return law.curve(e).Lower }
		above := func(e float64) float64 { return law.curve(e).Upper }
		return crossing(below, above, delta, s.top()), nil
	}
	out := s.epsilon(delta)
	if delta < s.infinite().Upper {
		out.Upper = math.Inf(1) // rounding decides whether there is one
	}
	return out, nil
}

// How far the work goes: frequencies of closed forms, and points of a lattice. All
// laws together are looked at mostLooks times; with fewer the bracket is wider.
const (
	maxFrequencies   = 1 << 18
	minPoints        = 1 << 12
	maxPoints        = 1 << 17
	maxCells         = 1 << 18
	maxAlignedPoints = 1 << 20
	maxEvaluations   = 1 << 23
	// seriesGoal is the relative width of a bracket at which we are content, where a
	// series is cut off, and latticeGoal the one where a lattice decides.
	seriesGoal  = 1e-9
	latticeGoal = 1e-4
	wholeGoal   = 1e-8 // of the same, without sampling
	manyGoal    = 4e-4 // of the same, for so many laws that it takes seconds
	// tailShare is what the periods, and what is given up of the tails, may add, relative to delta.
	tailShare = 1e-10
)

// delta encloses delta(epsilon) for epsilon below the top.
func (s Sum) delta(epsilon float64) dp.Bracket {
	s = s.latticed(epsilon)
	r := s.roughCumulant(1e-300)
	// Beyond all that matters the tilt would have no end. A bound from nearer by does.
	if far := max(0, r.chernoff(1e-280)); epsilon > far {
		return dp.Bracket{Lower: s.infinite().Lower, Upper: s.invert(far, r).Upper}
	}
	return s.invert(epsilon, r)
}

// invert is delta where the tilt has an end.
func (s Sum) invert(epsilon float64, r roughCumulant) dp.Bracket {
	t := r.tilt(epsilon)
	// The peak of the integrand, less what the expectation may take away. Where that
	// is more, the window was too small, and what came out says how small delta is.
	log := r.at(t) - t*epsilon + logPeak(t) - math.Log(1e3)
	out := dp.Bracket{Lower: s.infinite().Lower, Upper: 1}
	for range 2 {
		p := s.problem(epsilon, log)
		out = p.refine(out, func(g gridPair) dp.Bracket { return dp.Bracket{Lower: g.lower(epsilon), Upper: g.upper(epsilon)} })
		left := out.Upper - s.infinite().Lower
		if out.Lower > 0.5*out.Upper || !(left > 1e-280) || math.Log(left) > log {
			break
		}
		log = math.Log(left) - math.Log(1e3)
	}
	return out
}

// epsilon encloses the epsilon at delta > 0.
func (s Sum) epsilon(delta float64) dp.Bracket {
	left := max(delta-s.infinite().Lower, 1e-16*delta, 1e-300)
	near := min(max(0, s.roughCumulant(left*tailShare/float64(countTerms(s.terms))).chernoff(left)), s.top())
	out := dp.Bracket{Lower: 0, Upper: s.top()}
	p := s.latticed(near).problem(near, math.Log(left))
	return p.refine(out, func(g gridPair) dp.Bracket { return crossing(g.lower, g.upper, delta, out.Upper) })
}

// problem is a sum with the tilt and the window for questions near one epsilon.
type problem struct {
	terms     []term
	rough     roughCumulant
	near      float64 // the epsilon
	spare     float64
	goal      float64 // the relative width that is narrow enough
	saddle    float64 // the best tilt
	t, window float64
	far, top  float64
}

// problem prepares for questions near epsilon, where delta is about exp(log).
func (s Sum) problem(epsilon, log float64) problem {
	log = max(log, -690) // smaller numbers are not told apart
	p := problem{terms: mergeGaussians(s.terms), near: max(epsilon, 1e-3), goal: latticeGoal, top: s.top()}
	if m, ok := p.terms[0].law.(mixture); ok && len(p.terms) == 1 && m.rate == 1 {
		p.goal = wholeGoal
	}
	if len(p.terms) > 100 {
		p.goal = manyGoal
	}
	p.spare = math.Exp(log) * tailShare / float64(countTerms(s.terms))
	p.rough = s.roughCumulant(p.spare)
	// Near the largest loss the best tilt is infinite. Beyond this one rounding takes
	// more than the tilt gives.
	p.t = p.rough.tilt(epsilon)
	if epsilon > 0 {
		p.t = min(p.t, 1e9/epsilon)
	}
	p.saddle = p.t
	p.window, p.far = p.rough.window(p.t, epsilon, log+math.Log(tailShare), p.top)
	if len(p.rough.sketches) == 0 {
		return p
	}
	// On a lattice nothing is cut off, and a tilt below the saddle point costs only
	// rounding. It can make the window much smaller where upper tails are heavy.
	for _, part := range []float64{0.8, 0.65, 0.5, 0.4, 0.3} {
		t := p.saddle * part
		if window, far := p.rough.window(t, epsilon, log+math.Log(tailShare), p.top); window < p.window {
			p.t, p.window, p.far = t, window, far
		}
	}
	return p
}

// refine narrows a bracket with ever finer lattices, until it is narrow enough.
// Every one of the brackets is proven, so their intersection is.
func (p problem) refine(out dp.Bracket, ask func(gridPair) dp.Bracket) dp.Bracket {
	for points := p.initialPoints(); ; points *= 4 {
		b := ask(p.grids(points))
		out = dp.Bracket{Lower: max(out.Lower, b.Lower), Upper: min(out.Upper, b.Upper)}
		if len(p.rough.sketches) == 0 || out.Upper-out.Lower <= p.goal*out.Upper || points >= maxPoints {
			return out
		}
	}
}

// initialPoints guesses how many points a narrow bracket takes: a step shifts the mean of
// every loss by a tenth of its square, and its effect grows with the tilt.
func (p problem) initialPoints() int {
	step := math.Sqrt(p.goal / 2 * p.near * 10 / (1 + p.t) / float64(countTerms(p.terms)))
	points := minPoints
	for float64(points)*step < p.window && points < maxPoints {
		points *= 2
	}
	return points
}

// gridPair is a grid for each end of the bracket; the same one if no law is on a lattice.
type gridPair struct{ below, above *grid }

// If no loss was moved by more than shift in all, delta(epsilon) is between those of
// the moved losses at epsilon plus and minus shift.
func (p gridPair) lower(epsilon float64) float64 { return p.below.delta(epsilon + p.below.shift).Lower }
func (p gridPair) upper(epsilon float64) float64 { return p.above.delta(epsilon - p.above.shift).Upper }

// grids builds the pair, with about so many points to the window where there are lattices.
func (p problem) grids(points int) gridPair {
	if len(p.rough.sketches) == 0 {
		g := p.closed()
		return gridPair{g, g}
	}
	step, origin, points := p.spacing(points)
	var below, above []latticeTerm
	for _, t := range p.terms {
		if l, ok := t.law.(sampled); ok {
			b, a := l.enclose(step, origin, p.spare, p.saddle)
			below = append(below, latticeTerm{b, float64(t.times)})
			above = append(above, latticeTerm{a, float64(t.times)})
		}
	}
	return gridPair{p.onLattice(below, step, points, p.far), p.onLattice(above, step, points, 0)}
}

// closed weighs laws that have closed forms only.
func (p problem) closed() *grid {
	analytics := p.rough.analytic
	limit := max(1<<12, min(maxFrequencies, maxEvaluations/len(analytics)))
	if step, offset, ok := commonLattice(analytics); ok {
		points := 2 * math.Ceil(max(1, p.window/step/2))
		g, f := newGrid(analytics, nil, p.t, p.far, step*points, 0)
		g.top = p.top
		if c, ok := newComb(f, step, offset, points, limit, f.faded); ok {
			g.weigh = c
			return g
		}
	}
	g, f := newGrid(analytics, nil, p.t, p.far, p.window, 0)
	g.top = p.top
	g.weigh = newSeries(f, p.window, 0, 1<<10, limit, seriesGoal)
	return g
}

// onLattice weighs laws that were put on a lattice, and others with them.
func (p problem) onLattice(lattices []latticeTerm, step float64, points int, far float64) *grid {
	analytics := p.rough.analytic
	window := step * float64(points)
	g, f := newGrid(analytics, lattices, p.t, far, window, points)
	g.top = p.top
	if len(analytics) == 0 && len(f.spectra) == 0 {
		never := func(float64) bool { return false }
		g.weigh, _ = newComb(f, step, math.Mod(f.origin, step), float64(points), points, never)
		return g
	}
	g.weigh = newSeries(f, window, points, points-1, max(points, 1<<16), p.goal/100)
	return g
}

// spacing chooses the lattice. If there is one law only, and it has atoms, they are put on it.
func (p problem) spacing(points int) (step, origin float64, n int) {
	step = p.window / float64(points)
	for _, l := range p.rough.sketches {
		step = max(step, (l.of[len(l.of)-1].loss-l.of[0].loss)/maxCells)
	}
	if len(p.terms) > 1 {
		return step, 0, points
	}
	low, high, ok := p.terms[0].law.(sampled).atoms()
	if !ok {
		return step, 0, points
	}
	span := high - low
	step = span / max(1, math.Floor(span/step))
	for step*float64(points) < p.window && points < maxAlignedPoints {
		points *= 2
	}
	return step, low, points
}

// crossing encloses the smallest epsilon >= 0 at which a decreasing curve, known
// through bounds, is at most delta; limit is where it is known to be.
func crossing(below, above func(epsilon float64) float64, delta, limit float64) dp.Bracket {
	if above(0) <= delta {
		return dp.Bracket{}
	}
	high := limit
	if math.IsInf(high, 1) {
		for high = 1; above(high) > delta; high *= 2 {
			if high > 1e18 {
				return dp.Bracket{Lower: 0, Upper: math.Inf(1)}
			}
		}
	}
	out := dp.Bracket{Lower: 0, Upper: high}
	// Each end is where its side of the curve crosses, on the safe side of the
	// interval that the search ends with.
	_, out.Upper = numeric.Root(func(e float64) float64 { return logRatio(above(e), delta) }, 0, high, 1e-13)
	// The lower side may be sharp only around there, so the search walks down.
	lower := func(e float64) float64 { return logRatio(below(e), delta) }
	for step := 1e-12 * out.Upper; step < out.Upper; step *= 8 {
		if e := out.Upper - step; lower(e) > 0 {
			out.Lower, _ = numeric.Root(lower, e, out.Upper, 1e-13)
			break
		}
	}
	return out
}

func logRatio(a, b float64) float64 {
	if a <= 0 {
		return math.Inf(-1)
	}
	return math.Log(a / b)
}
