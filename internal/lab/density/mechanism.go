package density

import (
	"math"

	"github.com/discreet-dp/discreet/internal/lab/enumerate"
	"github.com/discreet-dp/discreet/internal/numeric"
)

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

// Bend is a loss phi of a score z and a target y: its first and second derivative in z, and the
// scores at which the second one jumps.
type Bend struct {
	Name   string
	First  func(z, y float64) float64
	Second func(z, y float64) float64
	Jumps  func(y float64) []float64
	// Slope and Curvature bound the two, and OneSided says that the first has one sign for each
	// target: what calibration is told.
	Slope, Curvature float64
	OneSided         bool
	Tapered          bool // the second is at most 4 c s(1-s) where the first is s times its bound
	// Between says that targets are all numbers from -1 to 1, and not only the two ends.
	Between bool
}

// Logistic is ln(1 + exp(-yz)).
func Logistic() Bend {
	below := func(z float64) float64 { return 1 / (1 + math.Exp(z)) }
	return Bend{
		Name:   "logistic",
		First:  func(z, y float64) float64 { return -y * below(y*z) },
		Second: func(z, y float64) float64 { return below(z) * below(-z) },
		Jumps:  func(float64) []float64 { return nil },
		Slope:  1, Curvature: 0.25, OneSided: true, Tapered: true,
	}
}

// Huber is the hinge max(0, 1 - yz), with a parabola from yz = 1-h to 1+h in the place of its
// corner (Chapelle 2007).
func Huber(h float64) Bend {
	return Bend{
		Name:  "huber",
		First: func(z, y float64) float64 { return -y * math.Min(1, math.Max(0, (1+h-y*z)/(2*h))) },
		Second: func(z, y float64) float64 {
			if math.Abs(1-y*z) < h {
				return 1 / (2 * h)
			}
			return 0
		},
		Jumps: func(y float64) []float64 { return []float64{y * (1 - h), y * (1 + h)} },
		Slope: 1, Curvature: 1 / (2 * h), OneSided: true,
	}
}

// Squares is (z-y)^2/2 up to a residual of q, and straight beyond (Huber 1964).
func Squares(q float64) Bend {
	return Bend{
		Name:  "squares",
		First: func(z, y float64) float64 { return math.Min(q, math.Max(-q, z-y)) },
		Second: func(z, y float64) float64 {
			if math.Abs(z-y) < q {
				return 1
			}
			return 0
		},
		Jumps: func(y float64) []float64 { return []float64{y - q, y + q} },
		Slope: q, Curvature: 1, Between: true,
	}
}

// Law is that of a single weight in whole steps, rounded. A weight is at most t where the noise is
// at most the gradient at t, so its distribution function is that of the noise there, and no
// integral is needed.
func Law(m *Mechanism, rows []Row, step float64) enumerate.Law {
	gradient := func(t float64) float64 {
		w := [2]float64{t}
		return m.add(m.start(w), rows, w).g[0] / m.Scale
	}
	// What is beyond 40 scales has a mass of e^-40 at most.
	pull := 0.0
	for _, r := range rows {
		pull += r.A * m.Bend.Slope * math.Abs(r.X[0])
	}
	last := int64(math.Ceil((40*m.Scale + pull) / m.Lambda[0] / step))
	logs := map[int64]float64{}
	rest := 2 * math.Exp(-40)
	for k := -last; k <= last; k++ {
		p := m.mass(gradient((float64(k)-0.5)*step), gradient((float64(k)+0.5)*step))
		if p < 1e-15 {
			rest += p
			continue
		}
		logs[k] = math.Log(p)
	}
	return enumerate.NewLaw(logs, rest)
}

// mass is the probability that noise of scale 1 is between a and b.
func (m *Mechanism) mass(a, b float64) float64 {
	if a > 0 { // both tails are computed where they are small
		a, b = -b, -a
	}
	below := func(x float64) float64 {
		switch {
		case m.Gaussian:
			return numeric.Tail(-x)
		case x > 0:
			return 1 - math.Exp(-x)/2
		}
		return math.Exp(x) / 2
	}
	return below(b) - below(a)
}
