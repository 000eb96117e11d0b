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
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
)

// errPredictor is returned when there is no such predictor.
var errPredictor = errors.New("not a predictor")

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

// maxCandidates is how many databases halving can keep.
const maxCandidates = 1 << 20

// halving is the median mechanism of Roth and Roughgarden (2010), word for word: all databases of a
// number of people that agree with what was released are candidates, and the median of what they
// answer is the prediction.
//
// # Theorem
//
// Let r = alpha/2 times size, in people, and let the true database have exactly size people: that
// is known under substitution, and only about known where neighbours are add-remove. If an answer
// is only learned where the truth was more than 2 r from the prediction, and is at most r from the
// truth, then it removes at least half of the candidates, and never the true database. So no more
// than log2 of the number of candidates are ever paid for.
//
// Proof. Learn removes the candidates whose own answer is more than r from the released one. The
// truth is not among them. Let the truth be above the prediction m, a median; below it is the same.
// Then the released answer is above m + 2r - r, so every candidate that answers m or less is more
// than r away and is removed; and by the definition of a median that is half of them. In the end
// the true database is left, so the number was halved at most log2 times.
//
// What a session has to see to: it pays only beyond alpha times size, by a test that is not noisier
// than the room it has below the error that it promises; and its answers have noise that is beyond
// half of alpha times size only with the failure probability. An answer that comes from elsewhere,
// with more noise, removes what is more than noiseBound standard deviations away. Where there are
// more or fewer people than size the true database is no candidate and nothing counts alarms;
// predictions are tested all the same, and privacy does not rest on any of this. Where noise goes
// beyond its bound all the same, so that nothing would be left, the nearest candidates are kept.
type halving struct {
	domain *linear.Domain
	size   int64
	radius float64 // r, in people
	// A candidate is the counts of its cells, or, where there are fewer people than cells, the
	// cells of its people.
	counts     bool
	width      int
	candidates []uint32 // those that are left, width numbers each

	key     string // of the query that answers are for
	answers []int64
	sorted  []int64
}

// noiseBound is how many standard deviations from an answer halving believes the truth to be, where
// that is more than the theorem's bound.
const noiseBound = 8

// NewHalving keeps all databases of size people over a tiny domain as candidates; more than
// maxCandidates are refused with their number. An answer that is more than alpha*size from the
// median candidate, and at most half of that from the truth, removes at least half of them.
func NewHalving(d *linear.Domain, size int64, alpha float64) (Predictor, error) {
	if size < 1 || size > math.MaxUint32 || !(alpha > 0 && alpha <= 1) {
		return nil, fmt.Errorf("%w: halving needs 1 to 2^32 people and an alpha between 0 and 1, not %d and %v", errPredictor, size, alpha)
	}
	n, err := initialCandidates(d, size)
	if err != nil {
		return nil, err
	}
	h := &halving{domain: d, size: size, radius: float64(alpha*float64(size)) / 2}
	if h.counts = size >= int64(d.Cells()); h.counts {
		h.width = d.Cells()
	} else {
		h.width = int(size)
	}
	h.candidates = make([]uint32, 0, n*h.width)
	h.enumerate(make([]uint32, h.width), 0, uint32(size), 0)
	return h, nil
}

// FitsHalving reports why halving cannot keep all databases of size people, or nil. It makes none
// of them.
func FitsHalving(d *linear.Domain, size int64) error {
	_, err := initialCandidates(d, size)
	return err
}

// initialCandidates is how many candidates there are to begin with.
func initialCandidates(d *linear.Domain, size int64) (int, error) {
	n, text := candidates(d, size)
	if n == nil || n.Cmp(big.NewInt(maxCandidates)) > 0 {
		return 0, fmt.Errorf("%w: there are %s databases of %d people in %d cells, and halving can keep %d; choose another predictor",
			errPredictor, text, size, d.Cells(), maxCandidates)
	}
	return int(n.Int64()), nil
}

// candidates is the number of databases of size people over a domain, and how it reads. Where it is
// beyond all use it is not computed.
func candidates(d *linear.Domain, size int64) (*big.Int, string) {
	n, k := size+int64(d.Cells())-1, min(size, int64(d.Cells())-1)
	if k <= 64 {
		b := new(big.Int).Binomial(n, k)
		return b, b.String()
	}
	log := func(x int64) float64 { l, _ := math.Lgamma(float64(x) + 1); return l }
	return nil, fmt.Sprintf("about 10^%.0f", (log(n)-log(k)-log(n-k))/math.Ln10)
}

// enumerate writes all candidates that begin with the numbers before at. What is left are people to
// be put into cells, and from is the lowest cell of the next person.
func (h *halving) enumerate(c []uint32, at int, left, from uint32) {
	if !h.counts {
		if at == len(c) {
			h.candidates = append(h.candidates, c...)
			return
		}
		for cell := from; cell < uint32(h.domain.Cells()); cell++ {
			c[at] = cell
			h.enumerate(c, at+1, left, cell)
		}
		return
	}
	if at == len(c)-1 {
		c[at] = left
		h.candidates = append(h.candidates, c...)
		return
	}
	for n := uint32(0); n <= left; n++ {
		c[at] = n
		h.enumerate(c, at+1, left-n, from)
	}
}

// ask computes what every candidate answers.
func (h *halving) ask(q *linear.Query) {
	if h.answers != nil && h.key == q.Key() {
		return
	}
	weights := make([]int64, h.domain.Cells())
	q.Runs(func(from, to int, weight int64) {
		for i := from; i < to; i++ {
			weights[i] = weight
		}
	})
	h.key, h.answers = q.Key(), h.answers[:0]
	for i := 0; i < len(h.candidates); i += h.width {
		var sum int64
		for k, c := range h.candidates[i : i+h.width] {
			if h.counts {
				sum += weights[k] * int64(c)
			} else {
				sum += weights[c]
			}
		}
		h.answers = append(h.answers, sum)
	}
	h.sorted = append(h.sorted[:0], h.answers...)
	slices.Sort(h.sorted)
}

// Predict implements [Predictor]. The prediction is a median candidate's answer, and the spread how
// far the middle half of them is apart.
func (h *halving) Predict(q *linear.Query) (value, spread float64) {
	h.ask(q)
	n := len(h.sorted)
	return float64(h.sorted[(n-1)/2]), float64(h.sorted[n-1-n/4] - h.sorted[n/4])
}

func (h *halving) Learn(rs ...Released) {
	for _, r := range rs {
		h.learn(r)
	}
}

func (h *halving) learn(r Released) {
	h.ask(r.Query)
	radius := float64(h.radius * float64(r.Query.Steps()))
	if r.Scale > radius/4 {
		radius = max(radius, float64(noiseBound*r.Scale))
	}
	nearest := math.Inf(1)
	for _, a := range h.answers {
		nearest = min(nearest, math.Abs(float64(a)-float64(r.Answer)))
	}
	radius = max(radius, nearest)
	kept := h.candidates[:0]
	for i, a := range h.answers {
		if math.Abs(float64(a)-float64(r.Answer)) <= radius {
			kept = append(kept, h.candidates[i*h.width:(i+1)*h.width]...)
		}
	}
	h.candidates, h.answers = kept, nil
}

// Histogram implements [Predictor]: the mean of the candidates.
func (h *halving) Histogram() []float64 {
	sums := make([]float64, h.domain.Cells())
	for i, c := range h.candidates {
		if h.counts {
			sums[i%h.width] += float64(c)
		} else {
			sums[c]++
		}
	}
	for i := range sums {
		sums[i] /= float64(len(h.candidates) / h.width)
	}
	return sums
}
