package pricing

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/mech"
)

// markRunning notes which measures of a purchase running totals are made of, where their noise may
// be chosen by that: on a budget that adds up rho, for a price, and not through a stream.
func (p *Priced) markRunning() {
	for i, one := range p.Statement.Plans {
		if b := p.Purchases[p.AnsweredBy[i]]; b.Cube == nil {
			b.running = append(b.running, one.Running...)
		}
	}
}

// runningNoise is the noise of a measure of which running totals are made: that of a factorisation
// where it makes the mean of their variances smaller, and plain otherwise.
func runningNoise(q *tree.Query, m tree.Measure, share dp.Amount, plain Noise) Noise {
	lo, hi := q.Interval(m)
	of := mech.Sequence{Len: q.Groups(), Low: lo, High: hi, Groups: q.MaxGroups(), Neighbours: q.Neighbours}
	r, err := mech.NewRunning(of, share)
	// The mean running total is the sum of half of the numbers and one half more.
	if err != nil || r.Mean() >= mech.Variance(plain.Mechanism)*float64(of.Len+1)/2 {
		return plain
	}
	return Noise{Mechanism: r.Each(), Running: r}
}

// isRunning reports whether running totals are made of a measure.
func (b *Purchase) isRunning(measure int) bool { return slices.Contains(b.running, measure) }

// sayRunning says how exact running totals are.
func (n Noise) sayRunning(beta, step float64) string {
	return fmt.Sprintf("the noise nearly takes itself away in running totals, each of which is within %.6g; a number by itself has more "+
		"than it would have without", float64(n.Running.Total().HalfWidth(beta))*step)
}
