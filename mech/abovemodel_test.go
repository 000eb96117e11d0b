package mech

import (
	"fmt"
	"math"
)

// aboveModel is a round of AboveThreshold as the theorem has it: its scales and its sides, and what
// may be wrong with it. Probabilities of transcripts are sums over the noise of the threshold. All
// terms are positive and each is accurate relative to itself, so a sum is right to about 1e-12.
type aboveModel struct {
	z, q  float64 // scales of the threshold's and the questions' noise
	one   bool    // one-sided
	under bool    // the noise of the threshold is at or below 0: a bug
	above int     // how many "above" there are before it ends; 0 is the honest 1
	redo  int     // the threshold is drawn again before every redo-th question; 0 is the honest never
}

func aboveModelOf(a *Above) aboveModel {
	z, q := a.Parameters()
	return aboveModel{z: ratFloat(z), q: ratFloat(q), one: a.OneSided()}
}

func geoAt(b float64, k int64) float64 {
	if k < 0 {
		return 0
	}
	return -math.Expm1(-1/b) * math.Exp(-float64(k)/b)
}

// from is P(N >= m) and before is P(N < m), of a question's noise.
func (m aboveModel) from(k int64) float64 {
	switch {
	case !m.one:
		return lapFrom(m.q, k)
	case k <= 0:
		return 1
	}
	return math.Exp(-float64(k) / m.q)
}

func (m aboveModel) before(k int64) float64 {
	switch {
	case !m.one:
		return lapFrom(m.q, 1-k)
	case k <= 0:
		return 0
	}
	return -math.Expm1(-float64(k) / m.q)
}

// thresholds returns P(Z = i - reach), and the probability of all others.
func (m aboveModel) thresholds(reach int64) (p []float64, left float64) {
	p = make([]float64, 2*reach+1)
	for i := range p {
		switch k := int64(i) - reach; {
		case !m.one:
			p[i] = lapAt(m.z, k)
		case m.under:
			p[i] = geoAt(m.z, -k)
		default:
			p[i] = geoAt(m.z, k)
		}
	}
	left = math.Exp(-float64(reach+1) / m.z)
	if !m.one {
		left = 2 * lapFrom(m.z, reach+1)
	}
	return p, left
}

// answer is the probability of an answer about a value that is d above its threshold, given z.
func (m aboveModel) answer(d, z int64, above bool) float64 {
	if above {
		return m.from(z - d)
	}
	return m.before(z - d)
}

// loss is a lower bound on ln(P_x/P_y) of a transcript, which is the loss itself up to 1e-9 where
// the part of the sum that is left out does not matter.
func (m aboveModel) loss(x, y []ask) float64 {
	reach := int64(60*m.z+30*m.q) + 20
	p, left := m.thresholds(reach)
	sum := func(asks []ask) (sum float64) {
		for i, w := range p {
			for _, a := range asks {
				w *= math.Pow(m.answer(a.d, int64(i)-reach, a.above), float64(a.times))
			}
			sum += w
		}
		return sum
	}
	return math.Log(sum(x) / (sum(y) + left))
}

// checkAbove enumerates all transcripts of up to n questions, on values around their thresholds
// that move by -d to d each, and compares the largest loss, in both directions, to epsilon.
func checkAbove(m aboveModel, n int, d int64, epsilon float64) (worst float64, err error) {
	reach := int64(40*m.z) + 20
	prior, left := m.thresholds(reach)
	rows := map[int64][2][]float64{}
	row := func(dist int64) [2][]float64 {
		if r, ok := rows[dist]; ok {
			return r
		}
		var r [2][]float64
		for a := range r {
			r[a] = make([]float64, len(prior))
			for i := range prior {
				r[a][i] = m.answer(dist, int64(i)-reach, a == 1)
			}
		}
		rows[dist] = r
		return r
	}
	total := func(p []float64) (sum float64) {
		for _, v := range p {
			sum += v
		}
		return sum
	}
	worst = math.Inf(-1)
	var visit func(px, py []float64, fx, fy float64, depth, above int)
	visit = func(px, py []float64, fx, fy float64, depth, above int) {
		sx, sy := fx*total(px), fy*total(py)
		worst = max(worst, math.Log(sx/(sy+left)), math.Log(sy/(sx+left)))
		if depth == n || above == max(1, m.above) {
			return
		}
		if m.redo > 0 && depth > 0 && depth%m.redo == 0 {
			fx, fy, px, py = sx, sy, prior, prior
		}
		for _, base := range []int64{-2 * d, 0, d} {
			for move := -d; move <= d; move++ {
				rx, ry := row(base), row(base+move)
				for a := range 2 {
					nx, ny := make([]float64, len(px)), make([]float64, len(py))
					for i := range px {
						nx[i], ny[i] = px[i]*rx[a][i], py[i]*ry[a][i]
					}
					visit(nx, ny, fx, fy, depth+1, above+a)
				}
			}
		}
	}
	visit(prior, prior, 1, 1, 0, 0)
	return worst, within(worst, epsilon)
}

func within(loss, epsilon float64) error {
	if loss > epsilon*(1+1e-9) {
		return fmt.Errorf("the privacy loss is %.6f, above %v", loss, epsilon)
	}
	return nil
}
