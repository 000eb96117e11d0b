package loss

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// spectrum is a lattice law at all frequencies, as ratios to M(t).
type spectrum struct {
	values []complex128 // of the lattice's part, j = 0 .. N/2
	origin float64
	slack  float64
	atoms  []atom // beside the lattice, masses as ratios
	times  float64
}

// at returns M(t+iy)/M(t) at y = 2 pi j/window.
func (s *spectrum) at(j int, y float64) (complex128, float64) {
	n := 2 * (len(s.values) - 1)
	r := j & (n - 1)
	var v complex128
	if 2*r <= n {
		v = s.values[r]
	} else {
		w := s.values[n-r]
		v = complex(real(w), -imag(w))
	}
	slack := s.slack
	if s.origin != 0 {
		sin, cos := math.Sincos(y * s.origin)
		v *= complex(cos, sin)
		slack += unit * (8 + 4*math.Abs(y*s.origin))
	}
	for _, a := range s.atoms {
		sin, cos := math.Sincos(y * a.loss)
		v += complex(a.mass*cos, a.mass*sin)
		slack += a.mass * unit * (8 + 4*math.Abs(y*a.loss))
	}
	return v, slack
}

// bound returns the largest |M|/M(t) that frequencies congruent to j can have.
func (s *spectrum) bound(j int) float64 {
	n := 2 * (len(s.values) - 1)
	if 2*j > n {
		j = n - j
	}
	v := size(s.values[j]) + s.slack
	for _, a := range s.atoms {
		v += a.mass
	}
	return min(1, v)
}

// transform tilts a lattice law and takes it to frequencies. n is a power of two;
// the law's step is the window over n, so folding it onto n points changes no
// value.
func (l *lattice) transform(t float64, n int, times float64) (s *spectrum, log, slip float64) {
	log, slip = l.log(t)
	folded := make([]float64, n)
	wrong := 0.0
	for i, m := range l.mass {
		exponent := t*l.loss(i) - log
		w := math.Exp(exponent)
		folded[(l.low+i)&(n-1)] += m * w
		wrong += w * (l.slack[i] + m*unit*(8+4*math.Abs(exponent)+4*math.Abs(log)))
	}
	square := 0.0
	for _, x := range folded {
		square += x * x
	}
	s = &spectrum{values: fourier.NewFFT(n).Coefficients(nil, folded), origin: l.origin, times: times}
	for i, v := range s.values {
		s.values[i] = complex(real(v), -imag(v)) // exp(+iyl)
	}
	// Rounding in a transform of length n is at most about 6 log2(n) units of the
	// values' length in the mean square (Higham 2002, Theorem 24.2); no single one
	// is wrong by more than all together, sqrt(n) times the data's length.
	s.slack = wrong + slip + 10*unit*math.Log2(float64(n))*math.Sqrt(float64(n)*square)
	for _, a := range l.atoms {
		s.atoms = append(s.atoms, atom{a.loss, a.mass * math.Exp(t*a.loss-log)})
	}
	return s, log, slip
}
