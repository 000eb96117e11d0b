package loss

import "math"

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
	slip := 16*unit*(math.Abs(point)+math.Abs(c.offset)+math.Abs(epsilon)) + unit/c.t
	add := func(s *teeth, share float64) {
		value += share * (s.first + rotate(s.values, angle))
		wrong += share*(s.wrong+s.turning*slip+s.size*(unit*(600+float64(len(s.values))/8)+c.t*slip)) + s.size*slip
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
		loose := 64*unit + 2*lowSlack/size(low) + 2*highSlack/size(high)
		b := complex(share, 0) / (low * high)
		if phi == 0 && j%64 == 0 && faded(y) {
			// |1 - A| and |1 - A exp(-a)| increase up to the half of the period.
			rest := tiny * size(b) / share * (1 + loose)
			c.plain.wrong += rest
			c.shifted.wrong += rest
			break
		}
		c.plain.add(phi, b, wrong, loose, y)
		sin, cos := math.Sincos(y * spacing)
		a := math.Exp(-f.t * spacing)
		c.shifted.add(phi, b*complex(a*cos, -a*sin), wrong, loose+unit*(16+8*(f.t+y)*spacing), y)
	}
	return c, true
}

// add appends a term: phi, known up to wrong, times b, known up to loose of itself.
func (s *teeth) add(phi, b complex128, wrong, loose, y float64) {
	v := phi * b
	s.values = append(s.values, v)
	s.size += size(v)
	s.wrong += size(b)*wrong*(1+loose) + size(v)*(loose+16*unit)
	s.turning += size(v) * y
}

// common returns the one lattice of all laws, if there is one.
func common(analytics []analyticTerm) (step, offset float64, ok bool) {
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

// faded reports whether |M(t+iv)|/M(t) is below tiny for v from y to the half of
// the common period.
func (f *factors) faded(y float64) bool {
	log := 0.0
	for _, a := range f.analytic {
		s, ok := a.law.(spaced)
		if !ok {
			return false
		}
		log += a.times * s.fade(f.t, y)
	}
	return log < dead-1 && len(f.analytic) > 0
}
