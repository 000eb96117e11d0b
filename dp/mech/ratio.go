package mech

import (
	"math"
	"math/big"
)

// NumberNoise is the noise in a released number: of one mechanism, or the sum of some independent
// ones. Where Off is not 0, the number may be off by so many steps more. Without a mechanism the
// number is exact.
type NumberNoise struct {
	Mechanism Mechanism
	Count     int // 0 is 1
	Off       int64
}

// RatioNoise says how far x - a y may be from what it is without noise, for two released numbers x
// and y with independent noises, and for every real a of a range. Averages get their error bars
// from it: see [RatioNoise.Ratio] and [RatioNoise.Part]. It depends on the noises alone.
//
// # The interval
//
// Let X and Y be exact, x = X + S and y = Y + N released, and a = X/Y. Then x - a y is S - a N,
// whose law is known. Let k(a) be such that |S - a N| > k(a) has a probability of at most beta. The
// set of all a with |x - a y| <= k(a) has the true one in it but with probability beta (Fieller
// 1954, for any law): nothing is lost by splitting beta, and no corner of a rectangle is counted.
// What is shown is the interval around that set.
//
// # k(a)
//
// It is at most k1 + |a| k2, with half widths of S and of N that each fail with probability beta/2:
// what that lets through is the interval of [RatioOfIntervals]. It is also at most what follows,
// and the two are used together.
//
// S and N are symmetric with probabilities that fall to both sides, or within some steps of such
// noises: those steps, and |a| times those of N, are added in the end. The sign of a does not
// matter. For a from a0 to a1, 0 <= a0 <= a1, and |N| from z0 to z1, c = a|N| is from c0 = a0 z0 to
// c1 = a1 z1, and P(|S - c| > k) is at most
//
//   - P(|S - m| > k - h), where m is the middle of c0 and c1 and h half of their distance;
//   - P(|S + U - c1| > k - 1/2), with U uniform from -1/2 to 1/2: S + U has a density that is
//     symmetric and falls to both sides, so that this probability grows with |c| (Anderson 1955),
//     and it moves S by 1/2 at most.
//
// The smaller is taken, or the one of a smaller |N| where that is larger, and P(|S - a N| > k) is
// at most the mean of these over the values of |N|. That mean is P(|N| > z) times the steps by
// which they rise, so that upper bounds of the tails of N give an upper bound of it.
type RatioNoise struct {
	cells []ratioCell // by a, up; none where only the half widths are known
	x, y  int64       // half widths of the two numbers, which hold together
}

// ratioCell is k(a) for all |a| that are at most to, and above that of the cell before.
type ratioCell struct{ to, half float64 }

const (
	// ratioStep is by how much the deviation of S - a N grows from one cell to the next, and
	// ratioCells how many there are at most besides ratioFlat of equal widths.
	ratioStep  = 1.006
	ratioCells = 256
	ratioFlat  = 48
	// ratioShare is the share of beta that is beyond all that is computed.
	ratioShare = 1e-6
)

// RatioLaw is what k(a) depends on, for all |a| up to a most. Two that are equal have the same
// k(a), which takes milliseconds to compute: whoever answers strangers keeps and counts what they
// compute.
type RatioLaw struct {
	beta, most   float64
	x, y         law // nil where only half widths are known
	offX, offY   float64
	halfX, halfY int64
}

// NewRatioLaw names the k(a) of two noises for all |a| up to most, with probability beta. That is
// cheap.
func NewRatioLaw(beta float64, x, y NumberNoise, most float64) RatioLaw {
	if y.Mechanism == nil {
		return RatioLaw{beta: beta, most: most, halfX: x.HalfWidth(beta), halfY: y.Off}
	}
	l := RatioLaw{beta: beta, most: most, halfX: x.HalfWidth(beta / 2), halfY: y.HalfWidth(beta / 2)}
	if x.Mechanism == nil || !(beta > 1e-200 && beta < 1) || !(most >= 0 && most < 0x1p62) {
		return l
	}
	lawX, offX, ok1 := x.core()
	lawY, offY, ok2 := y.core()
	if ok1 && ok2 {
		l.x, l.y, l.offX, l.offY = lawX, lawY, offX, offY
	}
	return l
}

// IsSimple reports whether nothing better than the bound of half widths is known.
func (l RatioLaw) IsSimple() bool { return l.x == nil }

// Noise computes k(a).
func (l RatioLaw) Noise() *RatioNoise {
	r := l.Simple()
	if s, ok := newRatioSearch(l); ok {
		r.cells = s.cells(l.most)
	}
	return r
}

