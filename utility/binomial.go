package utility

// binomial is the law of the number of successes in n trials, without the parts that
// are together below 1e-270.
type binomial struct {
	n, first     int
	mass         []float64 // of first, first+1, ...
	lower, upper []float64 // P(<= first+i) and P(>= first+i)
	err          float64   // the relative error of all of them is below this
}

// newBinomial takes the odds p/(1-p). Starting at the mode with weight 1 it
// multiplies by (n-k)/(k+1) odds upwards and by the inverse downwards, and divides
// by the sum: no factorial and no logarithm, so a mass that is m steps from the
// mode is within 8 (m+1) units in the last place.
func newBinomial(n int, odds float64) binomial {
	mode := int(float64(n+1) * (odds / (1 + odds)))
	mode = min(max(mode, 0), n)
	const smallest = 1e-290
	var down, above []float64
	for k, w := mode, 1.0; k > 0; k-- {
		w *= float64(k) / (float64(n-k+1) * odds)
		if w < smallest {
			break
		}
		down = append(down, w)
	}
	for k, w := mode, 1.0; k < n; k++ {
		w *= float64(n-k) / float64(k+1) * odds
		if w < smallest {
			break
		}
		above = append(above, w)
	}
	b := binomial{n: n, first: mode - len(down)}
	for i := len(down) - 1; i >= 0; i-- {
		b.mass = append(b.mass, down[i])
	}
	b.mass = append(append(b.mass, 1), above...)
	b.err = 16 * float64(len(b.mass)+2) * 0x1p-52
	b.lower, b.upper = make([]float64, len(b.mass)), make([]float64, len(b.mass))
	total := 1.0
	for i := len(down) - 1; i >= 0; i-- {
		total += down[i]
	}
	for i := len(above) - 1; i >= 0; i-- {
		total += above[i]
	}
	sum := 0.0
	for i := range b.mass {
		b.mass[i] /= total
		sum += b.mass[i]
		b.lower[i] = sum
	}
	sum = 0
	for i := len(b.mass) - 1; i >= 0; i-- {
		sum += b.mass[i]
		b.upper[i] = sum
	}
	return b
}

// from is P(X >= x) for an integer x.
func (b binomial) from(x float64) float64 {
	i := x - float64(b.first)
	switch {
	case i <= 0:
		return 1
	case i >= float64(len(b.mass)):
		return 0
	}
	return b.upper[int(i)]
}

// to is P(X <= x) for an integer x.
func (b binomial) to(x float64) float64 {
	i := x - float64(b.first)
	switch {
	case i < 0:
		return 0
	case i >= float64(len(b.mass)-1):
		return 1
	}
	return b.lower[int(i)]
}
