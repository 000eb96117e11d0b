package predict

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
)

// Weights is one histogram, fitted to everything that was released: the multiplicative weights of
// Hardt and Rothblum (2010), with the past replayed. A release multiplies the cells that it selects
// by one number, and no others; what everything adds up to is a running sum.
//
// Of all histograms P, as shares, it approaches the one that minimises
//
//	prior KL(P || uniform) + sum over releases of (prediction - answer)^2 / (2 variance).
//
// This is convex. Its dual has one number for each release, the logarithm of what its cells were
// multiplied by, and is solved one release after the other, again and again. With prior 0 each step
// is one of iterative proportional fitting, which makes the prediction equal to the answer; the
// prior keeps noise from being fitted.
type weights struct {
	domain *linear.Domain
	tuning tuning
	people float64 // how many there are
	// Cells are whole numbers, so that sums of them are exact in whatever order.
	cells       []int64
	total       int64
	past        []*release
	next        int        // which of the past is replayed next
	totals      []Released // answers about everything
	sums        *sums
	uncertainty uncertainty
	blocks      linear.Blocks // to be used again
	all         []int         // attributes
}

// release is something to be fitted.
type release struct {
	Released
	chosen selectedValues
	dual   float64 // the logarithm of what the cells with full weight were multiplied by
}

// tuning is what members of an ensemble differ in.
type tuning struct {
	prior     float64 // how many people's worth the uniform prior is
	tolerance float64 // how far predictions of the past may be off, in standard deviations
	sweeps    int     // how often the past is replayed at most
	work      int     // how many cells a Learn may touch, roughly
	seed      uint64  // of another prior than the uniform one; 0 is uniform
	rough     float64 // how far that is from uniform
	certain   bool    // has no doubts, which saves time
}

var defaultTuning = tuning{prior: 50, tolerance: 0.3, sweeps: 10, work: 20_000_000}

// NewWeights keeps one histogram. It begins with size people, alike in all cells; where the number
// is not known it is what answers about everything say, once there are some.
func NewWeights(d *linear.Domain, size float64) (Predictor, error) {
	return newWeights(d, size, defaultTuning)
}

func newWeights(d *linear.Domain, size float64, t tuning) (*weights, error) {
	if !(size > 0) || math.IsInf(size, 0) {
		return nil, fmt.Errorf("%w: the number of people must be above 0, not %v", errPredictor, size)
	}
	w := &weights{domain: d, tuning: t, people: size, cells: make([]int64, d.Cells())}
	for i := range d.Attributes() {
		w.all = append(w.all, i)
	}
	each := int64(totalMass / d.Cells())
	for i := range w.cells {
		w.cells[i] = each
		if t.seed != 0 {
			w.cells[i] = int64(float64(float64(each) * exp(float64(t.rough*pseudoNormal(t.seed, uint64(i))))))
		}
		w.total += w.cells[i]
	}
	w.settle()
	w.sums = newSums(d, w.cells)
	if !t.certain {
		w.uncertainty.learn(w)
	}
	return w, nil
}

// The cells together are about mass, which leaves room below for a cell with hardly anybody and
// above for steps.
const totalMass = 1 << 54

func (w *weights) settle() {
	if w.total > totalMass/16 && w.total < totalMass*8 {
		return
	}
	f := totalMass / float64(w.total)
	w.total = 0
	for i, c := range w.cells {
		w.cells[i] = scaleCell(c, f)
		w.total += w.cells[i]
	}
}

// scaleCell multiplies a cell, which never becomes empty: nothing could fill it again.
func scaleCell(c int64, f float64) int64 { return max(1, int64(float64(float64(c)*f))) }

// middleDeviations is how many standard deviations wide the middle two thirds or so of candidates
// are. Where this is alpha, a prediction is beyond a threshold at 0.6 alpha about once in six
// times, which is what a test and a plain answer cost against each other.
const middleDeviations = 1.8

