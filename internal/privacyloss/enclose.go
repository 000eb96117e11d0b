package privacyloss

import (
	"math"
	"slices"
)

// cell is what lies between two neighbouring points of the lattice, in two halves
// around the middle of the losses. Moments are relative to the left point's ratio.
type cell struct{ left, right halfCell }

// halfCell is Q's mass of half a cell, and its moment of the distance of r from the
// ratio of the half's point, with bounds on their errors.
type halfCell struct{ mass, moment, slack, momentSlack float64 }

// enclose puts the law on a lattice in two ways.
//
// delta(e) is the expectation of (r - exp(e))+ under Q, where r = P/Q. It grows when r is spread
// with its mean kept, and shrinks when parts of r are replaced by their mean (Jensen), or when r
// gets smaller (both are what the convex order says). So:
//
//   - above: the mass between two points goes to these two, with the mean of r kept
//     (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022 connect the dots of
//     delta(e) in the same way);
//   - below: the mass around each point becomes one lump, whose mean is nearly
//     the point's ratio, and lumps take what they need from a neighbour to have
//     it exactly. Where there is not enough, r is rounded down.
//
// Both are off by the square of the distance of the points. All points of the lattice
// are used only where most of the tilted mass is.
func (m mixture) enclose(step, origin, spare, t float64) (below, above *lattice) {
	m = m.within(spare)
	if _, _, atoms := m.atoms(); !atoms {
		origin = m.centre(step)
	}
	at := m.points(step, origin, t, spare)
	cells, atoms, over := m.cells(step, origin, at)
	below = &lattice{step: step, origin: origin, at: at, atoms: atoms}
	above = &lattice{step: step, origin: origin, at: at, atoms: atoms, over: over}
	above.mass, above.slack = spreadMass(cells, at, step)
	below.mass, below.slack = gatherMass(cells, at, step)
	below.weigh()
	above.weigh()
	below.absorb()
	above.absorb()
	return below, above
}

// centre is where a point of the lattice should be: at the mean of what lies around it. Where the
// rate is small nearly all of the mass lies closer together than points do. A lump of it that is
// beside its point needs for its mean what the whole tail has, and takes it, so that a law is left
// that loses next to nothing. Any origin makes an enclosure, so this one need not be exact.
func (m mixture) centre(step float64) (origin float64) {
	end := func(loss float64) float64 {
		rise, _ := m.rise(loss)
		return m.whereRise(rise)
	}
	for range 8 {
		a, b := end(origin-step/2), end(origin+step/2)
		p := m.of.masses(min(a, b), max(a, b))
		if !(p.zero > 0.5) {
			break // the points are close enough to tell the mass apart
		}
		mean := math.Log1p(m.rate * (p.one - p.zero) / p.zero)
		if m.direction == Add {
			mean = -mean
		}
		origin = mean
	}
	return origin
}

// In what follows ratios are relative to the left point of the cell: it is 1, and
// the right one is exp of their distance.

// spreadMass sends the mass of each cell to its ends. The right end gets (moment of r
// above the left ratio)/(difference of the ratios).
func spreadMass(cells []cell, at []int, step float64) (mass, slack []float64) {
	mass, slack = make([]float64, len(at)), make([]float64, len(at))
	for i, c := range cells {
		width := math.Expm1(float64(at[i+1]-at[i]) * step)
		l, r := c.left, c.right
		toRight := (l.moment + (r.mass*width - r.moment)) / width
		toLeft := (l.mass*width - l.moment + r.moment) / width
		wrong := l.slack + r.slack + 2*(l.momentSlack+r.momentSlack)/width + 8*unitRoundoff*(l.mass+r.mass)
		mass[i] += max(0, toLeft)
		mass[i+1] += max(0, toRight)
		slack[i] += wrong
		slack[i+1] += wrong
	}
	return mass, slack
}

