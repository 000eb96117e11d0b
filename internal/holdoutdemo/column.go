package holdoutdemo

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/detrand"
)

// sampleName is one of three samples of people from the same distribution.
type sampleName string

const (
	trainingSample sampleName = "training"
	holdoutSample  sampleName = "holdout"
	freshSample    sampleName = "fresh"
)

// world is one repetition. Nothing of it is stored: a column is made again from its seed whenever
// it is looked at, so that 10,000 people by 10,000 attributes take no memory.
type world struct {
	seed       uint64
	repetition int
	size       int
	biased     int     // the first so many attributes go with the label
	levels     []int32 // of an attribute
	moved      []int32 // of one that goes with the label
}

// fillColumn fills out with attribute j of all people, each times the label, 1 or -1, of that person.
// An attribute without a bias is symmetric and independent of the label, so times the label it has
// the same law; and nothing that anybody computes here depends on an attribute but through that
// product. So no labels need be drawn.
func (w world) fillColumn(of sampleName, j int, out []byte) []int32 {
	// Reading does not fail.
	detrand.NewStream(fmt.Sprintf("holdout demo %d, %d, %s, ", w.seed, w.repetition, of), uint64(j)).Read(out)
	if j < w.biased {
		return w.moved
	}
	return w.levels
}

// columnSum is the sum of a column: n times the correlation of the attribute with the label, in units.
func (w world) columnSum(of sampleName, j int, buffer []byte) (sum int64) {
	values := w.fillColumn(of, j, buffer)
	for _, b := range buffer {
		sum += int64(values[b])
	}
	return sum
}

// addVotes adds sign times a column to what everybody has.
func (w world) addVotes(of sampleName, j int, sign int32, buffer []byte, total []int32) {
	values := w.fillColumn(of, j, buffer)
	for i, b := range buffer {
		total[i] += sign * values[b]
	}
}
