package stream

import (
	"cmp"
	"math"
	"slices"
)

// Synthetic returns the current histogram in whole people, which add up to the predicted total, and
// nil for a cache, which has none. It was made of released answers alone, so that it costs nothing.
// Every cell gets its estimate rounded down, and the people that are left go to the cells with the
// largest remainders, those that come first where these are equal: a cell is off by less than one
// from its estimate.
func (s *Session) Synthetic() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.predictor == nil {
		return nil
	}
	return whole(s.state.predictor.Histogram())
}

func whole(h []float64) []int64 {
	out := make([]int64, len(h))
	var total float64
	var sum int64
	for i, x := range h {
		if !(x > 0) || math.IsInf(x, 1) {
			h[i] = 0
			continue
		}
		total += x
		out[i] = int64(math.Floor(x))
		sum += out[i]
	}
	left := int(int64(math.Round(total)) - sum)
	if left <= 0 {
		return out
	}
	order := make([]int32, 0, len(h))
	for i, x := range h {
		if x > math.Floor(x) {
			order = append(order, int32(i))
		}
	}
	remainder := func(i int32) float64 { return h[i] - math.Floor(h[i]) }
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(remainder(b), remainder(a)) })
	for _, i := range order[:min(left, len(order))] {
		out[i]++
	}
	return out
}
