package loss

import "math"

// cell is what lies between two neighbouring points of the lattice, in two halves
// around the middle of the losses: under Q, the mass of the left half and its
// moment of r above the left point's ratio, the mass of the right half and its
// moment of r below the right point's ratio.
type cell struct {
	left, leftMoment, right, rightMoment float64
	slack, momentSlack                   float64
}

// enclose puts the law on a lattice in two ways.
//
// delta(e) is the expectation of (r - exp(e))+ under Q, where r = P/Q. It grows
// when r is spread with its mean kept, and shrinks when parts of r are replaced by
// their mean (Jensen), or when r gets smaller (both are what the convex order
// says). So:
//
//   - above: the mass between two points goes to these two, with the mean of r kept
//     (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022 connect the dots of
//     delta(e) in the same way);
//   - below: the mass around each point becomes one lump, whose mean is nearly
//     the point's ratio, and lumps take what they need from a neighbour to have
//     it exactly. Where there is not enough, r is rounded down.
//
// Both are off by the square of the step.
func (m mixture) enclose(step, origin, spare float64) (below, above *lattice) {
	m = m.within(spare)
	first, cells, atoms, over := m.cells(step, origin)
	below = &lattice{step: step, origin: origin, low: first, atoms: atoms}
	above = &lattice{step: step, origin: origin, low: first, atoms: atoms, over: over}
	above.mass, above.slack = spread(cells, step)
	below.mass, below.slack = gather(cells, step)
	// From Q's masses to P's.
	for i := range above.mass {
		ratio := math.Exp(above.loss(i))
		above.mass[i] *= ratio
		below.mass[i] *= ratio
		above.slack[i] = above.slack[i]*ratio + above.mass[i]*unit*8
		below.slack[i] = below.slack[i]*ratio + below.mass[i]*unit*8
	}
	below.absorb()
	above.absorb()
	return below, above
}

// In what follows ratios are relative to the left point of the cell: it is 1, and
// the right one is exp(step).

// spread sends the mass of each cell to its ends. The right end gets (moment of r
// above the left ratio)/(difference of the ratios).
func spread(cells []cell, step float64) (mass, slack []float64) {
	mass, slack = make([]float64, len(cells)+1), make([]float64, len(cells)+1)
	width := math.Expm1(step)
	for i, c := range cells {
		toRight := (c.leftMoment + (c.right*width - c.rightMoment)) / width
		toLeft := (c.left*width - c.leftMoment + c.rightMoment) / width
		wrong := c.slack + 2*c.momentSlack/width + 8*unit*(c.left+c.right)
		mass[i] += max(0, toLeft)
		mass[i+1] += max(0, toRight)
		slack[i] += wrong
		slack[i+1] += wrong
	}
	return mass, slack
}

