// Package holdoutdemo has two experiments that show what reusing a holdout does, and what package
// holdout and noise do about it. All data is made up, from internal/detrand, and the same seed
// gives the same numbers.
//
// [Classic] is the experiment of Dwork, Feldman, Hardt, Pitassi, Reingold, Roth 2015 (Science): an
// analyst who selects, of many attributes, those that seem to go with a label, and asks a holdout
// before every step. [Lecture] is a small one: the largest of some means is kept, again and again.
package holdoutdemo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/holdout"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
)

// ErrDemo is returned for an experiment that cannot be run.
var ErrDemo = errors.New("not an experiment")

// Classic is the experiment. Training, holdout and fresh data have Size people each, with normal
// attributes and a label.
type Classic struct {
	Size, Attributes, Repetitions int
	// Selected are the numbers of attributes of which classifiers are built, rising.
	Selected []int
	// Biased is how many attributes go with the label: their correlation with it is Bias standard
	// deviations of a mean, Bias/sqrt n.
	Biased int
	Bias   float64
	// Threshold and Noise are those of Thresholdout.
	Threshold, Noise *big.Rat
	Seed             uint64
}

// NewClassic is the experiment of the paper, without a signal or with one: 20 attributes at 6/sqrt
// n.
func NewClassic(signal bool) Classic {
	c := Classic{
		Size: 10000, Attributes: 10000, Repetitions: 12, Threshold: big.NewRat(4, 100), Noise: big.NewRat(1, 100),
		Selected: Grid(500), Bias: 6, Seed: 1,
	}
	if signal {
		c.Biased = 20
	}
	return c
}

// Grid returns numbers of attributes up to the most, as far apart as the paper has them.
func Grid(most int) (out []int) {
	for _, share := range []float64{0.02, 0.04, 0.06, 0.09, 0.14, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1} {
		k := int(math.Round(share * float64(most)))
		if k >= 1 && (len(out) == 0 || k > out[len(out)-1]) {
			out = append(out, k)
		}
	}
	return out
}

// MaxSize is the largest number of people, and of attributes: columns of so many take seconds in
// all and not days.
const MaxSize = 100000

func (c Classic) check() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrDemo, fmt.Sprintf(format, args...))
	}
	switch {
	case c.Size < 100 || c.Size > MaxSize:
		return refuse("take from 100 to %d people, not %d", MaxSize, c.Size)
	case c.Attributes < 20 || c.Attributes > MaxSize:
		return refuse("take from 20 to %d attributes, not %d", MaxSize, c.Attributes)
	case c.Repetitions < 1 || c.Repetitions > 1000:
		return refuse("repeat from 1 to 1000 times, not %d", c.Repetitions)
	case c.Biased < 0 || c.Biased > c.Attributes:
		return refuse("%d of %d attributes cannot go with the label", c.Biased, c.Attributes)
	case !(c.Bias >= 0 && c.Bias <= math.Sqrt(float64(c.Size))):
		return refuse("the bias must be from 0 to sqrt n standard deviations of a mean")
	case len(c.Selected) == 0 || !slices.IsSorted(c.Selected) || c.Selected[0] < 1 || c.Selected[len(c.Selected)-1] > c.Attributes:
		return refuse("select from 1 to %d attributes, in increasing numbers", c.Attributes)
	}
	return nil
}

// Line is what a classifier of so many attributes does.
type Line struct {
	Selected int    `json:"selected"`
	Training Figure `json:"training"`
	Reported Figure `json:"reported"` // by the holdout
	Fresh    Figure `json:"fresh"`
	Found    Figure `json:"found"` // attributes of it that go with the label
}

// Result has the lines of both kinds of holdout.
type Result struct {
	Plain, Threshold []Line
	// Rounds is how many rounds of Thresholdout were paid for in a repetition, and Cost what the
	// most expensive repetition cost.
	Rounds Figure
	Cost   dp.Cost
}

// Run runs the experiment on all cores. It calls progress, where that is not nil, with how many of
// all columns were looked at, one call at a time.
func (c Classic) Run(ctx context.Context, progress func(done, of int)) (*Result, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	looks := c.Repetitions * (2*c.Attributes + 6*min(c.Attributes, startFactor*c.Selected[len(c.Selected)-1]))
	var mu sync.Mutex
	done := 0
	looked := func() {
		mu.Lock()
		defer mu.Unlock()
		if done++; progress != nil && done%100 == 0 {
			progress(done, looks)
		}
	}
	repetitions := make([]repetition, c.Repetitions)
	errs := make([]error, c.Repetitions)
	var wg sync.WaitGroup
	turn := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range repetitions {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			repetitions[i], errs[i] = c.runOnce(ctx, i, looked)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, errs[slices.IndexFunc(errs, func(e error) bool { return e != nil })]
	}
	return c.summarise(repetitions), nil
}

// repetition is what one repetition gave: for the plain holdout, and for Thresholdout.
type repetition struct {
	trials [2][]trial
	rounds int
	cost   dp.Cost
}

