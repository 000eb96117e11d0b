package privacyloss

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
)

// grid is a sum's generating function on the line Re z = t at the frequencies 2 pi j/window, ready
// to give delta(epsilon) for any epsilon. See the package comment for the formula.
type grid struct {
	t, window float64
	log, slip float64    // K(t), and a bound on its error
	never     dp.Bracket // the mass at infinity
	top       float64    // the largest loss
	tail      tail       // for the upper tail
	shift     float64    // bounds what losses were moved by, all together
	weigh     weigher
}

// weigher computes the expectation, under the tilted law, of the periodic exp(-t
// x)(1 - exp(-x)) at x = loss - epsilon, with a bound on its error.
type weigher interface {
	weigh(epsilon float64) (value, wrong float64)
}

// tail is K(s) at an s > t, rounded up.
type tail struct{ s, log float64 }

func (g *grid) delta(epsilon float64) dp.Bracket {
	exponent := g.log - g.t*epsilon
	loose := g.slip + unitRoundoff*(8+4*math.Abs(g.log)+4*g.t*math.Abs(epsilon))
	if exponent+loose < -690 {
		// Smaller than we can say: the expectation is at most 1.
		return clampUnit(dp.Bracket{Lower: g.never.Lower, Upper: g.never.Upper + 1e-290})
	}
	scale := math.Exp(exponent)
	value, wrong := g.weigh.weigh(epsilon)
	upper := scale * (value + wrong) * math.Exp(loose)
	lower := scale*(value-wrong)*math.Exp(-loose) - g.alias(epsilon)
	return clampUnit(dp.Bracket{
		Lower: g.never.Lower + max(0, lower)*(1-8*unitRoundoff),
		Upper: (g.never.Upper + max(0, upper)) * (1 + 8*unitRoundoff),
	})
}

// alias bounds what the periods other than our own add: the sum over m >= 1 of
// exp(-t m W) delta(e - m W) and of exp(t m W) delta(e + m W). In the first delta is
// at most 1, in the second at most peak(s) exp(K(s) - s (e + m W)) for any s.
func (g *grid) alias(epsilon float64) float64 {
	// The sum of exp(log - m step) over m >= 1.
	geometric := func(log, step float64) float64 { return math.Exp(log-step) / -math.Expm1(-step) }
	left := geometric(0, g.t*g.window)
	right := math.Inf(1)
	if epsilon+g.window >= g.top {
		right = 0
	}
	if f := g.tail; f.s > g.t {
		right = min(right, geometric(f.log+logPeak(f.s)-f.s*epsilon, (f.s-g.t)*g.window))
	}
	return (left + right) * (1 + 1e-9)
}

// factors is the generating function of a sum: the laws with a closed form, and
// those on a lattice as their spectra.
type factors struct {
	t         float64
	analytic  []analyticTerm
	product   product      // of the spectra without atoms
	spectra   []*spectrum  // those with atoms
	origin    float64      // of all lattices in the product together
	atZero    []complex128 // the cumulants of analytic at t
	slackZero []float64
}

// What is below exp(dead) is too small to matter, and at most tiny.
const (
	negligibleLog = -80.0
	negligible    = 1e-34
)

// addLog adds times a logarithm to another, with bounds on their errors.
func addLog(log complex128, slack, times float64, more complex128, wrong float64) (complex128, float64) {
	log += complex(times*real(more), times*imag(more))
	// The product is rounded, and the sum is.
	return log, slack + times*(wrong+unitRoundoff*(math.Abs(real(more))+math.Abs(imag(more)))) +
		unitRoundoff*(math.Abs(real(log))+math.Abs(imag(log)))
}

// log returns the logarithm of M(t+iy)/M(t) at y = 2 pi j/window, with a bound on
// its error, or something below dead.
func (f *factors) log(j int, y float64) (log complex128, slack float64) {
	if f.product.logs != nil {
		log, slack = f.product.at(j)
	}
	if f.origin != 0 {
		log, slack = addLog(log, slack, 1, complex(0, y*f.origin), 8*unitRoundoff*math.Abs(y*f.origin))
	}
	for _, s := range f.spectra {
		if real(log)+slack < negligibleLog {
			return log, slack
		}
		v, wrong := logOf(s.at(j, y))
		log, slack = addLog(log, slack, s.times, v, wrong)
	}
	for i, a := range f.analytic {
		if real(log)+slack < negligibleLog {
			return log, slack
		}
		v, wrong := a.law.cumulant(complex(f.t, y))
		wrong += f.slackZero[i] + unitRoundoff*(math.Abs(imag(v))+math.Abs(real(v)))
		log, slack = addLog(log, slack, a.times, v-f.atZero[i], wrong)
	}
	return log, slack
}

