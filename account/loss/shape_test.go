package loss

import (
	"math"
	"testing"
)

// All probability is in the picture, and delta can be read from it.
func TestShape(t *testing.T) {
	gaussian, _ := Gaussian(1)
	lap, _ := Laplace(1)
	exp, _ := Exponential(0.7)
	resp, _ := Response(0.3, 0)
	dl, _ := DiscreteLaplace(3, 2)
	dg, _ := DiscreteGaussian(9, 1)
	sg, _ := Sampled(gaussian, 0.3, Remove)
	for _, c := range []struct {
		name  string
		law   Law
		times int
	}{
		{"gaussian", gaussian, 1}, {"laplace", lap, 1}, {"exponential", exp, 1}, {"response", resp, 1}, {"discrete laplace", dl, 1},
		{"discrete gaussian", dg, 1}, {"sampled", sg, 1}, {"laplace", lap, 20}, {"response", resp, 50}, {"exponential", exp, 10},
		{"sampled", sg, 20}, {"discrete gaussian", dg, 30},
	} {
		s, err := Sum{}.Plus(c.law, c.times)
		if err != nil {
			t.Fatal(err)
		}
		shape := s.Shape(800)
		const epsilon = 0.2
		mass, delta := 0.0, 0.0
		add := func(p Point, width float64) {
			mass += p.Height * width
			delta += p.Height * width * max(0, -math.Expm1(epsilon-p.Loss))
		}
		for _, a := range shape.Atoms {
			add(a, 1)
		}
		for i, p := range shape.Density {
			if i > 0 {
				before := shape.Density[i-1]
				add(Point{(p.Loss + before.Loss) / 2, (p.Height + before.Height) / 2}, p.Loss-before.Loss)
			}
		}
		want, _ := s.Delta(epsilon)
		if math.Abs(mass-1) > 2e-3 || math.Abs(delta-want.Upper) > 3e-3 {
			t.Errorf("%s %d times: the mass is %v and delta %v, not %v", c.name, c.times, mass, delta, want.Upper)
		}
	}
}
