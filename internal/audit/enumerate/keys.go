package enumerate

import "math"

// Hidden is the outcome that a group is not released.
const Hidden = math.MinInt64

// KeyThreshold is the law of one group of so many units: its noisy number, with
// Laplace noise of scale b, where that is at the threshold or above, and else Hidden. A
// group of none is not known and is Hidden for certain (Korolova, Kenthapadi, Mishra,
// Ntoulas 2009).
func KeyThreshold(b float64, threshold, units int64) Law { return KeyEdge(b, threshold, 0, units) }

// KeyEdge is that of a threshold at which one less is released too, with a probability.
func KeyEdge(b float64, threshold int64, edge float64, units int64) Law {
	if units == 0 {
		return FromMap(map[int64]float64{Hidden: 1})
	}
	logs := map[int64]float64{Hidden: math.Log(laplaceTo(b, threshold-units-1))}
	if edge > 0 {
		at := laplaceAt(b, threshold-1-units)
		logs[threshold-1] = math.Log(edge) + at
		logs[Hidden] = math.Log(laplaceTo(b, threshold-units-2) + (1-edge)*math.Exp(at))
	}
	end := max(threshold, units) + laplaceReach(b)
	for v := threshold; v <= end; v++ {
		logs[v] = laplaceAt(b, v-units)
	}
	return NewLaw(logs, laplaceFrom(b, end-units+1))
}

// KeySelection is the law of which of several groups are kept, each by itself with the
// probability that keep gives to its number of units; the outcome is the number that
// Transcript gives to the decisions.
func KeySelection(keep func(units int64) float64, units ...int64) Law {
	p := map[int64]float64{}
	for set := range 1 << len(units) {
		w, kept := 1.0, make([]bool, len(units))
		for i, n := range units {
			if kept[i] = set>>i&1 == 1; kept[i] {
				w *= keep(n)
			} else {
				w *= 1 - keep(n)
			}
		}
		p[Transcript(kept)] = w
	}
	return FromMap(p)
}
