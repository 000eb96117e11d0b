package density

import (
	"math"

	"github.com/discreet-dp/discreet/internal/audit/enumerate"
	"github.com/discreet-dp/discreet/internal/normal"
)

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
			return normal.Tail(-x)
		case x > 0:
			return 1 - math.Exp(-x)/2
		}
		return math.Exp(x) / 2
	}
	return below(b) - below(a)
}
