package survey

import (
	"cmp"
	"math"
	"slices"
)

// NormSub makes estimates of a whole domain consistent: none below 0, and 1 in sum. It
// moves all by the same amount and cuts at 0, which gives the nearest proportions in
// the Euclidean distance (Wang, Lopuhaa-Zwakenberg, Li, Skoric, Li 2020, Norm-Sub). The
// result is closer to the truth, and no longer unbiased: what nobody holds is
// overestimated on average, and what many hold is underestimated. It reads estimates
// only, so it is free.
func NormSub(estimates []float64) []float64 {
	if len(estimates) == 0 {
		return nil
	}
	sorted := slices.Clone(estimates)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(b, a) })
	// The i largest stay above 0 where moving them by (1 - sum)/i leaves them there.
	sum, move := 0.0, 0.0
	for i, e := range sorted {
		sum += e
		if m := (1 - sum) / float64(i+1); i == 0 || e+m > 0 {
			move = m
		} else {
			break
		}
	}
	out := make([]float64, len(estimates))
	for i, e := range estimates {
		out[i] = math.Max(0, e+move)
	}
	return out
}