// at returns M(t+iy)/M(t) at y = 2 pi j/window, with a bound on its error. A value
// that is known to be below tiny is 0.
func (f *factors) at(j int, y float64) (phi complex128, wrong float64) {
	log, slack := f.log(j, y)
	if real(log)+slack < negligibleLog {
		return 0, negligible
	}
	// |phi| <= 1, so that a bound of 1 always holds for 0.
	slack += 16 * unitRoundoff * (1 + math.Abs(real(log)))
	if !(slack < 1) {
		return 0, max(negligible, min(1, math.Exp(min(0, real(log)+slack))))
	}
	r := math.Exp(real(log))
	sin, cos := math.Sincos(imag(log))
	return complex(r*cos, r*sin), r * math.Expm1(slack)
}

// newGrid prepares everything but the weigher. The upper tail is bounded at far, or
// not if that is 0, which upper bounds do without.
func newGrid(analytics []analyticTerm, lattices []latticeTerm, t, far, window float64, points int) (*grid, *factors) {
	g, f := &grid{t: t, window: window}, &factors{t: t, analytic: analytics}
	g.tail.s = far
	never, total := 0.0, 0.0
	add := func(times, log, slip, tail, over float64) {
		g.log += times * log
		g.slip += times * slip
		g.tail.log += times * tail
		total += times * (math.Abs(log) + math.Abs(tail))
		never += times * math.Log1p(-over)
	}
	var all *frequencies
	if len(lattices) > 0 {
		all = newFrequencies(points)
	}
	for _, l := range lattices {
		live := f.product.live
		if len(l.law.atoms) > 0 {
			live = nil
		}
		s, log, slip := all.transform(l.law, t, l.times, live)
		if len(s.atoms) == 0 {
			f.product.multiply(s)
			f.origin += l.times * l.law.origin
		} else {
			f.spectra = append(f.spectra, s)
		}
		g.shift += l.times * l.law.shift * (1 + 1e-9)
		var v, slack float64
		if far > 0 {
			v, slack = l.law.log(far)
		}
		add(l.times, log, slip, v+slack, l.law.over)
	}
	for _, a := range analytics {
		log, slip := a.law.cumulant(complex(t, 0))
		f.atZero = append(f.atZero, log)
		f.slackZero = append(f.slackZero, slip)
		v, slack := a.law.cumulant(complex(far, 0))
		add(a.times, real(log), slip, real(v)+slack, a.law.infinite())
	}
	terms := float64(len(lattices) + len(analytics))
	g.slip += unitRoundoff * (terms + 8) * total
	g.tail.log += unitRoundoff * (terms + 8) * total
	mass := -math.Expm1(never)
	g.never = bracket(mass, mass*unitRoundoff*(32+2*terms))
	return g, f
}

// comb weighs a sum all of whose losses lie on one lattice, offset + spacing Z: the
// series is finite then, and nothing is cut off. With N points to the window, u the
// distance from epsilon up to the next point of the lattice, a the spacing, and A =
// exp(-z a) at z = t + i y_j, the geometric sums over the points above epsilon give
//
//	1/N sum over j of phi(y_j) exp(-i y_j (epsilon+u)) exp(-t u)
//	  (1/(1 - A) - exp(-u)/(1 - A exp(-a))),
//
// and the last line is, with B = 1/((1 - A)(1 - A exp(-a))),
//
//	(1 - exp(-u)) B + (exp(-u) - exp(-a)) A B,
//
// where nothing cancels however small a is.
type comb struct {
	t               float64
	spacing, offset float64
	window          float64
	plain, shifted  teeth // with B, and with A B
}

// teeth are the terms of one of the two sums.
type teeth struct {
	first   float64      // the term at j = 0
	values  []complex128 // twice those at j = 1 .. N/2
	size    float64      // the sum of sizes
	wrong   float64      // what the errors of the values add up to
	turning float64      // what an error of the point does, per unit
}