// Simple is the bound of half widths alone, which is wider and cheap.
func (l RatioLaw) Simple() *RatioNoise { return NewRatioNoiseWithin(l.halfX, l.halfY) }

// HalfWidth is k(a) where |a| is the most: see [RatioNoise].
func (l RatioLaw) HalfWidth() float64 {
	simple := l.SimpleHalfWidth()
	if s, ok := newRatioSearch(l); ok {
		return math.Min(simple, s.halfWidth(l.most, l.most, 0)+s.offX+l.most*s.offY)
	}
	return simple
}

// SimpleHalfWidth is the bound on k(a) that half widths give where |a| is the most.
func (l RatioLaw) SimpleHalfWidth() float64 { return float64(l.halfX) + l.most*float64(l.halfY) }

// NewRatioNoise computes k(a) for all |a| up to most, with probability beta.
func NewRatioNoise(beta float64, x, y NumberNoise, most float64) *RatioNoise {
	return NewRatioLaw(beta, x, y, most).Noise()
}

// NewRatioNoiseWithin is noise of which only half widths are known, which hold together.
func NewRatioNoiseWithin(x, y int64) *RatioNoise { return &RatioNoise{x: x, y: y} }

// RatioHalfWidth is k(a) of a single a: see [RatioNoise].
func RatioHalfWidth(beta float64, x, y NumberNoise, a float64) float64 {
	return NewRatioLaw(beta, x, y, math.Abs(a)).HalfWidth()
}

// HalfWidth returns a k that the number is off by at most, but with probability beta.
func (n NumberNoise) HalfWidth(beta float64) int64 {
	w := int64(0)
	switch {
	case n.Mechanism == nil:
	case n.Count <= 1:
		w = n.Mechanism.HalfWidth(beta)
	default:
		sum, err := HalfWidthOfSum(beta, Term{Mechanism: n.Mechanism, Count: n.Count, Weight: 1})
		if err != nil {
			return math.MaxInt64
		}
		w = sum
	}
	return addClamped(w, n.Off)
}

// core is a law that is symmetric and falls to both sides, and how many steps the noise may be from
// it: see [AveragedNoise] and [MarginalNoise], whose normal is within one step of a discrete one.
func (n NumberNoise) core() (l law, off float64, ok bool) {
	if n.Count > 1 {
		return nil, 0, false
	}
	switch m := n.Mechanism.(type) {
	case *AveragedNoise:
		return m.law(), float64(n.Off) + float64(m.off) + 1, true
	case *MarginalNoise:
		return newGaussianLaw(new(big.Rat).SetFloat64(m.deviation * m.deviation * (1 + 0x1p-50))), float64(n.Off) + m.far + 1, true
	}
	if n.Off > 0 { // which is said of an average, too, whose half widths need no more
		off = float64(n.Off) + 1
	}
	return n.Mechanism.law(), off, true
}

// Ratio returns an interval that has the quotient of two exact numbers in it, given their noisy
// values, and an estimate, where the quotient is known to be from low to high. The interval holds
// with probability 1 - beta. The estimate is inside of it but where the noise is that large.
func (r *RatioNoise) Ratio(x, y int64, low, high float64) (estimate, from, to float64) {
	lo, hi := new(big.Rat).SetFloat64(low), new(big.Rat).SetFloat64(high)
	estimate, a, b := ratioEnds(Noisy{x, r.x}.around(), Noisy{y, r.y}.around(), lo, hi)
	from, to = floatDown(a), floatUp(b)
	return r.narrowed(estimate, from, to, low, high, func() (float64, float64, bool) {
		return r.accepted(float64(x), float64(y), from, to)
	})
}

// Part returns an interval that has width X/(X+Y) in it, given the noisy values of two sums that
// are not negative and have the same noise, and an estimate; see [PartInterval] and
// [RatioNoise.Ratio]. With f = X/(X+Y), the noises of (1-f) x - f y are (1-f) S - f N; divided by
// the larger of f and 1-f it is x - a y or y - a x with an a of at most 1.
func (r *RatioNoise) Part(x, y int64, width float64) (estimate, from, to float64) {
	whole := new(big.Rat).SetFloat64(width)
	estimate, a, b := partEnds(Noisy{x, r.x}.around(), Noisy{y, r.y}.around(), whole)
	from, to = floatDown(a), floatUp(b)
	return r.narrowed(estimate, from, to, 0, width, func() (least, most float64, ok bool) {
		below, above, ok1 := r.accepted(float64(x), float64(y), 0, 1)
		least, most = width, 0.0
		if ok1 { // f/(1-f) is at most 1
			least, most = below/(1+below)*width*(1-0x1p-50), above/(1+above)*width*(1+0x1p-50)
		}
		below, above, ok2 := r.accepted(float64(y), float64(x), 0, 1)
		if ok2 {
			least = math.Min(least, width/(1+above)*(1-0x1p-50))
			most = math.Max(most, width/(1+below)*(1+0x1p-50))
		}
		return least, most, ok1 || ok2
	})
}

