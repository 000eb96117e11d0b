package holdoutdemo

import (
	"math"
	"sync"

	"github.com/discreet-dp/discreet/internal/normal"
)

// A number that is normal is drawn on a lattice: unit steps are one standard deviation, and nothing
// is farther out than bound. So sums are exact, and a mean of numbers has a known sensitivity.
const (
	latticeUnit  = 1000
	latticeBound = 3 * latticeUnit
)

// normalLevels returns so many values of equal probability, an even number: the middle of each share of
// the normal distribution, stretched to variance 1, and moved. The signs are balanced, so the mean
// is exactly what it is moved by, where nothing is cut off.
func normalLevels(n int, shift int) []int32 {
	upper, square := make([]float64, n/2), 0.0
	for i := range upper {
		upper[i] = normal.Quantile((float64(i) + 0.5) / float64(n))
		square += upper[i] * upper[i] / float64(n/2)
	}
	out := make([]int32, 0, n)
	for _, q := range upper {
		v := int(math.Round(q / math.Sqrt(square) * latticeUnit))
		out = append(out, int32(min(v+shift, latticeBound)), int32(max(shift-v, -latticeBound)))
	}
	return out
}

// attributeLevels are 256 levels around 0, for attributes: a byte makes one.
var attributeLevels = sync.OnceValue(func() []int32 { return normalLevels(256, 0) })

// lectureLevels are more levels, for the few numbers of the lecture: twelve bits make one.
var lectureLevels = sync.OnceValue(func() []int32 { return normalLevels(lectureLevelCount, 0) })

const lectureLevelCount = 1 << 12
