package stat

import "math"

// StoppingDelta is the least delta that makes a promise true of an owner who raises a limit in the
// worst way, where every answer has Gaussian noise. At the limit rho_j the owner sees the privacy
// loss, which is normal with mean rho_j and variance 2 rho_j, and either stops, so that epsilon_j
// is what was promised, or raises the limit once more. It is the largest expectation of 1 -
// exp(epsilon_j - loss), where that is positive, over all rules to stop: backward induction on a
// grid of losses.
func StoppingDelta(rho, epsilon []float64) float64 {
	const points = 4001
	k := len(rho) - 1
	deviation := math.Sqrt(2 * rho[k])
	low := -8 * deviation
	h := (rho[k] + 14*deviation - low) / (points - 1)
	gain := func(j, i int) float64 { return max(0, -math.Expm1(min(0, epsilon[j]-low-h*float64(i)))) }
	// Beyond nine deviations lies a probability of 1e-19.
	within := func(j int) (from, to int) {
		wide := 9 * math.Sqrt(2*rho[j])
		return max(int((rho[j]-wide-low)/h), 0), min(int((rho[j]+wide-low)/h)+2, points)
	}
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
			now[i] = gain(j, i)
		}
		from, to := within(j)
		for i := from; i < to; i++ {
			if next := i - half + shift; next >= 0 && next+len(weights) <= points {
				now[i] = max(now[i], dot(weights, best[next:])/sum)
				continue
			}
			goOn := 0.0
			for w := range weights {
				goOn += weights[w] * best[min(max(i+w-half+shift, 0), points-1)]
			}
			now[i] = max(now[i], goOn/sum)
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

// dot has four sums, which do not wait for each other.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}