func gatherMass(cells []cell, at []int, step float64) (mass, slack []float64) {
	n := len(at)
	mass, slack = make([]float64, n), make([]float64, n)
	excess := make([]float64, n) // mass times (mean - point), relative to the point's ratio
	for i, c := range cells {
		shrink := math.Exp(-float64(at[i+1]-at[i]) * step)
		c.right.moment, c.right.momentSlack = -c.right.moment*shrink, c.right.momentSlack*shrink
		for k, h := range []halfCell{c.left, c.right} {
			if h.mass == 0 {
				continue
			}
			// What is not known of mass and moment is taken from r: less of r is
			// dominated. A mass that is too large then stands for more of Q where r is
			// 0; one that is too small leaves out its share of r. The last term is for
			// the rounding of all that follows, which is relative to the masses.
			wrong := (2+math.Abs(h.moment)/h.mass)*h.slack + h.momentSlack + 64*unitRoundoff*(h.mass+math.Abs(h.moment))
			mass[i+k] += h.mass
			excess[i+k] += h.moment - wrong
		}
	}
	for i, m := range mass {
		slack[i] = 8 * unitRoundoff * m
	}
	l := lumps{mass, excess, slack, at, step}
	// Lumps that are too low take from their right, from the last one on; where that
	// is not enough, they join the lump on their left.
	for i := n - 1; i >= 0; i-- {
		if l.fill(i, 1); excess[i] < 0 && i > 0 {
			l.merge(i, i-1)
		}
	}
	// Lumps that are too high take from their left, where all are in place by now;
	// where that is not enough, they join the lump on their right.
	for i := 0; i < n-1; i++ {
		if l.fill(i, -1); excess[i] > 0 {
			l.merge(i, i+1)
			l.fill(i+1, 1)
		}
	}
	l.fill(n-1, -1)
	l.settle()
	return mass, slack
}

// maxNeighbourPoints is how far a lump looks for mass.
const maxNeighbourPoints = 16

// lumps are masses near the points of the lattice; excess is mass times (mean of r -
// the point's ratio), relative to that ratio.
type lumps struct {
	mass, excess, slack []float64
	at                  []int
	step                float64
}

// away is the distance of point k from point i.
func (l lumps) away(k, i int) float64 { return float64(l.at[k]-l.at[i]) * l.step }

// fill lets a lump take from those on one side, the nearest first, if it lies on
// the other side of its point.
func (l lumps) fill(i, direction int) {
	end := i + direction*maxNeighbourPoints
	for k := i + direction; k >= 0 && k < len(l.mass) && k != end && l.excess[i]*float64(direction) < 0; k += direction {
		l.takeMass(i, k)
	}
}

// takeMass moves to lump i as much of lump k as brings its excess to zero, or all.
func (l lumps) takeMass(i, k int) {
	if l.mass[k] == 0 {
		return
	}
	rise := math.Expm1(l.away(k, i))
	// What all of lump k would add to the excess, relative to the ratio at i.
	have := l.mass[k]*rise + l.excess[k]*(1+rise)
	share := -l.excess[i] / have
	switch {
	case !(share > 0):
		return
	case share >= 1:
		share = 1
		l.excess[i] += have
	default:
		l.excess[i] = 0
	}
	moved := share * l.mass[k]
	// A remainder of k is as exact as the whole of k was.
	l.slack[k] += 8 * unitRoundoff * moved
	l.slack[i] += 8*unitRoundoff*moved + share*l.slack[k]
	l.mass[i] += moved
	l.mass[k] -= moved
	l.excess[k] -= share * l.excess[k]
}

// settle rounds down what is not in place yet: a lump that is too high stays at its
// point, one that is too low goes to the point below its mean.
func (l lumps) settle() {
	for i := range l.mass {
		if l.excess[i] >= 0 || l.mass[i] <= 0 {
			continue
		}
		mean := math.Log1p(max(-1, l.excess[i]/l.mass[i]*(1+1e-12)))
		k := i - 1
		for k >= 0 && l.away(k, i) > mean {
			k--
		}
		if k >= 0 {
			l.mass[k] += l.mass[i]
			l.slack[k] += l.slack[i]
		}
		l.mass[i] = 0
	}
}

// merge puts all of lump i into lump k.
func (l lumps) merge(i, k int) {
	rise := math.Expm1(l.away(i, k))
	l.excess[k] += l.mass[i]*rise + l.excess[i]*(1+rise)
	l.mass[k] += l.mass[i]
	l.slack[k] += l.slack[i]
	l.mass[i], l.excess[i], l.slack[i] = 0, 0, 0
}

// points chooses the points of the lattice that are used, from the one below the
// smallest loss to the one above the largest. What an enclosure is off by is the
// mass, tilted, times the square of the distance of the points, so that where at
// most a fraction 1/(50 s^2) of it is left, only every s-th is used. Any choice
// makes an enclosure; this one makes it nearly as narrow with a tenth of the points.
func (m mixture) points(step, origin, t, spare float64) []int {
	low, high := m.of.ends()
	from, to := m.loss(m.of.log(low)), m.loss(m.of.log(high))
	from, to = min(from, to), max(from, to)
	s := m.sketch(spare)
	log := s.at(t)
	rest := 1.0
	at := []int{int(math.Floor((from - origin) / step))}
	last := int(math.Ceil((to - origin) / step))
	for stride := 1; len(at) < 2 || at[len(at)-1] < last; {
		here := at[len(at)-1] + stride
		at = append(at, here)
		for len(s) > 0 && s[0].loss <= origin+float64(here)*step {
			rest -= math.Exp(t*s[0].loss + s[0].log - log)
			s = s[1:]
		}
		for stride < 256 && float64(stride)*step < 0.5 && rest*50*4*float64(stride*stride) < 1 {
			stride *= 2
		}
		// The last point stays where it is, for an atom may be there.
		stride = max(1, min(stride, last-here))
	}
	return at
}

