package density

import "math"

// Row is a person's row: one or two features, the target, and the weight of its class.
type Row struct {
	X    [2]float64
	Y, A float64
}

// Pair is two databases: the rows that both have, and those that only one has.
type Pair struct {
	Both, First, Second []Row
}

// Mechanism is objective perturbation with one or two weights.
type Mechanism struct {
	Bend    Bend
	Weights int // one or two
	// Lambda is the regulariser of each weight. They are the same, or there is no guarantee; so
	// they can be given apart.
	Lambda [2]float64
	// Scale is that of the density exp(-|b|/Scale), or the standard deviation where Gaussian is
	// true.
	Scale    float64
	Gaussian bool
}

// derivatives is a gradient and a second derivative at some weights.
type derivatives struct {
	g       [2]float64
	a, b, c float64 // a b, b c
}

func (m *Mechanism) start(w [2]float64) derivatives {
	s := derivatives{a: m.Lambda[0], g: [2]float64{m.Lambda[0] * w[0]}}
	if m.Weights == 2 {
		s.g[1], s.c = m.Lambda[1]*w[1], m.Lambda[1]
	}
	return s
}

func (m *Mechanism) add(s derivatives, rows []Row, w [2]float64) derivatives {
	for _, r := range rows {
		z := r.X[0] * w[0]
		if m.Weights == 2 {
			z += r.X[1] * w[1]
		}
		f, ff := r.A*m.Bend.First(z, r.Y), r.A*m.Bend.Second(z, r.Y)
		s.g[0] += f * r.X[0]
		s.a += ff * r.X[0] * r.X[0]
		if m.Weights == 2 {
			s.g[1] += f * r.X[1]
			s.b += ff * r.X[0] * r.X[1]
			s.c += ff * r.X[1] * r.X[1]
		}
	}
	return s
}

// log is the logarithm of the density, but for a constant that both databases share.
func (m *Mechanism) log(s derivatives) float64 {
	det, norm := s.a, math.Abs(s.g[0])
	if m.Weights == 2 {
		det, norm = s.a*s.c-s.b*s.b, math.Hypot(s.g[0], s.g[1])
	}
	if m.Gaussian {
		return math.Log(det) - norm*norm/(2*m.Scale*m.Scale)
	}
	return math.Log(det) - norm/m.Scale
}

// logs are the logarithms of both densities at w.
func (m *Mechanism) logs(p *Pair, w [2]float64) (first, second float64) {
	both := m.add(m.start(w), p.Both, w)
	return m.log(m.add(both, p.First, w)), m.log(m.add(both, p.Second, w))
}

// Loss is the privacy loss at w, in the direction in which it is larger.
func (m *Mechanism) Loss(p *Pair, w [2]float64) float64 {
	first, second := m.logs(p, w)
	return math.Abs(first - second)
}