func (c Classic) runOnce(ctx context.Context, number int, looked func()) (repetition, error) {
	shift := int(math.Round(c.Bias * latticeUnit / math.Sqrt(float64(c.Size))))
	w := world{seed: c.Seed, repetition: number, size: c.Size, biased: c.Biased, levels: attributeLevels(), moved: normalLevels(256, shift)}
	var sums [2][]int64
	buffer := make([]byte, c.Size)
	for j := range c.Attributes {
		if err := ctx.Err(); err != nil {
			return repetition{}, err
		}
		for i, of := range []sampleName{trainingSample, holdoutSample} {
			sums[i] = append(sums[i], w.columnSum(of, j, buffer))
			looked()
		}
	}
	threshold, err := newThresholdJudge(ctx, c, number)
	if err != nil {
		return repetition{}, err
	}
	var out repetition
	for i, by := range []judge{plainJudge{}, threshold} {
		chosen, err := w.choose(ctx, sums, by)
		if err != nil {
			return repetition{}, err
		}
		if out.trials[i], err = w.classify(ctx, chosen, c.Selected, by, looked); err != nil {
			return repetition{}, err
		}
	}
	out.cost = threshold.host.Spent()
	out.rounds = int(out.cost.Epsilon / threshold.session.Tariff().Round.Epsilon)
	return out, nil
}

func (c Classic) summarise(all []repetition) *Result {
	over := func(of func(repetition) float64) Figure {
		values := make([]float64, len(all))
		for i, r := range all {
			values[i] = of(r)
		}
		return FigureOf(values)
	}
	out := &Result{Rounds: over(func(r repetition) float64 { return float64(r.rounds) })}
	for _, r := range all {
		if r.cost.Epsilon > out.Cost.Epsilon {
			out.Cost = r.cost
		}
	}
	for kind, lines := range []*[]Line{&out.Plain, &out.Threshold} {
		for g, k := range c.Selected {
			at := func(of func(trial) float64) Figure {
				return over(func(r repetition) float64 { return of(r.trials[kind][g]) })
			}
			*lines = append(*lines, Line{
				Selected: k,
				Training: at(func(t trial) float64 { return t.training }),
				Reported: at(func(t trial) float64 { return t.reported }),
				Fresh:    at(func(t trial) float64 { return t.fresh }),
				Found:    at(func(t trial) float64 { return float64(t.found) }),
			})
		}
	}
	return out
}

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

// fillColumn fills out with attribute j of all people, each times the label, 1 or -1, of that
// person. An attribute without a bias is symmetric and independent of the label, so times the label
// it has the same law; and nothing that anybody computes here depends on an attribute but through
// that product. So no labels need be drawn.
func (w world) fillColumn(of sampleName, j int, out []byte) []int32 {
	// Reading does not fail.
	detrand.NewStream(fmt.Sprintf("holdout demo %d, %d, %s, ", w.seed, w.repetition, of), uint64(j)).Read(out)
	if j < w.biased {
		return w.moved
	}
	return w.levels
}

// columnSum is the sum of a column: n times the correlation of the attribute with the label, in
// units.
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

// scoreWeight is the weight of a score of 1: from -bound to bound.
const scoreWeight = 2 * latticeBound

// judge answers what a score is on the holdout, given its sum there and its value in training.
// Scores are from 0 to 1.
type judge interface {
	score(ctx context.Context, key string, sum, whole int64, training *big.Rat) (float64, error)
}

// plainJudge is a holdout that says what it is asked.
type plainJudge struct{}

func (plainJudge) score(_ context.Context, _ string, sum, whole int64, _ *big.Rat) (float64, error) {
	return float64(sum) / float64(whole), nil
}

// thresholdJudge is a session of package holdout, as anybody would open it.
type thresholdJudge struct {
	session *holdout.Session
	host    *session.Memory
}

func newThresholdJudge(ctx context.Context, c Classic, repetition int) (*thresholdJudge, error) {
	config := holdout.Config{
		Size: int64(c.Size), Steps: scoreWeight, Threshold: c.Threshold, Noise: c.Noise,
		// Enough for every question, so that the experiment is about noise and not about refusals.
		Answers: c.Attributes + len(c.Selected) + 1, Currency: mech.Pure,
	}
	j := &thresholdJudge{host: session.NewMemory(account.PureFilter(dp.Unbounded - 1))}
	noise := detrand.Noise(fmt.Sprintf("holdout demo %d, noise, ", c.Seed), uint64(repetition))
	var err error
	j.session, err = holdout.Open(ctx, config, mech.NewReleaser(noise), j.host)
	return j, err
}

func (j *thresholdJudge) score(ctx context.Context, key string, sum, _ int64, training *big.Rat) (float64, error) {
	a, err := j.session.Ask(ctx, holdout.Question{
		Key: key, Training: training, Holdout: func(context.Context) (mech.Exact, error) { return mech.Seal(sum), nil },
	})
	if err != nil {
		return 0, err
	}
	f, _ := a.Score.Float64()
	return f, nil
}
