package loss

import "math"

// series weighs with the Fourier series of the periodic weight, whose j-th
// coefficient is 1/(W z(z+1)) at z = t + 2 pi i j/W, cut off where a bound on the
// rest is small enough.
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
	return value, s.rest + s.wrong + unit*(s.turning*math.Abs(epsilon)+s.size*(600+float64(len(s.values))/8))
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
	weight := window / (2 * math.Pi * math.Pi) * (1 + 8*unit)
	for done := 0; ; count *= 2 {
		for j := done + 1; j <= count; j++ {
			y := 2 * math.Pi * float64(j) / window
			phi, wrong := f.at(j, y)
			z := complex(f.t, y)
			coefficient := complex(2/window, 0) / (z * (z + 1))
			v := phi * coefficient
			s.values = append(s.values, v)
			s.size += size(v)
			s.wrong += size(coefficient)*wrong*(1+64*unit) + size(v)*64*unit
			s.turning += size(v) * 8 * y
		}
		done = count
		s.rest = weight * f.remainder(count, points, 2*math.Pi*float64(count+1)/window)
		if s.rest <= goal*s.first || 2*count > limit {
			s.wrong *= 1 + unit*float64(count)
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
			half = min(half, math.Pi*step.under/step.over*(1-8*unit))
			faded += a.times * s.fade(f.t, y)
		}
	}
	shrink := math.Exp(log) * (1 + 1e-9)
	if points == 0 {
		rest := 1 / float64(count)
		if steps := math.Floor(half/y*float64(count+1)*(1-8*unit)) - 1; faded < 0 && steps > float64(count) {
			// Up to the half, and beyond.
			rest = rest*math.Exp(faded) + 1/steps
		}
		return shrink * rest
	}
	// On the lattice sizes repeat with period points; what comes after count is
	// summed over the residues. The sum over m >= 0 of 1/(j + m n)^2 is at most
	// 1/j^2 + 1/(n j).
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
		sum += math.Exp(min(0, max(bound, dead))) * (1/(j*j) + 1/(float64(points)*j))
	}
	return shrink * sum * (1 + 1e-9)
}
