// Package loss has the losses that models are trained with, as functions of a score and a target.
package loss

// Loss is a convex function phi(z, y) of a score z = w.x and a target y, with a slope and a curvature in z that are bounded. For classes y is -1 or 1; for numbers it is from -1 to 1.
type Loss struct {
	name  string
	width float64 // the half-width of Huber, or the residual where squares become straight
}

// Name is "logistic", "huber" or "squares".
func (l Loss) Name() string { return l.name }