// Predict implements [Predictor]. The spread is about how wide the middle two thirds of all
// histograms are that would fit as well; of queries that are no conjunctions it is 0.
func (w *weights) Predict(q *linear.Query) (value, spread float64) {
	if level, _ := q.Level(); level == 0 {
		return 0, 0
	}
	if q.Everything() {
		level, _ := q.Level()
		return float64(w.people * float64(level)), 0
	}
	level, _ := q.Level()
	sd := float64(w.uncertainty.deviation(q, w.tuning.prior) * math.Sqrt(w.uncertainty.correction()))
	return float64(w.people*w.sums.total(q)) / float64(w.total), float64(float64(middleDeviations*float64(level))*w.people) * sd
}

func (w *weights) Histogram() []float64 {
	out := make([]float64, len(w.cells))
	for i, c := range w.cells {
		out[i] = float64(w.people*float64(c)) / float64(w.total)
	}
	return out
}

func (w *weights) Learn(rs ...Released) {
	for _, r := range rs {
		if !(r.Scale >= 0) { // NaN as well
			r.Scale = 0
		}
		level, _ := r.Query.Level()
		switch {
		case level == 0: // nobody is selected, which was known
		case r.Query.Everything():
			w.totals = append(w.totals, r)
			w.count()
		default:
			w.observeSurprise(r)
			w.past = append(w.past, &release{Released: r})
		}
	}
	w.replay(len(rs))
	w.sums.forget()
	if !w.tuning.certain {
		w.uncertainty.learn(w)
	}
}

// observeSurprise compares an answer with its prediction.
func (w *weights) observeSurprise(r Released) {
	if w.tuning.certain {
		return
	}
	level, _ := r.Query.Level()
	unit := float64(w.people * float64(level))
	off := (float64(w.people*w.sums.total(r.Query))/float64(w.total) - float64(r.Answer)) / unit
	w.uncertainty.observe(off, r.Scale/unit, w.uncertainty.deviation(r.Query, w.tuning.prior))
}

// count takes the number of people from what was released about it.
func (w *weights) count() {
	var sum, all float64
	for _, r := range w.totals {
		level, _ := r.Query.Level()
		sd := max(r.Scale, 1e-3*float64(level)) / float64(level)
		precision := 1 / float64(sd*sd)
		sum += float64(precision * (float64(r.Answer) / float64(level)))
		all += precision
	}
	w.people = max(1, sum/all)
}

// replay fits the newest releases, and then all, in turn, until all fit or it takes too long; then
// the next replay goes on from there.
func (w *weights) replay(newest int) {
	n := len(w.past)
	if n == 0 {
		return
	}
	work := w.tuning.work
	for _, r := range w.past[max(0, n-newest):] {
		w.fit(r, &work)
	}
	fitting := 0
	for steps := 0; steps < n*w.tuning.sweeps && fitting < n && work > 0; steps++ {
		w.next = (w.next + 1) % n
		if w.fit(w.past[w.next], &work) {
			fitting++
		} else {
			fitting = 1
		}
	}
}

// fit makes the step of one release, and reports whether it was small enough to be left out.
func (w *weights) fit(r *release, work *int) bool {
	if !r.Query.Blocks(w.all, &w.blocks) {
		return w.fitWeights(r, work)
	}
	level, _ := r.Query.Level()
	touches := w.blocks.Len()
	*work -= touches
	selected := w.blocks.Sum(w.cells)
	unit := float64(w.people * float64(level))
	share := float64(selected) / float64(w.total)
	answer := min(max(float64(r.Answer)/unit, 0), 1)
	noise := max(r.Scale, 1e-9*unit) / unit
	soft := float64(float64(w.tuning.prior*noise) * noise)
	off := share - answer + float64(r.dual*soft)
	if math.Abs(off) <= float64(w.tuning.tolerance*noise) {
		return true
	}
	*work -= 2 * touches
	step := solve(share, answer, r.dual, soft)
	r.dual += step
	w.total += w.multiply(exp(step)) - selected
	w.settle()
	return false
}

// multiply multiplies the cells of the blocks and returns their sum.
func (w *weights) multiply(f float64) int64 {
	b := &w.blocks
	var sum int64
	for _, o := range b.Offsets {
		block := w.cells[o : o+b.Size]
		if len(b.Cells) > 0 {
			for _, i := range b.Cells {
				c := scaleCell(block[i], f)
				block[i] = c
				sum += c
			}
			continue
		}
		for _, r := range b.Runs {
			run := block[r[0]:r[1]]
			for i, c := range run {
				c = scaleCell(c, f)
				run[i] = c
				sum += c
			}
		}
	}
	return sum
}

