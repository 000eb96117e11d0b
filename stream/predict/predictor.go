// Package predict holds what predicts the answers of a stream from answers that were released before. It sees no data: it imports nothing that could, and a test looks at
// every type that reaches it. So whatever a predictor does is post-processing, and its quality is a matter of cost and never of privacy.
package predict

import "github.com/discreet-dp/discreet/stream/linear"

// Released is an answer that was paid for and is public.
type Released struct {
	Query *linear.Query
	// Answer is the noisy sum of weights, and Scale the standard deviation of its noise, both in weights, not divided by anything.
	Answer int64
	Scale  float64
}

// Predictor predicts sums of weights. It is deterministic: the same releases in the same order give the same predictions, on any machine. It is not safe for concurrent use.
type Predictor interface {
	// Predict returns what a query would give, and how far the predictor's candidates are apart about it, both in weights; a predictor without candidates says 0.
	Predict(q *linear.Query) (value, spread float64)
	// Learn takes a released answer into account.
	Learn(r Released)
	// Histogram returns the current estimate of people per cell.
	Histogram() []float64
}

// NewHalving keeps all databases of size people over a tiny domain as candidates (at most MaxCandidates; refused with their number). Each answer that is further than
// alpha*size from the median candidate removes at least half of them.
// NewEnsemble keeps members weighted histograms. NewWeights keeps one.
func NewHalving(d *linear.Domain, size int64, alpha float64) (Predictor, error)  { panic("not built") }
func NewEnsemble(d *linear.Domain, size float64, members int) (Predictor, error) { panic("not built") }
func NewWeights(d *linear.Domain, size float64) (Predictor, error)               { panic("not built") }
