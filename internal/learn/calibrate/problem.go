package calibrate

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
)

// Problem is what is public about a training: all that noise depends on.
type Problem struct {
	Slope     float64 // G: |phi'| is at most that
	Curvature float64 // c: the second derivative of phi is at most that
	OneSided  bool    // for a given target the sign of phi' never changes
	// the second derivative is at most 4 c s(1-s) where |phi'| is s G: the loss is straight where
	// it is steep, as the logistic is
	Tapered bool
	Radius  float64 // R: no row's features are longer
	Weights int     // d: how many weights a model has, the intercept's among them
	Models  int     // K: how many models are trained on the same rows, one for each class where there are more than two
	Rows    int     // m: how many rows of one person count
	// Neighbours says whether a person is added or removed, or another one takes their place.
	Neighbours dp.Neighbours
}

// Slack is the factor by which noise is made larger than computed, for all errors of rounding
// together.
const Slack = 1 + 0x1p-40

// Limits of what is calibrated.
const (
	maxWeights = 1 << 20
	maxModels  = 1 << 10
	maxRows    = 1 << 10
	smallest   = 0x1p-60 // and the inverse of the largest regulariser
)

// ErrProblem is returned for parameters that nothing can be calibrated to.
var ErrProblem = errors.New("nothing can be calibrated to this")

// Validate says what is wrong with a problem.
func (p Problem) Validate() error {
	positive := func(x float64) bool { return x >= 0x1p-100 && x <= 0x1p100 }
	switch {
	case !positive(p.Slope) || !positive(p.Curvature):
		return fmt.Errorf("%w: the loss needs a bounded slope and curvature", ErrProblem)
	case !positive(p.Radius):
		return fmt.Errorf("%w: the radius that rows are clipped to is a positive number", ErrProblem)
	case p.Weights < 1 || p.Weights > maxWeights:
		return fmt.Errorf("%w: a model has from 1 to %d weights", ErrProblem, maxWeights)
	case p.Models < 1 || p.Models > maxModels:
		return fmt.Errorf("%w: there are from 1 to %d models", ErrProblem, maxModels)
	case p.Rows < 1 || p.Rows > maxRows:
		return fmt.Errorf("%w: a person has from 1 to %d rows; lower max_rows", ErrProblem, maxRows)
	case p.Neighbours != dp.AddRemove && p.Neighbours != dp.Substitute:
		return fmt.Errorf("%w: neighbours are add-remove or substitute", ErrProblem)
	}
	return nil
}

// differ is M: in how many rows neighbours differ at most.
func (p Problem) differ() int {
	if p.Neighbours == dp.AddRemove {
		return p.Rows
	}
	return 2 * p.Rows
}

// Gradient is S: how far the gradient of one model's sum moves between neighbours, in l2.
func (p Problem) Gradient() float64 {
	return float64(p.differ()) * p.Slope * p.Radius * Slack
}

// kappa is m c R^2/Lambda, rounded up.
func (p Problem) kappa(lambda float64) float64 {
	return float64(p.Rows) * p.Curvature * p.Radius * p.Radius / lambda * Slack
}

// rank is the rank of what one person's rows add to the second derivative.
func (p Problem) rank() float64 { return float64(min(p.Rows, p.Weights)) }

// Jacobian is J: the most that the change of variables adds to the privacy loss of one model.
func (p Problem) Jacobian(lambda float64) float64 {
	k := p.rank()
	return k * math.Log1p(p.kappa(lambda)/k) * Slack
}

// lambdaFor is the least Lambda, rounded up, whose Jacobian is at most j.
func (p Problem) lambdaFor(j float64) float64 {
	k := p.rank()
	m := float64(p.Rows) * p.Curvature * p.Radius * p.Radius
	return math.Max(m/(k*math.Expm1(j/(k*Slack)))*Slack*Slack, smallest)
}