func (c *comb) weigh(epsilon float64) (value, wrong float64) {
	// The point above epsilon. If rounding takes the wrong one of two, u is zero or
	// the spacing up to rounding, and the terms differ by as much.
	steps := math.Ceil((epsilon - c.offset) / c.spacing)
	point := c.offset + steps*c.spacing
	u := min(c.spacing, max(0, point-epsilon))
	angle := 2 * math.Pi * point / c.window
	// Of u and of the point. The spacing is rounded, too: losses beyond epsilon, by
	// about 1/t, are off by a unit of themselves.
	slip := 16*unitRoundoff*(math.Abs(point)+math.Abs(c.offset)+math.Abs(epsilon)) + unitRoundoff/c.t
	add := func(s *teeth, share float64) {
		value += share * (s.first + rotate(s.values, angle))
		wrong += share*(s.wrong+s.turning*slip+s.size*(unitRoundoff*(600+float64(len(s.values))/8)+c.t*slip)) + s.size*slip
	}
	add(&c.plain, -math.Expm1(-u))
	add(&c.shifted, -math.Expm1(u-c.spacing)*math.Exp(-u))
	scale := math.Exp(-c.t * u)
	return scale * value, scale * wrong * (1 + 1e-9)
}

// newComb computes the terms; points is even. It stops where faded says that all
// that is left is below tiny, and gives up when there is more than limit.
func newComb(f *factors, spacing, offset, points float64, limit int, faded func(y float64) bool) (c *comb, ok bool) {
	window := spacing * points
	c = &comb{t: f.t, spacing: spacing, offset: offset, window: window}
	share := 1 / points
	c.plain.first = share / (math.Expm1(-f.t*spacing) * math.Expm1(-(f.t+1)*spacing))
	c.shifted.first = c.plain.first * math.Exp(-f.t*spacing)
	c.plain.size, c.shifted.size = c.plain.first, c.shifted.first
	share *= 2
	for j := 1; float64(j) <= points/2; j++ {
		if j > limit {
			return nil, false
		}
		if 2*float64(j) == points {
			share /= 2
		}
		y := 2 * math.Pi * float64(j) / window
		phi, wrong := f.at(j, y)
		z := complex(f.t, y)
		low, lowSlack := expm1(-z * complex(spacing, 0))
		high, highSlack := expm1(-(z + 1) * complex(spacing, 0))
		loose := 64*unitRoundoff + 2*lowSlack/size(low) + 2*highSlack/size(high)
		b := complex(share, 0) / (low * high)
		if phi == 0 && j%64 == 0 && faded(y) {
			// |1 - A| and |1 - A exp(-a)| increase up to the half of the period.
			rest := negligible * size(b) / share * (1 + loose)
			c.plain.wrong += rest
			c.shifted.wrong += rest
			break
		}
		c.plain.add(phi, b, wrong, loose, y)
		sin, cos := math.Sincos(y * spacing)
		a := math.Exp(-f.t * spacing)
		c.shifted.add(phi, b*complex(a*cos, -a*sin), wrong, loose+unitRoundoff*(16+8*(f.t+y)*spacing), y)
	}
	return c, true
}

// add appends a term: phi, known up to wrong, times b, known up to loose of itself.
func (s *teeth) add(phi, b complex128, wrong, loose, y float64) {
	v := phi * b
	s.values = append(s.values, v)
	s.size += size(v)
	s.wrong += size(b)*wrong*(1+loose) + size(v)*(loose+16*unitRoundoff)
	s.turning += size(v) * y
}

// commonLattice returns the one lattice of all laws, if there is one.
func commonLattice(analytics []analyticTerm) (step, offset float64, ok bool) {
	var all spacing
	odd := false
	for i, a := range analytics {
		s, is := a.law.(spaced)
		if !is {
			return 0, 0, false
		}
		own, half := s.lattice()
		if i > 0 && own != all {
			return 0, 0, false
		}
		all = own
		if half && math.Mod(a.times, 2) == 1 {
			odd = !odd
		}
	}
	if len(analytics) == 0 {
		return 0, 0, false
	}
	step = all.over / all.under
	if odd {
		offset = step / 2
	}
	return step, offset, true
}

// faded reports whether |M(t+iv)|/M(t) is below tiny for v from y to the half of the common period.
func (f *factors) faded(y float64) bool {
	log := 0.0
	for _, a := range f.analytic {
		s, ok := a.law.(spaced)
		if !ok {
			return false
		}
		log += a.times * s.fade(f.t, y)
	}
	return log < negligibleLog-1 && len(f.analytic) > 0
}

