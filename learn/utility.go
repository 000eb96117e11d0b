package learn

import "math"

// Excess bounds how much larger than its minimum the mean of the losses and the regulariser is at
// the model that is released, for so many rows, with a probability of 1 - beta for all models of
// one candidate together. It is what the theorems promise, and the truth is far better: they know
// nothing of the rows. Against any other w0 it is Lambda |w0|^2/(2 n) more.
//
// With b on the gradient and e on the weights, F(w_b) - F(w*) <= |grad F(w_b)|^2/(2 Lambda) =
// |b|^2/(2 Lambda), because F is Lambda-strongly convex, and F(w_b + e) - F(w_b) <= |b||e| + (n c
// R^2 + Lambda)|e|^2/2, because its gradient is Lipschitz. In e there are the noise on weights,
// where minimising ended, and rounding. |b| and |e| are at most as [Noise] says: Gamma tails, or
// those of a sum of squares (Hsu, Kakade, Zhang 2012).
func (p *Plan) Excess(rows int64, beta float64) float64 {
	if rows <= 0 || !(beta > 0 && beta < 1) {
		return math.Inf(1)
	}
	d, n := float64(p.Encoding.dim()), float64(rows)
	t := math.Log(float64(p.Encoding.models()*len(p.recipe.noise)) / beta)
	lambda := p.most(p.recipe.lambda)
	b, e := 0.0, p.recipe.tolerance/p.recipe.lambda+math.Sqrt(d)*p.recipe.step
	for _, noise := range p.recipe.noise {
		if noise.On == "gradient" {
			b += noise.atMost(t)
		} else {
			e += noise.atMost(t)
		}
	}
	return (b*b/(2*p.recipe.lambda) + b*e + (n*p.loss.Curvature()*p.radius*p.radius+lambda)*e*e/2) / n
}

// atMost is a length that the noise has with a probability of 1 - exp(-t).
func (n Noise) atMost(t float64) float64 {
	d := float64(n.Weights)
	if n.Kind == "radial" {
		return n.Scale * (d + math.Sqrt(2*d*t) + t)
	}
	return n.Scale * math.Sqrt(d+2*math.Sqrt(d*t)+2*t)
}