// narrowed cuts an interval to another one that holds as well: both let through what is within a
// bound of k(a), so that together they let through what is within the smaller one. Where nothing is
// left, one of the errors is larger than it is with probability 1 - beta, and the answer is all
// that is public.
func (r *RatioNoise) narrowed(estimate, from, to, low, high float64, other func() (float64, float64, bool)) (e, a, b float64) {
	if len(r.cells) == 0 {
		return estimate, from, to
	}
	least, most, ok := other()
	least, most = math.Max(from, least), math.Min(to, most)
	if !ok || least > most {
		return estimate, low, high
	}
	return estimate, least, most
}

// accepted is the interval around all a from low to high with |x - a y| <= k(a).
//
// In a cell k is one number, so that these are the a between two quotients, which are moved
// outwards for rounding. That a number was cut to 64 bits does not matter: sums have 62 bits, and
// noise of another 2^62 steps has a probability below exp(-2^20).
func (r *RatioNoise) accepted(x, y, low, high float64) (from, to float64, ok bool) {
	from, to = math.Inf(1), math.Inf(-1)
	before := 0.0
	for _, c := range r.cells {
		half := c.half + (math.Abs(x)+c.half)*0x1p-50
		for _, cell := range [2][2]float64{{before, c.to}, {-c.to, -before}} {
			p, q := math.Max(low, cell[0]), math.Min(high, cell[1])
			if p > q {
				continue
			}
			a, b := (x-half)/y, (x+half)/y
			switch {
			case y < 0:
				a, b = b, a
			case y == 0 && math.Abs(x) > half:
				continue
			case y == 0:
				a, b = p, q
			}
			a, b = math.Max(p, a-math.Abs(a)*0x1p-50), math.Min(q, b+math.Abs(b)*0x1p-50)
			if a <= b {
				from, to = math.Min(from, a), math.Max(to, b)
			}
		}
		before = c.to
	}
	// Beyond the last cell nothing is known.
	if high > before {
		to, from = high, math.Min(from, math.Max(low, before))
	}
	if low < -before {
		from, to = low, math.Max(to, math.Min(high, -before))
	}
	return from, to, from <= to
}

// ratioSearch computes k(a): see [RatioNoise].
type ratioSearch struct {
	beta       float64
	x          tailTable
	at         []float64 // values of |N|, up
	tails      []float64 // upper bounds on P(|N| > at[i])
	devX, devY float64
	simple     [2]float64 // half widths of S and N that each fail with probability beta/2
	offX, offY float64
}

func newRatioSearch(l RatioLaw) (*ratioSearch, bool) {
	if l.IsSimple() {
		return nil, false
	}
	lawX, lawY, beta := l.x, l.y, l.beta
	s := &ratioSearch{beta: beta, offX: l.offX, offY: l.offY}
	s.devX, s.devY = math.Sqrt(lawX.variance()), math.Sqrt(lawY.variance())
	s.simple = [2]float64{float64(lawX.halfWidth(beta / 2)), float64(lawY.halfWidth(beta / 2))}
	far := lawX.halfWidth(beta * ratioShare)
	step := int64(math.Max(1, math.Floor(s.devX/256)))
	if far/step > 1<<16 {
		return nil, false
	}
	s.x = newTailTable(lawX, evenly(step, far/step+1))
	s.x.step = float64(step)
	s.setAtoms(lawY)
	return s, true
}

// setAtoms chooses the values of |N| that are told apart: all of them where they are few, and a
// share of the deviation apart where not, wider where they are rare.
func (s *ratioSearch) setAtoms(l law) {
	far := float64(l.halfWidth(s.beta * ratioShare))
	fine, coarse := math.Max(1, math.Floor(s.devY/40)), math.Max(1, math.Floor(s.devY/4))
	points := []int64{0}
	for z := 0.0; z < far; {
		if z < 5*s.devY {
			z += fine
		} else {
			z += coarse
		}
		points = append(points, int64(z))
	}
	table := newTailTable(l, points)
	for i, z := range points {
		s.at = append(s.at, float64(z))
		s.tails = append(s.tails, math.Min(1, 2*table.up[i]))
	}
}

