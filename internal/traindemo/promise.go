package traindemo

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/mech"
)

// Beta is how often a promise may be broken.
const Beta = 0.05

// Promise is what the theorems promise for a way at an epsilon, beside what was observed in several
// trainings on the same rows. Both are by how much the mean of loss and regulariser is above its
// least. It is a promise about the training rows: how a model does on others is in Wrong.
type Promise struct {
	Way         string    `json:"way"`
	Epsilon     dp.Amount `json:"-"`
	Regulariser float64   `json:"regulariser"`
	// Promised is exceeded with a probability of at most Beta. Observed is the mean over the
	// trainings, Largest the largest, and Broken in how many Promised was exceeded.
	Promised float64 `json:"promised"`
	Observed float64 `json:"observed"`
	Largest  float64 `json:"largest"`
	Broken   int     `json:"broken"`
	// Wrong is the mean share of test rows that the models get wrong, and Least that of the
	// minimiser without noise, with the same regulariser.
	Wrong float64 `json:"wrong"`
	Least float64 `json:"least"`
}

// Promises trains s.Draws times by every way at every epsilon, on one split of the rows.
func (s Sweep) Promises(ctx context.Context, d *Data, tell func(done, of int)) ([]Promise, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if err := d.refuseUnusable(); err != nil {
		return nil, err
	}
	if tell == nil {
		tell = func(int, int) {}
	}
	train, test := d.Split(s.Seed)
	known := map[float64][2]encodedRows{} // by radius
	done, of := 0, len(s.Ways)*len(s.Epsilons)*s.Draws
	var out []Promise
	for _, w := range s.Ways {
		for _, epsilon := range s.Epsilons {
			p, err := s.prepare(d, w, epsilon, len(train.Rows))
			if err != nil {
				return nil, err
			}
			both, ok := known[p.Radius()]
			if !ok {
				both = [2]encodedRows{train.encode(p.Radius()), test.encode(p.Radius())}
				known[p.Radius()] = both
			}
			lambda := p.Regularisers()[0]
			best, err := both[0].minimise(ctx, lambda)
			if err != nil {
				return nil, err
			}
			least := both[0].meanLoss(best, lambda)
			one := Promise{Way: w.Name, Epsilon: epsilon, Regulariser: lambda, Promised: p.Excess(int64(len(train.Rows)), Beta),
				Least: both[1].errorShare(best)}
			table := train.table(p)
			for draw := range s.Draws {
				m, err := learn.Fit(ctx, p, table,
					mech.NewReleaser(detrand.Noise(fmt.Sprintf("promise %s %v %d", w.Name, epsilon, draw), s.Seed)), nil)
				if err != nil {
					return nil, err
				}
				excess := both[0].meanLoss(modelWeights(m), lambda) - least
				one.Observed += excess / float64(s.Draws)
				one.Largest = math.Max(one.Largest, excess)
				one.Wrong += both[1].errorShare(modelWeights(m)) / float64(s.Draws)
				if excess > one.Promised {
					one.Broken++
				}
				done++
				tell(done, of)
			}
			out = append(out, one)
		}
	}
	return out, nil
}
