package mech

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
)

// sparseModel is the sparse vector as the theorem has it: its scales, and what
// may be wrong with it. Probabilities of transcripts are sums over the noise of
// the threshold.
type sparseModel struct {
	z, q  float64 // scales of the threshold's and the questions' noise
	still bool    // the questions have no noise
	fixed bool    // the threshold has no noise
}

func modelOf(s *Sparse) sparseModel {
	z, q, _ := s.Parameters()
	return sparseModel{z: ratFloat(z), q: ratFloat(q)}
}

func ratFloat(r *big.Rat) float64 { f, _ := r.Float64(); return f }

// lapAt is P(N = k) and lapFrom is P(N >= m) for discrete Laplace noise, each
// accurate relative to itself.
func lapAt(b float64, k int64) float64 {
	return math.Tanh(1/(2*b)) * math.Exp(-float64(abs(k))/b)
}

func lapFrom(b float64, m int64) float64 {
	q := math.Exp(-1 / b)
	if m >= 1 {
		return math.Exp(-float64(m)/b) / (1 + q)
	}
	return 1 - math.Exp(-float64(1-m)/b)/(1+q)
}

// answer is the probability of an answer about a value that is d above its
// threshold, given the threshold's noise.
func (m sparseModel) answer(d, z int64, above bool) float64 {
	if m.still {
		if above == (d >= z) {
			return 1
		}
		return 0
	}
	if above {
		return lapFrom(m.q, z-d)
	}
	return lapFrom(m.q, d-z+1) // P(N < z-d) = P(N > d-z)
}

// ask is a question, repeated: how far its value is above its threshold, and
// what is answered every time.
type ask struct {
	d     int64
	times int
	above bool
}

// transcript sums over all z within reach and returns the sum and a bound on
// what is left out.
func (m sparseModel) transcript(asks []ask) (p, out float64) {
	reach := int64(60*m.z) + 20
	if m.fixed {
		reach = 0
	}
	for z := -reach; z <= reach; z++ {
		w := 1.0
		if !m.fixed {
			w = lapAt(m.z, z)
		}
		for _, a := range asks {
			w *= math.Pow(m.answer(a.d, z, a.above), float64(a.times))
		}
		p += w
	}
	if m.fixed {
		return p, 0
	}
	// Beyond reach "above" only becomes less likely, and before -reach "below".
	after, before := lapFrom(m.z, reach+1), lapFrom(m.z, reach+1)
	for _, a := range asks {
		if a.above {
			after *= math.Pow(m.answer(a.d, reach+1, true), float64(a.times))
		} else {
			before *= math.Pow(m.answer(a.d, -reach-1, false), float64(a.times))
		}
	}
	return p, after + before
}

// loss is a lower bound on ln(P_x/P_y), which is also within 1e-9 of it where
// the sum that is left out does not matter.
func (m sparseModel) loss(x, y []ask) float64 {
	px, _ := m.transcript(x)
	py, out := m.transcript(y)
	return math.Log(px / (py + out))
}

// checkSparse enumerates all transcripts of up to n questions that end with the
// c-th "above", on values around their thresholds that move by -d, 0 or d each,
// in both directions, and compares the largest loss to epsilon.
func checkSparse(m sparseModel, c, n int, d int64, monotone bool, epsilon float64) (worst float64, err error) {
	reach := int64(45*m.z) + 20
	prior := make([]float64, 2*reach+1)
	for i := range prior {
		prior[i] = 1
		if !m.fixed {
			prior[i] = lapAt(m.z, int64(i)-reach)
		} else if int64(i) != reach {
			prior[i] = 0
		}
	}
	// The answers' probabilities by distance from the threshold.
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
	left := 2 * lapFrom(m.z, reach+1)
	if m.fixed {
		left = 0
	}
	worst = math.Inf(-1)
	var visit func(px, py []float64, depth, above, up, down int)
	visit = func(px, py []float64, depth, above, up, down int) {
		if depth > 0 {
			sx, sy := 0.0, 0.0
			for i := range px {
				sx += px[i]
				sy += py[i]
			}
			worst = math.Max(worst, math.Log(sx/(sy+left)))
		}
		if depth == n || above == c {
			return
		}
		for _, base := range []int64{-2 * d, 0, d} {
			for _, move := range []int64{-d, 0, d} {
				u, w := up, down
				if move > 0 {
					u++
				}
				if move < 0 {
					w++
				}
				if monotone && u > 0 && w > 0 {
					continue
				}
				rx, ry := row(base), row(base+move)
				for a := range 2 {
					nx, ny := make([]float64, len(px)), make([]float64, len(py))
					for i := range px {
						nx[i], ny[i] = px[i]*rx[a][i], py[i]*ry[a][i]
					}
					visit(nx, ny, depth+1, above+a, u, w)
				}
			}
		}
	}
	visit(prior, prior, 0, 0, 0, 0)
	if worst > epsilon*(1+1e-9) {
		return worst, fmt.Errorf("the privacy loss is %.6f, above %v", worst, epsilon)
	}
	return worst, nil
}

// sparse makes a session for tests.
func sparse(c int, d int64, epsilon dp.Amount, change func(*SparseConfig)) *Sparse {
	config := SparseConfig{Sensitivity: l1(d), Above: c, Epsilon: epsilon}
	if change != nil {
		change(&config)
	}
	m, err := NewSparse(config)
	if err != nil {
		panic(err)
	}
	return m
}
