package solve

import "math"

// place is a point with the gradient there, as computed, and how far that can be from what it is.
type place struct {
	w, z  []float64 // z_i = w.x_i, about
	g     []float64
	norm  float64 // |g|, rounded up
	error float64 // |g - gradient| is at most that, proven; not a number, or infinite, where nothing is
}

// bound is what the gradient's norm is at most.
func (p *place) bound() float64 { return (p.norm + p.error) * up }

const (
	unit = 0x1p-53
	up   = 1 + 0x1p-40 // for the roundings of a formula of positive terms, far fewer than 2^12 of them
	tiny = 0x1p-500    // for everything that underflows
)

// at computes the gradient at w, and proves its error. The package's comment has the proof.
func (f *sum) at(w []float64) *place {
	n := len(f.x)
	p := &place{w: w, z: make([]float64, n)}
	slopes := make([]float64, n)
	p.g = f.pass(w, func(lo int, products, t []float64) {
		copy(p.z[lo:], products)
		for k, z := range products {
			t[k] = f.weighted(lo+k, f.loss.First(z, f.y[lo+k]))
		}
		copy(slopes[lo:], t)
	})
	size := 0.0
	for _, t := range slopes {
		size += math.Abs(t)
	}
	size *= 1 + 2*float64(n+1)*unit

	data := norm(p.g)
	for j := range p.g {
		p.g[j] = (p.g[j] + f.lambda*w[j]) + f.b[j]
	}
	p.norm = norm(p.g)
	length := norm(w)
	p.error = f.error(size, length) + 3*unit*(data+f.lambda*length+norm(f.b))*up
	return p
}

// error bounds what the sum over rows is wrong by, where the sizes of the coefficients add up to
// size at most and |w| is at most length.
func (f *sum) error(size, length float64) float64 {
	n, r := float64(len(f.x)), f.radius
	product := gamma(f.dim) * length * r // of w.x
	slope := f.loss.Error() + f.loss.Curvature()*up*product
	return (r*(gamma(depth(len(f.x))+1)*size+n*slope) + tiny) * up
}

// gamma is k u/(1 - k u), rounded up: the largest error in proportion of k roundings.
func gamma(k int) float64 {
	ku := float64(k) * unit
	return ku / (1 - ku) * up
}

// norm is |v|, rounded up.
func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return (math.Sqrt(sum*(1+gamma(len(v)+1))) + tiny) * up
}
