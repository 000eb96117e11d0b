package loss

import "testing"

// TestNarrowUnderSampling: with a small rate and little noise nearly all of the mass lies between
// two points of the lattice. Both ends of the bracket are of use all the same, alone and beside
// another law; the wider direction is the guarantee.
func TestNarrowUnderSampling(t *testing.T) {
	for _, c := range []struct {
		sigma, rate float64
		times       int
		delta       float64
		least       float64 // of the lower end, as a share of the upper
	}{
		{0.5, 1e-4, 1000, 1e-4, 0.999}, {0.5, 1e-4, 1000, 1e-5, 0.999}, {0.4, 1e-4, 1000, 1e-4, 0.9999}, {0.3, 1e-4, 1000, 1e-3, 0.9999},
		{0.25, 1e-4, 100, 1e-3, 0.9999}, {0.6, 1e-4, 1000, 1e-4, 0.99}, {0.5, 1e-5, 100_000, 1e-5, 0.98}, {1, 1e-3, 10_000, 1e-5, 0.999},
	} {
		gaussian, err := Gaussian(1 / c.sigma)
		if err != nil {
			t.Fatal(err)
		}
		law, err := Sampled(gaussian, c.rate, Remove)
		if err != nil {
			t.Fatal(err)
		}
		other, err := Sampled(gaussian, c.rate*2, Remove)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := Sum{}.Plus(law, c.times)
		if err != nil {
			t.Fatal(err)
		}
		beside, err := alone.Plus(other, c.times/2)
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range map[string]Sum{"alone": alone, "beside another": beside} {
			e, err := s.Epsilon(c.delta)
			if err != nil || e.Lower < c.least*e.Upper {
				t.Errorf("%+v %s: %v to %v, %v", c, name, e.Lower, e.Upper, err)
			}
			// The two ends are of delta too, at the epsilon between them.
			d, err := s.Delta(e.Upper)
			if err != nil || d.Lower > c.delta*(1+1e-9) || d.Upper < c.delta*0.9 {
				t.Errorf("%+v %s: delta is %v to %v at epsilon %v, %v", c, name, d.Lower, d.Upper, e.Upper, err)
			}
		}
	}
}
