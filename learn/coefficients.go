package learn

import "math"

// Coefficient is what one unit of a number, or a value, adds to the score of a class, or to a
// predicted number, in the units of the columns. It holds for rows that are not longer than the
// radius. A longer row is clipped: then scores of classes are smaller in proportion, which changes
// no class, and numbers are nearer to their middle.
type Coefficient struct {
	Class   string  `json:"class,omitempty"` // that the score is of
	Feature string  `json:"feature"`         // empty for the intercept
	Value   string  `json:"value,omitempty"` // of a category
	Weight  float64 `json:"weight"`
	// Deviation is the standard deviation that the noise alone has; 0 where it is not known,
	// because it depends on the data.
	Deviation float64 `json:"deviation,omitempty"`
}

// Coefficients lists the weights by feature, the intercept first.
func (m *Model) Coefficients() []Coefficient {
	var out []Coefficient
	deviation := m.deviation()
	target := &m.Encoding.Target
	for k, w := range weights(m.Weights, m.Step) {
		class, unit, start := "", 1.0, 0.0
		switch {
		case !target.Categorical():
			unit, start = target.half()*target.unit(), target.middle()*target.unit()
		case len(m.Weights) == 1:
			class = target.Values[1]
		default:
			class = target.Values[k]
		}
		first := len(out)
		out = append(out, Coefficient{Class: class})
		intercept, variance, at := w[len(w)-1], 1.0, 0
		for i := range m.Encoding.Features {
			c := &m.Encoding.Features[i]
			if !c.Categorical() {
				per := 1 / (c.half() * c.unit())
				out = append(out, Coefficient{Class: class, Feature: c.Name, Weight: w[at] * per * unit, Deviation: deviation * per * unit})
				shift := c.middle() / c.half()
				intercept, variance = intercept-w[at]*shift, variance+shift*shift
			}
			for j, v := range c.Values {
				out = append(out, Coefficient{Class: class, Feature: c.Name, Value: v, Weight: w[at+j] * unit, Deviation: deviation * unit})
			}
			at += c.width()
		}
		// Coordinates of the noise are uncorrelated, radial ones too.
		out[first].Weight, out[first].Deviation = start+intercept*unit, deviation*math.Sqrt(variance)*unit
	}
	return out
}

// deviation is that of the noise on one weight, where all noise is on weights.
func (m *Model) deviation() float64 {
	if len(m.Noise) == 1 && m.Noise[0].On == "weights" {
		return m.Noise[0].deviation()
	}
	return 0
}
