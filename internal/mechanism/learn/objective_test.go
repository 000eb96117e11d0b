package learn

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// currencies calibrate one problem in each currency.
var currencies = map[string]func(p Problem, price, lambda float64) (*ObjectiveNoise, error){
	"pure": func(p Problem, price, lambda float64) (*ObjectiveNoise, error) { return p.Pure(units(price), lambda) },
	"approximate": func(p Problem, price, lambda float64) (*ObjectiveNoise, error) {
		return p.Approximate(units(price), units(1e-6), lambda)
	},
	"concentrated": func(p Problem, price, lambda float64) (*ObjectiveNoise, error) {
		return p.Concentrated(units(price), lambda)
	},
}

func units(x float64) dp.Amount {
	a, err := dp.FloorFloat(x)
	if err != nil {
		panic(err)
	}
	return a
}

// problems are some of all kinds, the extremes among them.
func problems() (out []Problem) {
	for _, base := range []Problem{{Slope: 1, Curvature: 0.25, OneSided: true, Tapered: true}, {Slope: 1, Curvature: 1, OneSided: true},
		{Slope: 2, Curvature: 1}} {
		for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
			for _, size := range [][3]int{{1, 1, 1}, {10, 1, 1}, {10, 3, 1}, {10, 1, 5}, {3, 4, 20}, {100, 256, 1024}} {
				p := base
				p.Neighbours, p.Radius, p.Weights, p.Models, p.Rows = n, 3, size[0], size[1], size[2]
				out = append(out, p)
			}
		}
	}
	return out
}

// TestMonotone: what protects more has no less noise, at the same regulariser.
func TestMonotone(t *testing.T) {
	for name, calibrate := range currencies {
		for _, p := range problems() {
			o, err := calibrate(p, 0.5, 0)
			if err != nil {
				t.Errorf("%s %+v: %v", name, p, err)
				continue
			}
			if !(o.Lambda > 0 && o.Scale > 0) || math.IsInf(o.Scale+o.Lambda, 0) || name == "pure" && o.Gaussian {
				t.Errorf("%s %+v: %+v", name, p, o)
			}
			lambda := o.Lambda * 4
			at := func(p Problem, price, lambda float64) float64 {
				o, err := calibrate(p, price, lambda)
				if err != nil {
					return math.Inf(1)
				}
				return o.Scale
			}
			base := at(p, 0.5, lambda)
			more, wide, many := p, p, p
			more.Rows, wide.Radius, many.Models = p.Rows+1, p.Radius*1.1, p.Models+1
			const same = 1 - 1e-6
			for what, got := range map[string]float64{
				"a smaller price": at(p, 0.4, lambda), "a smaller regulariser": at(p, 0.5, lambda/1.5),
				"a larger radius": at(wide, 0.5, lambda), "more models": at(many, 0.5, lambda),
			} {
				if got < base*same {
					t.Errorf("%s %+v: %s has less noise, %v against %v", name, p, what, got, base)
				}
			}
			if p.Rows < maxRows && p.Rows != maxTaperedRows {
				if got := at(more, 0.5, lambda); got < base*same {
					t.Errorf("%s %+v: more rows have less noise, %v against %v", name, p, got, base)
				}
			}
			if p.Neighbours == dp.AddRemove {
				p.Neighbours = dp.Substitute
				if got := at(p, 0.5, lambda); got < base*1.5 {
					t.Errorf("%s %+v: substitution has %v against %v", name, p, got, base)
				}
			}
		}
	}
}

// TestLeast: the regulariser that an error proposes is enough, and a little less is not.
func TestLeast(t *testing.T) {
	for name, calibrate := range currencies {
		for _, p := range problems() {
			_, err := calibrate(p, 0.5, 1e-9)
			var small *RegulariserError
			if !errors.As(err, &small) {
				t.Errorf("%s %+v: %v", name, p, err)
				continue
			}
			if _, err := calibrate(p, 0.5, small.Least*1.0001); err != nil {
				t.Errorf("%s %+v: %v", name, p, err)
			}
			if _, err := calibrate(p, 0.5, small.Least*0.98); err == nil {
				t.Errorf("%s %+v: less than %v is enough", name, p, small.Least)
			}
		}
	}
}

// TestRefused has what calibrates nothing.
func TestRefused(t *testing.T) {
	good := problems()[0]
	for i, change := range []func(p *Problem){
		func(p *Problem) { p.Slope = 0 }, func(p *Problem) { p.Curvature = math.NaN() }, func(p *Problem) {
			p.Radius = math.Inf(1)
		}, func(p *Problem) { p.Radius = -1 },
		func(p *Problem) { p.Weights = 0 }, func(p *Problem) { p.Models = 0 }, func(p *Problem) { p.Rows = 0 }, func(p *Problem) {
			p.Rows = 1 << 20
		}, func(p *Problem) { p.Neighbours = 9 },
	} {
		p := good
		change(&p)
		for name, calibrate := range currencies {
			if _, err := calibrate(p, 1, 0); !errors.Is(err, errProblem) {
				t.Errorf("%s, change %d: %v", name, i, err)
			}
		}
	}
	for name, calibrate := range currencies {
		for _, lambda := range []float64{-1, math.NaN(), math.Inf(1), 1e-300} {
			if _, err := calibrate(good, 1, lambda); !errors.Is(err, errProblem) {
				t.Errorf("%s, %v: %v", name, lambda, err)
			}
		}
		if _, err := calibrate(good, 0, 0); !errors.Is(err, errProblem) {
			t.Errorf("%s for nothing: %v", name, err)
		}
		for _, price := range []float64{0x1p-40, 1e-6, 1e4, 1e6} { // extremes: an answer or an error, and nothing infinite
			if o, err := calibrate(good, price, 0); err == nil && !(o.Scale > 0 && o.Lambda > 0 && !math.IsInf(o.Scale+o.Lambda, 0)) {
				t.Errorf("%s for %v: %+v", name, price, o)
			}
		}
	}
}
