package holdoutdemo

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// candidate is an attribute that the analyst may select.
type candidate struct {
	attribute int
	sign      int32
	strength  float64
}

// choose asks the holdout about the correlation of every attribute with the label. An attribute is
// a candidate where training and holdout say the same sign, and is as strong as the weaker of the
// two. The strongest come first.
func (w world) choose(ctx context.Context, sums [2][]int64, by judge) ([]candidate, error) {
	var out []candidate
	whole := int64(w.size) * scoreWeight
	for j, t := range sums[0] {
		// A correlation from -bound to bound, as a score from 0 to 1.
		up := int64(w.size) * latticeBound
		training := big.NewRat(t+up, whole)
		score, err := by.score(ctx, fmt.Sprint("attribute ", j), sums[1][j]+up, whole, training)
		if err != nil {
			return nil, err
		}
		here, there := float64(t), (score-0.5)*float64(whole)
		if here*there <= 0 {
			continue
		}
		sign := int32(1)
		if here < 0 {
			sign = -1
		}
		out = append(out, candidate{j, sign, math.Min(math.Abs(here), math.Abs(there))})
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(-cmp.Compare(a.strength, b.strength), cmp.Compare(a.attribute, b.attribute))
	})
	return out, nil
}

// startFactor is how many times more attributes the analyst begins with than are reported on.
const startFactor = 3

// trial is what one repetition says about a classifier of so many attributes: the shares of people
// whose label is the sign of the sum.
type trial struct {
	training, reported, fresh float64
	found                     int // attributes in it that go with the label
}

// classify builds classifiers of so many attributes each, and asks the holdout about them: the
// analyst begins with more attributes than are reported on, and then asks about what is left when
// the weakest are dropped.
//
// The first question matters to Thresholdout. A round whose threshold happens to be high lasts
// long, so after thousands of questions that were confirmed the open round is likely to be one of
// these, and the next answer from the holdout ends it.
func (w world) classify(ctx context.Context, chosen []candidate, grid []int, by judge, looked func()) ([]trial, error) {
	reported := len(grid)
	grid = append(slices.Clone(grid), startFactor*grid[reported-1])
	var right [3][]int64 // by set, by place in the grid
	for i, of := range []sampleName{trainingSample, holdoutSample, freshSample} {
		total, buffer, next := make([]int32, w.size), make([]byte, w.size), 0
		for _, k := range grid {
			for ; next < min(k, len(chosen)); next++ {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				w.addVotes(of, chosen[next].attribute, chosen[next].sign, buffer, total)
				looked()
			}
			n := int64(0)
			for _, v := range total {
				if v > 0 {
					n++
				}
			}
			right[i] = append(right[i], n)
		}
	}
	out := make([]trial, len(grid))
	n := int64(w.size)
	for g, k := range slices.Backward(grid) {
		t := big.NewRat(right[0][g], n)
		score, err := by.score(ctx, fmt.Sprint("classifier of ", k), right[1][g]*scoreWeight, n*scoreWeight, t)
		if err != nil {
			return nil, err
		}
		out[g] = trial{training: float64(right[0][g]) / float64(n), reported: score, fresh: float64(right[2][g]) / float64(n)}
		for _, c := range chosen[:min(k, len(chosen))] {
			if c.attribute < w.biased {
				out[g].found++
			}
		}
	}
	return out[:reported], nil
}
