package loss

import (
	"math"
)

// lattice is a law on origin + step Z: mass[i] is P's mass at number low+i, known up
// to slack[i]; over is the mass that was moved to infinity. Atoms beside the lattice
// keep their exact places.
type lattice struct {
	step, origin float64
	low          int
	mass         []float64
	slack        []float64
	atoms        []atom
	over         float64
}

// loss returns the place of mass[i].
func (l *lattice) loss(i int) float64 { return l.origin + float64(l.low+i)*l.step }

type atom struct{ loss, mass float64 }

// log returns ln M(t), with a bound on its error.
func (l *lattice) log(t float64) (value, slack float64) {
	top := math.Inf(-1)
	at := func(i int) float64 { return t * l.loss(i) }
	for i, m := range l.mass {
		if m > 0 {
			top = max(top, at(i)+math.Log(m))
		}
	}
	for _, a := range l.atoms {
		top = max(top, t*a.loss+math.Log(a.mass))
	}
	var sum, wrong float64
	add := func(exponent, mass, slack float64) {
		if mass > 0 {
			e := math.Exp(exponent-top) * mass
			sum += e
			wrong += e * unit * (8 + 4*math.Abs(exponent) + 4*math.Abs(top))
		}
		if slack > 0 {
			wrong += math.Exp(exponent - top + math.Log(slack))
		}
	}
	for i, m := range l.mass {
		add(at(i), m, l.slack[i])
	}
	for _, a := range l.atoms {
		add(t*a.loss, a.mass, 8*unit*a.mass)
	}
	n := float64(len(l.mass))
	return top + math.Log(sum), wrong/sum + unit*(n+8+math.Abs(top))
}

// absorb puts atoms that lie on the lattice, up to rounding, on it.
func (l *lattice) absorb() {
	beside := l.atoms[:0:0]
	for _, a := range l.atoms {
		at := math.Round((a.loss - l.origin) / l.step)
		i := int(at) - l.low
		if math.Abs(l.origin+at*l.step-a.loss) > 4*unit*(math.Abs(l.origin)+math.Abs(a.loss)) || i < 0 || i >= len(l.mass) {
			beside = append(beside, a)
			continue
		}
		l.mass[i] += a.mass
		l.slack[i] += 8 * unit * a.mass
	}
	l.atoms = beside
}

// span returns the smallest and the largest loss.
func (l *lattice) span() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	if len(l.mass) > 0 {
		low, high = l.loss(0), l.loss(len(l.mass)-1)
	}
	for _, a := range l.atoms {
		low, high = min(low, a.loss), max(high, a.loss)
	}
	return low, high
}