// series weighs with the Fourier series of the periodic weight, whose j-th coefficient is 1/(W
// z(z+1)) at z = t + 2 pi i j/W, cut off where a bound on the rest is small enough.
type series struct {
	window  float64
	first   float64      // the term at j = 0
	values  []complex128 // twice those at j = 1 ..
	wrong   float64      // what the errors of the values add up to
	turning float64      // what an error of the angle does, per unit of epsilon
	size    float64      // the sum of sizes
	rest    float64      // bounds what is cut off
}

func (s *series) weigh(epsilon float64) (value, wrong float64) {
	value = s.first + rotate(s.values, 2*math.Pi*epsilon/s.window)
	return value, s.rest + s.wrong + unitRoundoff*(s.turning*math.Abs(epsilon)+s.size*(600+float64(len(s.values))/8))
}

// rotate is the sum over j >= 1 of Re(values[j-1] exp(-i j angle)). The rotation is
// computed afresh every 64 steps, so that its error stays below 600 units.
func rotate(values []complex128, angle float64) float64 {
	sin, cos := math.Sincos(angle)
	step := complex(cos, -sin)
	total := 0.0
	for from := 0; from < len(values); from += 64 {
		sin, cos := math.Sincos(angle * float64(from+1))
		turn := complex(cos, -sin)
		part := 0.0
		for _, v := range values[from:min(from+64, len(values))] {
			part += real(v)*real(turn) - imag(v)*imag(turn)
			turn *= step
		}
		total += part
	}
	return total
}

// newSeries computes the terms, doubling their number until the rest is below goal,
// relative to the first term, or the limit is reached.
func newSeries(f *factors, window float64, points, count, limit int, goal float64) *series {
	s := &series{window: window, first: 1 / (window * f.t * (f.t + 1))}
	s.size = s.first
	// The coefficients of j and -j together are below window/(2 pi^2 j^2).
	weight := window / (2 * math.Pi * math.Pi) * (1 + 8*unitRoundoff)
	for done := 0; ; count *= 2 {
		for j := done + 1; j <= count; j++ {
			y := 2 * math.Pi * float64(j) / window
			phi, wrong := f.at(j, y)
			z := complex(f.t, y)
			coefficient := complex(2/window, 0) / (z * (z + 1))
			v := phi * coefficient
			s.values = append(s.values, v)
			s.size += size(v)
			s.wrong += size(coefficient)*wrong*(1+64*unitRoundoff) + size(v)*64*unitRoundoff
			s.turning += size(v) * 8 * y
		}
		done = count
		s.rest = weight * f.remainder(count, points, 2*math.Pi*float64(count+1)/window)
		if s.rest <= goal*s.first || 2*count > limit {
			s.wrong *= 1 + unitRoundoff*float64(count)
			return s
		}
	}
}

// remainder bounds the sum over j > count of |M(t+iy)|/M(t)/j^2, where y is the
// first of these frequencies.
func (f *factors) remainder(count, points int, y float64) float64 {
	// For all of the frequencies, and for those up to the half of the shortest period
	// among the laws that repeat themselves.
	log, faded, half := 0.0, 0.0, math.Inf(1)
	for _, a := range f.analytic {
		log += a.times * a.law.decay(f.t, y)
		if s, ok := a.law.(spaced); ok {
			step, _ := s.lattice()
			half = min(half, math.Pi*step.under/step.over*(1-8*unitRoundoff))
			faded += a.times * s.fade(f.t, y)
		}
	}
	shrink := math.Exp(log) * (1 + 1e-9)
	if points == 0 {
		rest := 1 / float64(count)
		if steps := math.Floor(half/y*float64(count+1)*(1-8*unitRoundoff)) - 1; faded < 0 && steps > float64(count) {
			// Up to the half, and beyond.
			rest = rest*math.Exp(faded) + 1/steps
		}
		return shrink * rest
	}
	// On the lattice sizes repeat with period points; what comes after count is summed over the
	// residues. The sum over m >= 0 of 1/(j + m n)^2 is at most 1/j^2 + 1/(n j).
	sum := 0.0
	for r := range points {
		bound := 0.0
		if f.product.logs != nil {
			log, slack := f.product.at(r)
			bound = real(log) + slack
		}
		for _, s := range f.spectra {
			bound += s.times * s.bound(r)
		}
		j := float64(count + 1 + ((r-count-1)%points+points)%points)
		sum += math.Exp(min(0, max(bound, negligibleLog))) * (1/(j*j) + 1/(float64(points)*j))
	}
	return shrink * sum * (1 + 1e-9)
}
