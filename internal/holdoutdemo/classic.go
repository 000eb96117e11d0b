package holdoutdemo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/dp"
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

// MaxSize is the largest number of people, and of attributes: columns of so many take seconds in all
// and not days.
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
		return refuse("the bias is from 0 to sqrt n standard deviations of a mean")
	case len(c.Selected) == 0 || !slices.IsSorted(c.Selected) || c.Selected[0] < 1 || c.Selected[len(c.Selected)-1] > c.Attributes:
		return refuse("select from 1 to %d attributes, in rising numbers", c.Attributes)
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

// summarise averages over repetitions.
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
