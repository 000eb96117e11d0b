package privacyloss

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// spectrum is a lattice law at all frequencies, as ratios to M(t). The values are
// without the phase of the origin.
type spectrum struct {
	values []complex128 // of the lattice's part, j = 0 .. N/2, or the live ones
	few    bool         // whether they are of the live frequencies only
	slack  float64
	origin float64
	atoms  []atom // beside the lattice, masses as ratios
	times  float64
}

// fold returns where frequency j is in j = 0 .. n/2, and whether it is conjugate
// there; n is a power of two.
func fold(j, n int) (r int, conjugate bool) {
	if r = j & (n - 1); 2*r > n {
		return n - r, true
	}
	return r, false
}

// at returns M(t+iy)/M(t) at y = 2 pi j/window.
func (s *spectrum) at(j int, y float64) (complex128, float64) {
	r, conjugate := fold(j, 2*(len(s.values)-1))
	v := s.values[r]
	if conjugate {
		v = complex(real(v), -imag(v))
	}
	slack := s.slack
	if s.origin != 0 {
		sin, cos := math.Sincos(y * s.origin)
		v *= complex(cos, sin)
		slack += unitRoundoff * (8 + 8*math.Abs(y*s.origin))
	}
	for _, a := range s.atoms {
		sin, cos := math.Sincos(y * a.loss)
		v += complex(a.mass*cos, a.mass*sin)
		slack += a.mass * unitRoundoff * (8 + 32*math.Abs(y*a.loss))
	}
	return v, slack
}

// bound returns the logarithm of the largest |M|/M(t) that frequencies congruent to j can have.
func (s *spectrum) bound(j int) float64 {
	r, _ := fold(j, 2*(len(s.values)-1))
	v := size(s.values[r]) + s.slack
	for _, a := range s.atoms {
		v += a.mass
	}
	return min(0, math.Log(v)+8*unitRoundoff)
}

// frequencies takes laws on a lattice of n points to their frequencies.
type frequencies struct {
	fft   *fourier.FFT
	roots []complex128 // exp(2 pi i r/n)
}

func newFrequencies(n int) *frequencies {
	f := &frequencies{fourier.NewFFT(n), make([]complex128, n)}
	for r := range f.roots {
		sin, cos := math.Sincos(2 * math.Pi * float64(r) / float64(n))
		f.roots[r] = complex(cos, sin)
	}
	return f
}

// transform tilts a lattice law and takes it to the frequencies that are live, or to
// all of them if that is nil. The law's step is the window over n, so folding it onto
// n points, a power of two, changes no value.
func (f *frequencies) transform(l *lattice, t, times float64, live []int) (s *spectrum, log, slip float64) {
	log, slip = l.log(t)
	s = &spectrum{times: times, origin: l.origin}
	weights, total := make([]float64, len(l.mass)), 0.0
	loose := unitRoundoff * (8 + 4*math.Abs(log) + 4*t*math.Abs(l.origin))
	for i, m := range l.mass {
		exponent := t*l.loss(i) - log
		w := tilted(m, exponent)
		weights[i] = w
		total += w
		s.slack += tilted(l.slack[i], exponent) + w*(loose+4*unitRoundoff*math.Abs(exponent))
	}
	if live != nil && len(live)*len(l.at) < 8*len(f.roots) {
		s.slack += f.direct(s, l.at, weights, live) * total
	} else {
		s.slack += f.fast(s, l.at, weights)
	}
	for _, a := range l.atoms {
		exponent := t*a.loss - log
		w := tilted(a.mass, exponent)
		s.atoms = append(s.atoms, atom{a.loss, w})
		s.slack += w * (loose + unitRoundoff*(128+16*t*math.Abs(a.loss)+4*math.Abs(exponent)))
	}
	// The masses are ratios to M(t), which is itself known up to slip.
	s.slack += (1 + s.slack) * math.Expm1(min(700, slip))
	return s, log, slip
}

// direct sums at the live frequencies. It returns a bound on the error, relative to
// the sum of the weights.
func (f *frequencies) direct(s *spectrum, at []int, weights []float64, live []int) float64 {
	n := len(f.roots)
	s.values, s.few = make([]complex128, len(live)), true
	for k, j := range live {
		re, im := 0.0, 0.0
		for i, w := range weights {
			root := f.roots[j*at[i]&(n-1)]
			re += w * real(root)
			im += w * imag(root)
		}
		s.values[k] = complex(re, im)
	}
	return unitRoundoff * 2 * float64(len(at)+16)
}

// fast transforms. It returns a bound on the error.
//
// Rounding in a transform of length n is at most about 6 log2(n) units of the
// values' length in the mean square (Higham 2002, Theorem 24.2); no single one is
// wrong by more than all together, sqrt(n) times the data's length.
func (f *frequencies) fast(s *spectrum, at []int, weights []float64) float64 {
	n := len(f.roots)
	folded := make([]float64, n)
	for i, w := range weights {
		folded[at[i]&(n-1)] += w
	}
	square, sum := 0.0, 0.0
	for _, x := range folded {
		square += x * x
		sum += x
	}
	s.values = f.fft.Coefficients(nil, folded)
	for i, v := range s.values {
		s.values[i] = complex(real(v), -imag(v)) // exp(+iyl)
	}
	// What is folded onto one point is a sum of at most so many numbers.
	layers := 2 + float64(at[len(at)-1]-at[0])/float64(n)
	return unitRoundoff*sum*layers + 10*unitRoundoff*math.Log2(float64(n))*math.Sqrt(float64(n)*square)
}

// product is the product of the spectra that have no atoms, each to the power of its
// times, as logarithms for j = 0 .. N/2, with bounds on their errors. The live
// frequencies are those at which it is not below dead.
type product struct {
	logs   []complex128
	slacks []float64
	live   []int
}

func (p *product) multiply(s *spectrum) {
	if p.logs == nil {
		p.logs, p.slacks = make([]complex128, len(s.values)), make([]float64, len(s.values))
		p.live = make([]int, len(s.values))
		for j := range p.live {
			p.live[j] = j
		}
	}
	live := p.live[:0]
	for k, j := range p.live {
		if !s.few {
			k = j
		}
		log, slack := logOf(s.values[k], s.slack)
		p.logs[j], p.slacks[j] = addLog(p.logs[j], p.slacks[j], s.times, log, slack)
		if real(p.logs[j])+p.slacks[j] >= negligibleLog {
			live = append(live, j)
		}
	}
	p.live = live
}

// at returns the logarithm at frequency j.
func (p *product) at(j int) (complex128, float64) {
	r, conjugate := fold(j, 2*(len(p.logs)-1))
	if conjugate {
		return complex(real(p.logs[r]), -imag(p.logs[r])), p.slacks[r]
	}
	return p.logs[r], p.slacks[r]
}