// gather makes lumps around the points.
func gather(cells []cell, step float64) (mass, slack []float64) {
	n := len(cells) + 1
	mass, slack = make([]float64, n), make([]float64, n)
	excess := make([]float64, n) // mass times (mean - point), relative to the point's ratio
	before := -math.Expm1(-step)
	shrink := math.Exp(-step)
	for i, c := range cells {
		mass[i] += c.left
		excess[i] += c.leftMoment
		mass[i+1] += c.right
		excess[i+1] -= c.rightMoment * shrink
		wrong := c.slack + 2*c.momentSlack/before + 8*unit*(c.left+c.right)
		slack[i] += wrong
		slack[i+1] += wrong
	}
	l := lumps{mass, excess, slack, step}
	// Lumps that are too low take from their right, from the last one on; where that
	// is not enough, they join the lump on their left.
	for i := n - 1; i > 0; i-- {
		if l.fill(i, 1); excess[i] < 0 {
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

// neighbours is how far a lump looks for mass.
const neighbours = 16

// lumps are masses near the points of the lattice; excess is mass times (mean of r -
// the point's ratio), relative to that ratio.
type lumps struct {
	mass, excess, slack []float64
	step                float64
}

// fill lets a lump take from those on one side, the nearest first, if it lies on
// the other side of its point.
func (l lumps) fill(i, direction int) {
	for k := i + direction; k >= 0 && k < len(l.mass) && k != i+direction*neighbours && l.excess[i]*float64(direction) < 0; k += direction {
		l.take(i, k)
	}
}

// take moves to lump i as much of lump k as brings its excess to zero, or all.
func (l lumps) take(i, k int) {
	if l.mass[k] == 0 {
		return
	}
	grow := math.Exp(float64(k-i) * l.step)
	// What all of lump k would add to the excess, relative to the ratio at i.
	have := l.mass[k]*math.Expm1(float64(k-i)*l.step) + l.excess[k]*grow
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
	l.mass[i] += share * l.mass[k]
	l.slack[i] += share * l.slack[k]
	l.mass[k] -= share * l.mass[k]
	l.excess[k] -= share * l.excess[k]
	l.slack[k] -= share * l.slack[k]
}

// settle rounds down what is not in place yet: a lump that is too high stays at its
// point, one that is too low goes to the point below its mean.
func (l lumps) settle() {
	for i := range l.mass {
		if l.excess[i] >= 0 || l.mass[i] <= 0 {
			continue
		}
		mean := math.Log1p(max(-1, l.excess[i]/l.mass[i]*(1+1e-12)))
		k := i + int(math.Max(-float64(len(l.mass)), math.Floor(mean/l.step)))
		if k >= 0 {
			l.mass[k] += l.mass[i]
			l.slack[k] += l.slack[i]
		}
		l.mass[i] = 0
	}
}

// merge puts all of lump i into lump k.
func (l lumps) merge(i, k int) {
	grow := math.Exp(float64(i-k) * l.step)
	l.excess[k] += l.mass[i]*math.Expm1(float64(i-k)*l.step) + l.excess[i]*grow
	l.mass[k] += l.mass[i]
	l.slack[k] += l.slack[i]
	l.mass[i], l.excess[i], l.slack[i] = 0, 0, 0
}

// cells cuts the law at origin plus the multiples of the step. The first cell
// begins at the multiple number first.
func (m mixture) cells(step, origin float64) (first int, cells []cell, atoms []atom, over float64) {
	low, high := m.of.ends()
	below, above := m.of.sides()
	sLow, sHigh := m.of.ratio(low), m.of.ratio(high)
	rate := m.rate
	from, to := m.loss(sLow), m.loss(sHigh)
	if m.direction == Add {
		from, to = to, from
	}
	first = int(math.Floor((from - origin) / step))
	last := int(math.Ceil((to - origin) / step))
	if last == first {
		last++
	}
	for _, s := range []side{below, above} {
		zero, one := s.zero, s.one
		p := (1-rate)*zero + rate*one
		if m.direction == Add {
			p = zero
		}
		switch {
		case s.ratio != 0:
			atoms = append(atoms, atom{m.loss(s.ratio), p})
		default:
			// A lower bound may leave it out; an upper bound gives it up.
			over += p * (1 + 32*unit)
		}
	}
	cells = make([]cell, last-first)
	ratioAt := func(index float64) float64 {
		l := origin + index*step
		if m.direction == Add {
			l = -l
		}
		return math.Expm1(l)/rate + 1
	}
	edge := func(index float64) float64 { return m.of.place(ratioAt(index)) }
	for i := range cells {
		at := float64(first + i)
		a, middle, b := edge(at), edge(at+0.5), edge(at+1)
		c := &cells[i]
		if m.direction == Remove {
			scale := rate * math.Exp(-origin-at*step)
			c.left, c.leftMoment = m.half(c, a, middle, ratioAt(at), false, scale)
			c.right, c.rightMoment = m.half(c, middle, b, ratioAt(at+1), true, scale)
		} else {
			// Losses increase as the noise decreases, and with Q the mixture and r =
			// zero/mixture, r - r0 = (mixture0 - mixture) r0/mixture: the moment of r
			// under Q is r0 times that of the mixture under zero.
			c.left, c.leftMoment = m.half(c, middle, a, ratioAt(at), true, rate)
			c.right, c.rightMoment = m.half(c, b, middle, ratioAt(at+1), false, rate*math.Exp(step))
		}
	}
	return first, cells, atoms, over
}

// half integrates one half of a cell, between a and b. The base ratio is s at the
// half's lattice point, which is at b if falling and at a otherwise. It returns Q's
// mass and the moment of the distance of r from the point's, which is scale times
// that of s under the noise around 0.
func (m mixture) half(c *cell, a, b, s float64, falling bool, scale float64) (mass, moment float64) {
	if !(a < b) {
		return 0, 0
	}
	zero, one, moment, massSlack, momentSlack := m.of.integrate(a, b, falling)
	// A lattice point beyond the end of the noise is farther away than the end.
	end := b
	if !falling {
		end = a
	}
	gap := math.Abs(m.of.ratio(end) - s)
	if low, high := m.of.ends(); end != low && end != high {
		// Here the point was placed where the ratio is s, up to rounding.
		momentSlack += gap * zero
		gap = 0
	}
	moment += gap * zero
	c.slack += massSlack
	c.momentSlack += scale * (momentSlack + gap*massSlack + 8*unit*moment)
	if m.direction == Add {
		zero = (1-m.rate)*zero + m.rate*one
	}
	return zero, scale * moment
}

// sketch is the trapezoidal rule on the noise.
func (m mixture) sketch(spare float64) *lattice {
	m = m.within(spare)
	const points = 600
	low, high := m.of.ends()
	below, above := m.of.sides()
	out := &lattice{}
	add := func(s, zero, one float64) {
		mass := (1-m.rate)*zero + m.rate*one
		if m.direction == Add {
			mass = zero
		}
		out.atoms = append(out.atoms, atom{m.loss(s), mass})
	}
	width := (high - low) / points
	for i := range points {
		a := low + float64(i)*width
		zero, one, _, _, _ := m.of.integrate(a, a+width, false)
		if zero > 0 {
			add(one/zero, zero, one)
		}
	}
	for _, s := range []side{below, above} {
		if s.ratio != 0 {
			add(s.ratio, s.zero, s.one)
		}
	}
	return out
}
