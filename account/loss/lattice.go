package loss

import (
	"math"
	"slices"
)

// lattice is a law on origin + step Z: mass[i] is P's mass at number at[i], known up
// to slack[i]; over is the mass that was moved to infinity. Atoms beside the lattice
// keep their places, which are known within 16 units. The largest loss by which an
// atom was moved onto the lattice is shift.
type lattice struct {
	step, origin float64
	at           []int // increasing
	mass         []float64
	slack        []float64
	atoms        []atom
	over, shift  float64
}

// loss returns the place of mass[i].
func (l *lattice) loss(i int) float64 { return l.origin + float64(l.at[i])*l.step }

// atom is a mass, within 128 units, at a loss.
type atom struct{ loss, mass float64 }

// least is the smallest mass that counts. What is smaller is a slack: tilted by a
// number that a float64 holds it cannot count.
const least = 1e-280

// weigh turns Q's masses into P's, and sweeps out what is too small.
func (l *lattice) weigh() {
	for i, m := range l.mass {
		at := l.loss(i)
		ratio := math.Exp(at)
		m *= ratio
		wrong := l.slack[i]*ratio + m*unit*(8+4*math.Abs(at)+4*math.Abs(l.origin))
		if m < least {
			m, wrong = 0, wrong+m
		}
		if wrong > 0 {
			wrong += least
		}
		l.mass[i], l.slack[i] = m, wrong
	}
}

// tilted returns mass exp(exponent), which is no larger than a float64 holds though
// the exponential may be.
func tilted(mass, exponent float64) float64 {
	if mass == 0 {
		return 0
	}
	if exponent > 600 {
		return math.Exp(exponent + math.Log(mass))
	}
	return mass * math.Exp(exponent)
}

// log returns ln M(t), with a bound on its error.
func (l *lattice) log(t float64) (value, slack float64) {
	top := math.Inf(-1)
	for i, m := range l.mass {
		if m > 0 {
			top = max(top, t*l.loss(i)+math.Log(m))
		}
	}
	for _, a := range l.atoms {
		top = max(top, t*a.loss+math.Log(a.mass))
	}
	var sum, wrong float64
	add := func(exponent, mass, slack float64) {
		e := tilted(mass, exponent-top)
		sum += e
		wrong += e*unit*(8+4*math.Abs(exponent)+4*math.Abs(top)+4*t*math.Abs(l.origin)) + tilted(slack, exponent-top)
	}
	for i, m := range l.mass {
		add(t*l.loss(i), m, l.slack[i])
	}
	for _, a := range l.atoms {
		add(t*a.loss, a.mass, unit*a.mass*(128+16*t*math.Abs(a.loss)))
	}
	wrong += unit * sum * float64(len(l.mass)+len(l.atoms))
	if wrong >= sum {
		return top, math.Inf(1)
	}
	return top + math.Log(sum), -math.Log1p(-wrong/sum) + unit*(8+2*math.Abs(top))
}

// absorb puts atoms that lie on the lattice, up to rounding, on it.
func (l *lattice) absorb() {
	beside := l.atoms[:0:0]
	for _, a := range l.atoms {
		at := math.Round((a.loss - l.origin) / l.step)
		i, found := slices.BinarySearch(l.at, int(at))
		miss := math.Abs(l.origin + at*l.step - a.loss)
		scale := unit * (math.Abs(l.origin) + math.Abs(a.loss))
		if miss > 4*scale || !found {
			beside = append(beside, a)
			continue
		}
		l.mass[i] += a.mass
		l.slack[i] += 128 * unit * a.mass
		l.shift = max(l.shift, miss+32*scale)
	}
	l.atoms = beside
}