func (m mixture) cells(step, origin float64, points []int) (cells []cell, atoms []atom, over float64) {
	low, high := m.of.ends()
	below, above := m.of.sides()
	for _, s := range []side{below, above} {
		p := (1-m.rate)*s.zero + m.rate*s.one
		if m.direction == Add {
			p = s.zero
		}
		if s.atom {
			atoms = append(atoms, atom{m.loss(s.log), p})
		} else {
			// A lower bound may leave it out; an upper bound gives it up.
			over += p * (1 + 128*unitRoundoff)
		}
	}
	cells = make([]cell, len(points)-1)
	// The outermost points may miss the ends by rounding, and get all there is.
	a, end := m.cutPointAt(origin+float64(points[0])*step), high
	if a.x = low; m.direction == Add {
		a.x, end = high, low
	}
	m.measure(&a)
	for i := range cells {
		here, next := float64(points[i]), float64(points[i+1])
		rise, _ := m.rise(origin + (here+next)/2*step)
		middle, b := m.whereRise(rise), m.cutPointAt(origin+next*step)
		if i == len(cells)-1 {
			b.x = end
		}
		m.measure(&b)
		c := &cells[i]
		if m.direction == Remove {
			scale := m.rate * math.Exp(-origin-here*step)
			c.left = m.halfCellFrom(a, middle, false, scale)
			c.right = m.halfCellFrom(b, middle, true, scale)
		} else {
			// Losses increase as the noise decreases, and with Q the mixture and r =
			// zero/mixture, r - r0 = (mixture0 - mixture) r0/mixture: the moment of r
			// under Q is r0 times that of the mixture under zero.
			c.left = m.halfCellFrom(a, middle, true, m.rate)
			c.right = m.halfCellFrom(b, middle, false, m.rate*math.Exp((next-here)*step))
		}
		a = b
	}
	return cells, atoms, over
}

// cutPoint is a loss on the lattice: where it is in the noise, and the ratio there, less
// 1, as the loss says, with a bound on its error, and less that at x.
type cutPoint struct{ x, rise, slack, gap float64 }

func (m mixture) cutPointAt(loss float64) cutPoint {
	rise, slack := m.rise(loss)
	return cutPoint{x: m.whereRise(rise), rise: rise, slack: slack}
}

// measure compares the ratio at x with what it should be.
func (m mixture) measure(p *cutPoint) {
	log := m.of.log(p.x)
	rise := math.Expm1(log)
	p.gap = p.rise - rise
	p.slack += unitRoundoff * (4*math.Abs(rise) + 8*math.Abs(log)*(1+rise))
}

// halfCellFrom integrates one half of a cell, between a lattice point and the middle, which is
// below the point if falling. The moment of r is scale times that of s under the noise around 0.
func (m mixture) halfCellFrom(end cutPoint, middle float64, falling bool, scale float64) halfCell {
	a, b := end.x, middle
	if falling {
		a, b = middle, end.x
	}
	if !(a < b) {
		return halfCell{}
	}
	p := m.of.integrate(a, b, falling)
	// The point was placed where its ratio is, up to rounding. A point beyond the
	// end of the noise is farther away than the end.
	gap, wrong := -end.gap, end.slack
	if falling {
		gap = -gap
	}
	if low, high := m.of.ends(); gap > 0 && (end.x == low || end.x == high) {
		p.moment += gap * p.zero
		p.momentSlack += gap*p.zeroSlack + 8*unitRoundoff*gap*p.zero
	} else {
		wrong += math.Abs(gap)
	}
	out := halfCell{p.zero, scale * p.moment, p.zeroSlack, scale * (p.momentSlack + wrong*(p.zero+p.zeroSlack) + 16*unitRoundoff*p.moment)}
	if m.direction == Add {
		out.mass = (1-m.rate)*p.zero + m.rate*p.one
		out.slack += p.oneSlack + 4*unitRoundoff*out.mass
	}
	return out
}