// fitWeights is fit for queries that are no conjunctions.
func (w *weights) fitWeights(r *release, work *int) bool {
	steps := r.Query.Steps()
	if level, flat := r.Query.Level(); flat {
		steps = level
	}
	// How much has about which weight, which is enough to find the step.
	var bins [weightBins + 1]int64
	var mean float64
	var before int64
	r.Query.Runs(func(from, to int, weight int64) {
		var n int64
		for _, c := range w.cells[from:to] {
			n += c
		}
		before += n
		*work -= to - from
		bins[(weight*weightBins+steps/2)/steps] += n
		mean += float64(float64(weight)*float64(n)) / float64(w.total)
	})
	mean /= float64(steps)
	unit := float64(w.people * float64(steps))
	answer := min(max(float64(r.Answer)/unit, 0), 1)
	noise := max(r.Scale, 1e-9*unit) / unit
	soft := float64(float64(w.tuning.prior*noise) * noise)
	off := mean - answer + float64(r.dual*soft)
	if math.Abs(off) <= float64(w.tuning.tolerance*noise) {
		return true
	}
	bins[0] += w.total - before
	step := solveBins(&bins, mean, answer, r.dual, soft)
	r.dual += step
	var now, last int64
	f := 1.0
	r.Query.Runs(func(from, to int, weight int64) {
		if weight != last {
			f, last = exp(float64(step*float64(weight))/float64(steps)), weight
		}
		for i, c := range w.cells[from:to] {
			c = scaleCell(c, f)
			w.cells[from+i] = c
			now += c
		}
		*work -= 2 * (to - from)
	})
	w.total += now - before
	w.settle()
	return false
}

// maxStep bounds a step, so that no sum overflows before it is settled, and grades is into how many
// parts weights are put to find it.
const (
	maxStep    = 2.5
	weightBins = 32
)

// solve finds the step s with share e^s / (1 - share + share e^s) = answer - (dual + s) soft. The
// left is the share after the step.
func solve(share, answer, dual, soft float64) float64 {
	return findRoot(func(s float64) (off, slope float64) {
		e := float64(share * exp(s))
		p := e / (1 - share + e)
		return p - answer + float64((dual+s)*soft), float64(p*(1-p)) + soft
	})
}

// solveBins is solve for weights of several grades, of which only about the grade is known. So what
// it finds for the mean is moved by as much as the mean now is off.
func solveBins(bins *[weightBins + 1]int64, mean, answer, dual, soft float64) float64 {
	means := func(s float64) (first, second float64) {
		var all float64
		for i, n := range bins {
			if n == 0 {
				continue
			}
			x := float64(i) / weightBins
			e := float64(float64(n) * exp(float64(s*x)))
			all += e
			first += float64(x * e)
			second += float64(float64(x*x) * e)
		}
		return first / all, second / all
	}
	about, _ := means(0)
	return findRoot(func(s float64) (off, slope float64) {
		first, second := means(s)
		return first + (mean - about) - answer + float64((dual+s)*soft), max(second-float64(first*first), 0) + soft
	})
}

// findRoot finds where a rising function crosses 0, by Newton's steps where they stay inside of
// what is known and by halving where not.
func findRoot(f func(s float64) (off, slope float64)) float64 {
	low, high := -maxStep, maxStep
	s := 0.0
	for range 40 {
		off, slope := f(s)
		if off > 0 {
			high = s
		} else {
			low = s
		}
		next := s - off/slope
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		if math.Abs(next-s) < 1e-9 {
			return next
		}
		s = next
	}
	return s
}

// exp is the exponential function on a range that steps stay in, the same on every machine: only
// sums, products and powers of 2, each rounded by itself.
func exp(x float64) float64 {
	x = min(max(x, -700), 700)
	// x = k ln 2 + r. The high part of ln 2 has few digits, so that k times it is exact.
	const high, low = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := float64(x-float64(k*high)) - float64(k*low)
	// Taylor, at most 0.35 from 0, by Horner.
	sum := 1.0
	for i := 16; i > 0; i-- {
		sum = 1 + float64(float64(r*sum)/float64(i))
	}
	return math.Ldexp(sum, int(k))
}
