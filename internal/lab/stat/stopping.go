package stat

import "math"

// StoppingDelta is the least delta that makes a promise true of an owner who raises a limit in the
// worst way, where every answer has Gaussian noise. At the limit rho_j the owner sees the privacy
// loss, which is normal with mean rho_j and variance 2 rho_j, and either stops, so that epsilon_j
// is what was promised, or raises the limit once more. It is the largest expectation of 1 -
// exp(epsilon_j - loss), where that is positive, over all rules to stop: backward induction on a
// grid of losses.
func StoppingDelta(rho, epsilon []float64) float64 {
	const points = 8001
	k := len(rho) - 1
	deviation := math.Sqrt(2 * rho[k])
	low := -8 * deviation
	h := (rho[k] + 14*deviation - low) / (points - 1)
	gain := func(j, i int) float64 { return max(0, -math.Expm1(min(0, epsilon[j]-low-h*float64(i)))) }
	best := make([]float64, points)
	for i := range best {
		best[i] = gain(k, i)
	}
	for j := k - 1; j >= 0; j-- {
		mean := rho[j+1] - rho[j]
		deviation := math.Sqrt(2 * mean)
		shift, half := int(math.Round(mean/h)), int(9*deviation/h)+2
		weights, sum := make([]float64, 2*half+1), 0.0
		for i := range weights {
			z := (float64(i-half+shift)*h - mean) / deviation
			weights[i] = math.Exp(-z * z / 2)
			sum += weights[i]
		}
		now := make([]float64, points)
		for i := range now {
			goOn := 0.0
			for w := range weights {
				goOn += weights[w] * best[min(max(i+w-half+shift, 0), points-1)]
			}
			now[i] = max(gain(j, i), goOn/sum)
		}
		best = now
	}
	total, sum := 0.0, 0.0
	for i := range best {
		z := (low + h*float64(i) - rho[0]) / math.Sqrt(2*rho[0])
		w := math.Exp(-z * z / 2)
		total, sum = total+w*best[i], sum+w
	}
	return total / sum
}
