// Package predict holds what predicts the answers of a stream from answers that were released
// before. It sees no data: it imports nothing that could, and a test looks at every type that
// reaches it. So whatever a predictor does is post-processing, and its quality is a matter of cost
// and never of privacy.
//
// A predictor is a function of the releases, in their order and as they were learned together, and
// of nothing else: not of the questions that were asked in between, not of the number of
// processors, not of the machine. Sums are of integers, so their order does not matter; products of
// floating-point numbers are rounded one by one, because a compiler may otherwise fuse them with a
// sum on some machines; and the exponential is our own, because the library's differs between
// processors.
package predict

import (
	"errors"

	"github.com/discreet-dp/discreet/internal/stream/linear"
)

// ErrPredictor is returned when there is no such predictor.
var ErrPredictor = errors.New("not a predictor")

// Released is an answer that was paid for and is public.
type Released struct {
	Query *linear.Query
	// Answer is the noisy sum of weights, and Scale the standard deviation of its noise, both in
	// weights, not divided by anything.
	Answer int64
	Scale  float64
}

// Predictor predicts sums of weights. It is deterministic: the same releases in the same order give
// the same predictions, on any machine. It is not safe for concurrent use.
type Predictor interface {
	// Predict returns what a query would give, and how far the predictor's candidates are apart
	// about it, both in weights; a predictor without candidates says 0.
	Predict(q *linear.Query) (value, spread float64)
	// Learn takes released answers into account. Several at once take less time than one after the
	// other.
	Learn(rs ...Released)
	// Histogram returns the current estimate of people per cell.
	Histogram() []float64
}