// sketch is the midpoint rule on the noise.
func (m mixture) sketch(spare float64) sketch {
	m = m.within(spare)
	const points = 100
	var out sketch
	add := func(u, mass float64) {
		if m.direction == Remove {
			mass *= 1 + m.rate*math.Expm1(u)
		}
		if mass > smallestMass {
			out = append(out, struct{ loss, log float64 }{m.loss(u), math.Log(mass)})
		}
	}
	below, above := m.of.sides()
	if below.atom {
		add(below.log, below.zero)
	}
	low, high := m.of.ends()
	width := (high - low) / points
	for i := range points {
		x := low + (float64(i)+0.5)*width
		add(m.of.log(x), m.of.density(x)*width)
	}
	if above.atom {
		add(above.log, above.zero)
	}
	if m.direction == Add {
		slices.Reverse(out)
	}
	return out
}

// lattice is a law on origin + step Z: mass[i] is P's mass at number at[i], known up to slack[i];
// over is the mass that was moved to infinity. Atoms beside the lattice keep their places, which
// are known within 16 units. The largest loss by which an atom was moved onto the lattice is shift.
type lattice struct {
	step, origin float64
	at           []int // increasing
	mass         []float64
	slack        []float64
	atoms        []atom
	over, shift  float64
}

// loss returns the place of mass[i].
func (l *lattice) loss(i int) float64 { return l.origin + float64(l.at[i])*l.step }

// atom is a mass, within 128 units, at a loss.
type atom struct{ loss, mass float64 }

// smallestMass is the smallest mass that counts. What is smaller is a slack: tilted by a
// number that a float64 holds it cannot count.
const smallestMass = 1e-280

// weigh turns Q's masses into P's, and sweeps out what is too small.
func (l *lattice) weigh() {
	for i, m := range l.mass {
		at := l.loss(i)
		ratio := math.Exp(at)
		m *= ratio
		wrong := l.slack[i]*ratio + m*unitRoundoff*(8+4*math.Abs(at)+4*math.Abs(l.origin))
		if m < smallestMass {
			m, wrong = 0, wrong+m
		}
		if wrong > 0 {
			wrong += smallestMass
		}
		l.mass[i], l.slack[i] = m, wrong
	}
}

// tilted returns mass exp(exponent), which is no larger than a float64 holds though
// the exponential may be.
func tilted(mass, exponent float64) float64 {
	if mass == 0 {
		return 0
	}
	if exponent > 600 {
		return math.Exp(exponent + math.Log(mass))
	}
	return mass * math.Exp(exponent)
}

// log returns ln M(t), with a bound on its error.
func (l *lattice) log(t float64) (value, slack float64) {
	top := math.Inf(-1)
	for i, m := range l.mass {
		if m > 0 {
			top = max(top, t*l.loss(i)+math.Log(m))
		}
	}
	for _, a := range l.atoms {
		top = max(top, t*a.loss+math.Log(a.mass))
	}
	var sum, wrong float64
	add := func(exponent, mass, slack float64) {
		e := tilted(mass, exponent-top)
		sum += e
		wrong += e*unitRoundoff*(8+4*math.Abs(exponent)+4*math.Abs(top)+4*t*math.Abs(l.origin)) + tilted(slack, exponent-top)
	}
	for i, m := range l.mass {
		add(t*l.loss(i), m, l.slack[i])
	}
	for _, a := range l.atoms {
		add(t*a.loss, a.mass, unitRoundoff*a.mass*(128+16*t*math.Abs(a.loss)))
	}
	wrong += unitRoundoff * sum * float64(len(l.mass)+len(l.atoms))
	if wrong >= sum {
		return top, math.Inf(1)
	}
	return top + math.Log(sum), -math.Log1p(-wrong/sum) + unitRoundoff*(8+2*math.Abs(top))
}

// absorb puts atoms that lie on the lattice, up to rounding, on it.
func (l *lattice) absorb() {
	beside := l.atoms[:0:0]
	for _, a := range l.atoms {
		at := math.Round((a.loss - l.origin) / l.step)
		i, found := slices.BinarySearch(l.at, int(at))
		miss := math.Abs(l.origin + at*l.step - a.loss)
		scale := unitRoundoff * (math.Abs(l.origin) + math.Abs(a.loss))
		if miss > 4*scale || !found {
			beside = append(beside, a)
			continue
		}
		l.mass[i] += a.mass
		l.slack[i] += 128 * unitRoundoff * a.mass
		l.shift = max(l.shift, miss+32*scale)
	}
	l.atoms = beside
}
