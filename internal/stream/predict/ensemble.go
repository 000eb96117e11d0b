package predict

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/stream/linear"
)

// Members of an ensemble.
const (
	FewestMembers = 8
	MostMembers   = 32
)

// ensemble is the median mechanism (Roth, Roughgarden 2010) with a handful of histograms in the
// place of all small databases. They fit the same releases, and differ where these say nothing:
// each begins with another prior, which a public hash makes of the uniform one.
//
// Priors as rough as data may be would make a median of few as rough. So members are closer to each
// other than they might be, and how far apart they are is multiplied by as much, and corrected by
// how far answers were from predictions lately, as in doubt.
type ensemble struct {
	members []*weights
	values  []float64
	size    float64
	wider   float64
	doubt   doubt
}

// NewEnsemble keeps members weighted histograms. The median of their predictions is the prediction,
// and the spread is about how far apart the middle two thirds of all histograms are that would fit
// as well.
func NewEnsemble(d *linear.Domain, size float64, members int) (Predictor, error) {
	if members < FewestMembers || members > MostMembers {
		return nil, fmt.Errorf("%w: an ensemble has %d to %d members, not %d", ErrPredictor, FewestMembers, MostMembers, members)
	}
	if err := FitsEnsemble(d, members); err != nil {
		return nil, err
	}
	// A cell's share has this standard deviation under the prior, relative to the share.
	rough := math.Sqrt(float64(d.Cells()) / usual.prior)
	t := usual
	t.rough = min(0.5, rough/3)
	t.work /= members
	t.sure = true
	e := &ensemble{values: make([]float64, members), size: size, wider: min(rough/t.rough, 20)}
	for i := range members {
		t.seed = uint64(i + 1)
		w, err := newWeights(d, size, t)
		if err != nil {
			return nil, err
		}
		e.members = append(e.members, w)
	}
	return e, nil
}

// MostEnsembleCells bounds the memory of an ensemble: cells times members.
const MostEnsembleCells = 1 << 24

// FitsEnsemble reports why there is no ensemble of so many members over a domain, or nil. It makes
// none of them.
func FitsEnsemble(d *linear.Domain, members int) error {
	if most := MostEnsembleCells / members; d.Cells() > most {
		return fmt.Errorf("%w: %d histograms of %d cells are too large, and at most %d cells are allowed; keep one histogram, with the "+
			"predictor weights", ErrPredictor, members, d.Cells(), most)
	}
	return nil
}

// Predict implements [Predictor].
func (e *ensemble) Predict(q *linear.Query) (value, spread float64) {
	value, apart := e.ask(q)
	return value, float64(float64(apart*middle) * math.Sqrt(e.doubt.correction()))
}

// ask returns the median, and about the standard deviation of all histograms that fit.
func (e *ensemble) ask(q *linear.Query) (value, sd float64) {
	for i, w := range e.members {
		e.values[i], _ = w.Predict(q)
	}
	slices.Sort(e.values)
	n := len(e.values)
	// The middle half of a normal distribution is 1.35 standard deviations wide.
	return (e.values[(n-1)/2] + e.values[n/2]) / 2, float64((e.values[n-1-n/4]-e.values[n/4])*e.wider) / 1.35
}

// Learn implements [Predictor].
func (e *ensemble) Learn(rs ...Released) {
	for _, r := range rs {
		unit := float64(e.size * float64(r.Query.Steps()))
		v, sd := e.ask(r.Query)
		e.doubt.surprised((v-float64(r.Answer))/unit, r.Scale/unit, sd/unit)
	}
	for _, w := range e.members {
		w.Learn(rs...)
	}
}

// Histogram implements [Predictor]: the mean of the members.
func (e *ensemble) Histogram() []float64 {
	out := make([]float64, len(e.members[0].cells))
	for _, w := range e.members {
		for i, v := range w.Histogram() {
			out[i] += v / float64(len(e.members))
		}
	}
	return out
}
