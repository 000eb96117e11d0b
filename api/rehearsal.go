package api

import (
	"fmt"

	"github.com/discreet-dp/discreet/stream"
)

// WorkloadError says which question of a workload cannot be asked. Nothing was run: all are checked
// first.
type WorkloadError struct {
	Index int // from 0
	Err   error
}

func (e *WorkloadError) Error() string { return fmt.Sprintf("question %d: %v", e.Index+1, e.Err) }

func (e *WorkloadError) Unwrap() error { return e.Err }

// Rehearsal is what a workload would cost a stream. It has seen the data without noise, so it is
// for the owner and for nobody else.
type Rehearsal struct {
	Dataset, Stream string
	Predictor       string
	// Report is that of the stream as the policy has it. Bound is how far its answers may be off,
	// in people, MaxError how far the furthest was, of those with a guarantee, and Beyond how many
	// were further than Bound.
	Report   stream.Report
	Bound    int64
	MaxError int64
	Beyond   int
	Series   []RehearsalSeries
	// TooLarge names the ways that are not among Series, because the stream has more cells than
	// they can keep.
	TooLarge []string
}

// RehearsalSeries is what a way to answer has cost after so many questions.
type RehearsalSeries struct {
	Name   string        // no reuse, exact cache, median, weights
	Report stream.Report // zero for no reuse
	Points []RehearsalPoint
}

// RehearsalPoint is the cost, in epsilon or rho, of the first questions.
type RehearsalPoint struct {
	Queries int
	Cost    float64
}