// cells are those of all a up to most. From one to the next the deviation of S - a N grows by one
// factor, or a by one step where that is less.
func (s *ratioSearch) cells(most float64) []ratioCell {
	growth := math.Log(math.Hypot(s.devX, most*s.devY) / s.devX)
	factor := math.Exp(math.Max(math.Log(ratioStep), growth/ratioCells))
	var out []ratioCell
	at, half := 0.0, s.halfWidth(0, 0, 0)
	for {
		next := math.Sqrt((factor*factor-1)*s.devX*s.devX+math.Pow(factor*at*s.devY, 2)) / s.devY
		if flat := at + most/ratioFlat; !(next > at && next < flat) {
			next = flat
		}
		if !(next > at && next < most) {
			next = most
		}
		half = s.halfWidth(at, next, half)
		out = append(out, ratioCell{next, half + s.offX + next*s.offY})
		if at = next; at >= most {
			return out
		}
	}
}

// halfWidth is a k with P(|S - a N| > k) <= beta for all a from a0 to a1. It starts to look from a
// guess.
func (s *ratioSearch) halfWidth(a0, a1, guess float64) float64 {
	enough := func(k float64) bool { return s.outside(a0, a1, k) <= s.beta*(1-1e-9) }
	high := (s.simple[0] + a1*s.simple[1]) * (1 + 1e-12)
	if enough(0) {
		return 0
	}
	low := 0.0
	if next := guess * ratioStep; guess > 0 && next < high {
		if low = next; enough(next) {
			low, high = guess*(2-ratioStep), next
		}
	}
	for high-low > high/4096 {
		if k := (low + high) / 2; enough(k) {
			high = k
		} else {
			low = k
		}
	}
	return high
}

// outside is an upper bound on P(|S - a N| > k) for all a from a0 to a1; where it is above beta it
// may be any number above.
func (s *ratioSearch) outside(a0, a1, k float64) float64 {
	total, before, p, c0 := 0.0, 1.0, 0.0, 0.0
	for i, z := range s.at {
		if i > 0 {
			c0 = a0 * (s.at[i-1] + 1)
		}
		c1 := a1 * z
		p = math.Max(p, math.Min(s.x.outside((c0+c1)/2, k-(c1-c0)/2), s.x.outsideSmooth(c1, k-0.5)))
		if p >= 1 {
			return total + before
		}
		total += (before - s.tails[i]) * p
		if total > s.beta {
			return 1
		}
		before = s.tails[i]
	}
	return total + before
}

// tailTable has bounds on P(Z > points[i]), upper and lower ones.
type tailTable struct {
	step    float64 // the points are 0, step, 2 step, ...
	up, low []float64
}

func evenly(step, n int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i) * step
	}
	return out
}

// newTailTable adds up blocks from the far end.
func newTailTable(l law, points []int64) tailTable {
	n := len(points)
	t := tailTable{up: make([]float64, n), low: make([]float64, n)}
	t.up[n-1] = l.tail(points[n-1]) / 2
	for i := n - 2; i >= 0; i-- {
		mass, err := l.block(points[i]+1, points[i+1])
		t.up[i] = math.Min(0.5, (t.up[i+1]+mass+err)*(1+0x1p-50))
		t.low[i] = math.Max(0, (t.low[i+1]+mass-err)*(1-0x1p-50))
	}
	return t
}

// beyond is at least P(Z > t).
func (t tailTable) beyond(x float64) float64 {
	if x >= 0 {
		return t.up[int(math.Min(math.Floor(x/t.step), float64(len(t.up)-1)))]
	}
	// P(Z > x) is 1 - P(Z > m) with the largest integer m that is below -x.
	i := math.Ceil((math.Ceil(-x) - 1) / t.step)
	if i >= float64(len(t.low)) {
		return 1
	}
	return 1 - t.low[int(i)]
}

// outside is at least P(|Z - c| > k). Its arguments are off by rounding.
func (t tailTable) outside(c, k float64) float64 {
	k -= (c + math.Abs(k)) * 1e-12
	if k < 0 {
		return 1
	}
	return t.beyond(c+k) + t.beyond(k-c)
}

// outsideSmooth is at least P(|Z + U - c| > k), with U uniform from -1/2 to 1/2.
func (t tailTable) outsideSmooth(c, k float64) float64 {
	k -= (c + math.Abs(k)) * 1e-12
	if k < 0 {
		return 1
	}
	return t.smooth(c+k) + t.smooth(k-c)
}

// smooth is at least P(Z + U > x). With j the integer nearest to x, that is Z > j, or Z = j and U >
// x - j.
func (t tailTable) smooth(x float64) float64 {
	if t.step > 1 {
		return t.beyond(x - 0.5)
	}
	j := math.Floor(x + 0.5)
	part := x + 0.5 - j
	return (1-part)*t.beyond(j-1) + part*t.beyond(j)
}
