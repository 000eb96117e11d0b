package predict

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
)

// Members of an ensemble.
const (
	minMembers = 8
	maxMembers = 32
)

// ensemble is the median mechanism (Roth, Roughgarden 2010) with a handful of histograms in the
// place of all small databases. They fit the same releases, and differ where these say nothing:
// each begins with another prior, which a public hash makes of the uniform one.
//
// Priors as rough as data may be would make a median of few as rough. So members are closer to each
// other than they might be, and how far apart they are is multiplied by as much, and corrected by
// how far answers were from predictions lately, as in uncertainty.
type ensemble struct {
	members      []*weights
	values       []float64
	size         float64
	spreadFactor float64
	uncertainty  uncertainty
}

// NewEnsemble keeps members weighted histograms. The median of their predictions is the prediction,
// and the spread is about how far apart the middle two thirds of all histograms are that would fit
// as well.
func NewEnsemble(d *linear.Domain, size float64, members int) (Predictor, error) {
	if members < minMembers || members > maxMembers {
		return nil, fmt.Errorf("%w: an ensemble has %d to %d members, not %d", errPredictor, minMembers, maxMembers, members)
	}
	if err := FitsEnsemble(d, members); err != nil {
		return nil, err
	}
	// A cell's share has this standard deviation under the prior, relative to the share.
	rough := math.Sqrt(float64(d.Cells()) / defaultTuning.prior)
	t := defaultTuning
	t.rough = min(0.5, rough/3)
	t.work /= members
	t.certain = true
	e := &ensemble{values: make([]float64, members), size: size, spreadFactor: min(rough/t.rough, 20)}
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

// maxEnsembleCells bounds the memory of an ensemble: cells times members.
const maxEnsembleCells = 1 << 24

// FitsEnsemble reports why there is no ensemble of so many members over a domain, or nil. It makes
// none of them.
func FitsEnsemble(d *linear.Domain, members int) error {
	if most := maxEnsembleCells / members; d.Cells() > most {
		return fmt.Errorf("%w: %d histograms of %d cells are too large, and at most %d cells are allowed; keep one histogram, with the "+
			"predictor weights", errPredictor, members, d.Cells(), most)
	}
	return nil
}

func (e *ensemble) Predict(q *linear.Query) (value, spread float64) {
	value, apart := e.ask(q)
	return value, float64(float64(apart*middleDeviations) * math.Sqrt(e.uncertainty.correction()))
}

// ask returns the median, and about the standard deviation of all histograms that fit.
func (e *ensemble) ask(q *linear.Query) (value, sd float64) {
	for i, w := range e.members {
		e.values[i], _ = w.Predict(q)
	}
	slices.Sort(e.values)
	n := len(e.values)
	// The middle half of a normal distribution is 1.35 standard deviations wide.
	return (e.values[(n-1)/2] + e.values[n/2]) / 2, float64((e.values[n-1-n/4]-e.values[n/4])*e.spreadFactor) / 1.35
}

func (e *ensemble) Learn(rs ...Released) {
	for _, r := range rs {
		unit := float64(e.size * float64(r.Query.Steps()))
		v, sd := e.ask(r.Query)
		e.uncertainty.observe((v-float64(r.Answer))/unit, r.Scale/unit, sd/unit)
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

// uncertainty says how far off a prediction may be, from which questions were answered before, and
// not from how they were.
//
// The fit of [weights] is the most likely histogram where shares P have the prior density
// exp(-prior KL(P || uniform)) and answers have normal noise. Near the fit that density is about
// normal, with the covariance of two queries
//
//	(E[q q'] - E[q] E[q']) / prior
//
// under the fit, and given answers, the variance of a query is that of normal variables (Rasmussen,
// Williams 2006, 2.24). To have E[q q'] quickly, attributes are taken as independent here, which
// makes it a product.
//
// Data is smoother than such a prior believes, or rougher, so the variance is corrected by how far
// answers were from predictions lately. All of it is a guess, for choosing what is cheapest;
// nothing that is promised rests on it.
type uncertainty struct {
	shares [][]float64 // of each value of each attribute
	stale  int         // with how many releases the shares have to be counted anew
	past   []selectedValues
	means  []float64
	rows   [][]float64 // the Cholesky factor of the covariance of answers
	own    [][]float64 // of the query in question: the shares of its values
	sums   []float64
	solved []float64
	// Sums that forget: of squared surprises, less what is due to noise, and of the variances that
	// were expected.
	surprise, expected float64
}

// An answer counts for memory of the one after it, and at first there are as many as patience that
// came as expected.
const (
	memoryFactor    = 0.95
	expectedAnswers = 4
)

// observe takes note of how far an answer is from its prediction, in shares.
func (d *uncertainty) observe(off, noise, sd float64) {
	if !(sd > 0 && noise >= 0) { // NaN as well
		return
	}
	v := float64(sd * sd)
	if d.expected == 0 {
		d.surprise, d.expected = float64(expectedAnswers*v), float64(expectedAnswers*v)
	}
	// One answer that is far out is no law.
	off, noise = min(math.Abs(off), float64(4*sd)), min(noise, sd)
	d.surprise = float64(memoryFactor*d.surprise) + float64(off*off) - float64(noise*noise)
	d.expected = float64(memoryFactor*d.expected) + v
}

// correction is what variances are multiplied by.
func (d *uncertainty) correction() float64 {
	if d.expected == 0 {
		return 1
	}
	return min(max(d.surprise/d.expected, 0.02), 4)
}

// selectedValues is a conjunction: the values that it selects of each attribute, nil where it
// selects all.
type selectedValues [][]int32

// largeCells is the number of cells from which passes over all of them are saved.
const largeCells = 1 << 20

// maxConsideredAnswers bounds the answers that are considered, the newest: time goes with the
// square.
const maxConsideredAnswers = 192

func (d *uncertainty) learn(w *weights) {
	// Of a large histogram the shares are not counted anew for every answer, and change little.
	if d.shares == nil || len(w.cells) < largeCells || len(w.past) >= d.stale {
		d.marginals(w)
		d.stale = len(w.past) + 1 + len(w.past)/8
	}
	d.past, d.means, d.rows = d.past[:0], d.means[:0], d.rows[:0]
	var noise []float64
	var queries []*linear.Query
	for i := len(w.past) - 1; i >= 0 && len(d.past) < maxConsideredAnswers; i-- {
		r := w.past[i]
		level, _ := r.Query.Level()
		if !r.Query.Conjunction() {
			continue
		}
		if r.chosen == nil {
			r.chosen = valuesOf(r.Query)
		}
		queries, d.past = append(queries, r.Query), append(d.past, r.chosen)
		sd := max(r.Scale/float64(w.people*float64(level)), 1e-6)
		noise = append(noise, float64(float64(w.tuning.prior*sd)*sd))
	}
	for i, q := range queries {
		d.selectQuery(q)
		mean := d.mean()
		d.means = append(d.means, mean)
		row := make([]float64, i+1)
		for k := range i + 1 {
			x := d.with(d.past[k]) - float64(mean*d.means[k]) - dot(row[:k], d.row(k, row))
			if k == i {
				x += noise[i]
				row[k] = math.Sqrt(max(x, 1e-12))
			} else {
				row[k] = x / d.rows[k][k]
			}
		}
		d.rows = append(d.rows, row)
	}
}

// row is row k of the factor, where the last one is not yet there.
func (d *uncertainty) row(k int, last []float64) []float64 {
	if k < len(d.rows) {
		return d.rows[k]
	}
	return last
}

// marginals takes the shares of all values. Two passes over the cells are enough, one for the first
// attributes and one for the others.
func (d *uncertainty) marginals(w *weights) {
	d.shares = d.shares[:0]
	half, n := 0, 1
	for half < len(w.all) && n*n < len(w.cells) {
		n *= len(w.domain.Attributes()[half].Values)
		half++
	}
	for _, part := range [][]int{w.all[:half], w.all[half:]} {
		table := sumOut(w.domain, w.all, w.cells, part)
		for i := range part {
			var shares []float64
			for _, c := range sumOut(w.domain, part, table, part[i:i+1]) {
				shares = append(shares, float64(c)/float64(w.total))
			}
			d.shares = append(d.shares, shares)
		}
	}
}

// selectQuery prepares a query to be compared with others.
func (d *uncertainty) selectQuery(q *linear.Query) {
	if d.own == nil {
		d.own = make([][]float64, len(d.shares))
		d.sums = make([]float64, len(d.shares))
	}
	for a := range d.own {
		d.own[a], d.sums[a] = d.own[a][:0], 1
	}
	for _, a := range q.Attributes() {
		sum := 0.0
		for v, w := range q.Single(a) {
			x := float64(float64(w) * d.shares[a][v])
			d.own[a] = append(d.own[a], x)
			sum += x
		}
		d.sums[a] = sum
	}
}

// mean returns E[q] of the query that was looked at, and with E[q q'].
func (d *uncertainty) mean() float64 {
	x := 1.0
	for _, sum := range d.sums {
		x = float64(x * sum)
	}
	return x
}

func (d *uncertainty) with(other selectedValues) float64 {
	both := 1.0
	for a, sum := range d.sums {
		chosen := other[a]
		if chosen == nil {
			both = float64(both * sum)
			continue
		}
		own := d.own[a]
		if len(own) == 0 {
			own = d.shares[a]
		}
		x := 0.0
		for _, v := range chosen {
			x += own[v]
		}
		both = float64(both * x)
	}
	return both
}

func valuesOf(q *linear.Query) selectedValues {
	out := make(selectedValues, len(q.Domain().Attributes()))
	for _, a := range q.Attributes() {
		for v, w := range q.Single(a) {
			if w != 0 {
				out[a] = append(out[a], int32(v))
			}
		}
	}
	return out
}

// dot is a sum of products, of the first of two lists. Four sums at once do not wait for each
// other.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s, t, u, v float64
	for len(a) >= 4 && len(b) >= 4 {
		s += float64(a[0] * b[0])
		t += float64(a[1] * b[1])
		u += float64(a[2] * b[2])
		v += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		s += float64(x * b[i])
	}
	return (s + t) + (u + v)
}

// deviation returns the standard deviation of a conjunction's share.
func (d *uncertainty) deviation(q *linear.Query, prior float64) float64 {
	if d.shares == nil || !q.Conjunction() {
		return 0
	}
	d.selectQuery(q)
	mean := d.mean()
	variance := mean - float64(mean*mean) // a conjunction is its own square
	d.solved = d.solved[:0]
	for i, p := range d.past {
		row := d.rows[i]
		x := (d.with(p) - float64(mean*d.means[i]) - dot(d.solved, row)) / row[i]
		d.solved = append(d.solved, x)
		variance -= float64(x * x)
	}
	return math.Sqrt(max(variance, 0) / prior)
}

// splitmix is splitmix64: public, and the same everywhere. It makes members of an ensemble differ,
// and is no source of noise.
func splitmix(seed, i uint64) uint64 {
	z := seed*0xd1342543de82ef95 + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// pseudoNormal is about a standard normal number: the sum of twelve uniform ones, less 6.
func pseudoNormal(seed, i uint64) float64 {
	sum := -6.0
	for k := range uint64(3) {
		h := splitmix(seed+k, i)
		for range 4 {
			sum += float64(h&0xffff) / 65536
			h >>= 16
		}
	}
	return sum
}
