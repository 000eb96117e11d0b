package loss

import "math"

// comb weighs a sum all of whose losses lie on one lattice, offset + spacing Z: the
// series is finite then, and nothing is cut off. With N points to the window and u
// the distance from epsilon up to the next point of the lattice, the weight is
//
//	1/N sum over j of phi(y_j) exp(-i y_j (epsilon+u))
//	  (exp(-t u)/(1 - exp(-z a)) - exp(-(t+1) u)/(1 - exp(-(z+1) a)))
//
// at z = t + i y_j: the geometric sums over the points above epsilon.
type comb struct {
	t               float64
	spacing, offset float64
	window          float64
	first, second   float64      // the terms at j = 0, of exp(-t u) and of exp(-(t+1) u)
	one, two        []complex128 // twice those at j = 1 .. N/2
	wrong, turning  float64
	size            float64
}

func (c *comb) weigh(epsilon float64) (value, wrong float64) {
	// The point above epsilon. If rounding takes the wrong one of two, u is zero or
	// the spacing up to rounding, and the terms differ by as much.
	steps := math.Ceil((epsilon - c.offset) / c.spacing)
	point := c.offset + steps*c.spacing
	u := max(0, point-epsilon)
	angle := 2 * math.Pi * point / c.window
	a, b := math.Exp(-c.t*u), math.Exp(-(c.t+1)*u)
	value = a*(c.first+rotate(c.one, angle)) - b*(c.second+rotate(c.two, angle))
	slip := 8 * unit * (math.Abs(point) + math.Abs(c.offset) + math.Abs(epsilon)) // of u and of the point
	return value, c.wrong + c.turning*slip + c.size*(unit*(600+float64(len(c.one))/8)+(c.t+1)*slip)
}

// newComb computes the terms; points is even.
func newComb(f *factors, spacing, offset float64, points int) *comb {
	window := spacing * float64(points)
	c := &comb{t: f.t, spacing: spacing, offset: offset, window: window}
	n := float64(points)
	c.first, c.second = 1/n/-math.Expm1(-f.t*spacing), 1/n/-math.Expm1(-(f.t+1)*spacing)
	c.size = c.first + c.second
	for j := 1; j <= points/2; j++ {
		y := 2 * math.Pi * float64(j) / window
		log, slack := f.at(j, y)
		z := complex(f.t, y)
		low, lowSlack := expm1(-z * complex(spacing, 0))
		high, highSlack := expm1(-(z + 1) * complex(spacing, 0))
		share := 2 / n
		if 2*j == points {
			share = 1 / n
		}
		if log == dead {
			c.one, c.two = append(c.one, 0), append(c.two, 0)
			c.wrong += tiny * share * (1/size(low) + 1/size(high))
			continue
		}
		sin, cos := math.Sincos(imag(log))
		r := math.Exp(real(log)) * share
		v := complex(-r*cos, -r*sin)
		one, two := v/low, v/high
		c.one, c.two = append(c.one, one), append(c.two, two)
		both := size(one) + size(two)
		c.size += both
		c.wrong += both*math.Expm1(min(700, slack+32*unit)) + size(one)*2*lowSlack/size(low) + size(two)*2*highSlack/size(high)
		c.turning += both * y
	}
	return c
}

// spaced is a law on a lattice, offset + spacing Z.
type spaced interface {
	lattice() (spacing, offset float64)
}

func (r response) lattice() (spacing, offset float64) { return 2 * r.epsilon, r.epsilon }

func (l discreteLaplace) lattice() (spacing, offset float64) { return 2 / l.scale, l.epsilon() }

func (g discreteGaussian) lattice() (spacing, offset float64) {
	d := float64(g.steps)
	return d / g.variance, d * d / (2 * g.variance)
}

// common returns the one lattice of all laws, if there is one.
func common(analytics []analyticTerm) (spacing, offset float64, ok bool) {
	for _, a := range analytics {
		s, is := a.law.(spaced)
		if !is {
			return 0, 0, false
		}
		step, from := s.lattice()
		if spacing != 0 && spacing != step {
			return 0, 0, false
		}
		spacing = step
		// Only the offset's remainder counts, and small numbers round less.
		offset = math.Mod(offset+math.Mod(from, step)*math.Mod(a.times, 2)+math.Mod(2*math.Mod(from, step), step)*math.Floor(a.times/2), step)
	}
	return spacing, offset, spacing != 0
}
