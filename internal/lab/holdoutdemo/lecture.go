package holdoutdemo

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// Lecture is the small experiment. Size standard normal numbers are dealt into subsets of ln n, the
// subsets into groups, and of each group the subset with the largest mean is kept. The final mean
// is that of all numbers in kept subsets, and the truth is 0. Chosen by their exact means the kept
// ones are the lucky ones; chosen by report noisy max they are not.
//
// Numbers are cut off at 3 standard deviations, so that one of them moves the sum of its subset by
// 6 at most; that is what the noise is made for. A number is in one group, so all choices together
// cost what one costs.
//
// Epsilon is the largest for which the theorem of [holdout.Generalisation] speaks about the
// tolerance t, sqrt(t^2 - ln 2/(2n)), with t a share of the range of 6. The theorem is about means
// over all n; the final mean is over the n/Group that were kept, and it is shown and not proven
// that it is honest.
type Lecture struct {
	Size, Group, Repetitions int
	// Tolerance is t, in standard deviations: from 0 to 6.
	Tolerance float64
	Seed      uint64
}

// NewLecture is the experiment as it is shown.
func NewLecture() Lecture {
	return Lecture{Size: 1000, Group: 10, Repetitions: 1000, Tolerance: 0.5, Seed: 1}
}

// Lesson is what came out: the final means of all repetitions, in standard deviations.
type Lesson struct {
	Subset, Subsets int // numbers in a subset, and subsets
	Epsilon         dp.Amount
	Exact, Private  []float64
}

func (l Lecture) check() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrDemo, fmt.Sprintf(format, args...))
	}
	switch {
	case l.Size < 20 || l.Size > 10*MaxSize:
		return refuse("take from 20 to %d numbers, not %d", 10*MaxSize, l.Size)
	case l.Repetitions < 1 || l.Repetitions > MaxSize:
		return refuse("repeat from 1 to %d times, not %d", MaxSize, l.Repetitions)
	case l.Group < 2 || l.Group > l.subsets():
		return refuse("take from 2 to %d subsets in a group, not %d", l.subsets(), l.Group)
	}
	return nil
}

// subset is ln n, to the nearest.
func (l Lecture) subset() int { return int(math.Round(math.Log(float64(l.Size)))) }

func (l Lecture) subsets() int { return l.Size / l.subset() }

func (l Lecture) epsilon() (dp.Amount, error) {
	t := l.Tolerance * latticeUnit / (2 * latticeBound)
	square := t*t - math.Ln2/(2*float64(l.Size))
	e, err := dp.FloorFloat(math.Sqrt(math.Max(0, square)))
	if err != nil || e == 0 || !(l.Tolerance <= 2*latticeBound/latticeUnit) {
		least := math.Sqrt(math.Ln2/(2*float64(l.Size))) * 2 * latticeBound / latticeUnit
		return 0, fmt.Errorf("%w: with %d numbers the theorem covers tolerances above %.3g and up to %d; take one of these", ErrDemo,
			l.Size, least, 2*latticeBound/latticeUnit)
	}
	return e, nil
}

// Run runs the experiment. It calls progress, where that is not nil, after every repetition.
func (l Lecture) Run(ctx context.Context, progress func(done, of int)) (*Lesson, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	epsilon, err := l.epsilon()
	if err != nil {
		return nil, err
	}
	selector, err := mech.NewNoisyMax(mech.LaplaceNoise, mech.Scoring{Sensitivity: 2 * latticeBound}, epsilon)
	if err != nil {
		return nil, err
	}
	out := &Lesson{Subset: l.subset(), Subsets: l.subsets(), Epsilon: epsilon}
	values, buffer := lectureLevels(), make([]byte, 2*l.subset()*l.subsets())
	for r := range l.Repetitions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		// The numbers are independent and alike, so dealing them in order is dealing them at
		// random.
		detrand.NewStream(fmt.Sprintf("lecture %d, ", l.Seed), uint64(r)).Read(buffer)
		sums := make([]int64, l.subsets())
		for i := range sums {
			for j := range l.subset() {
				sums[i] += int64(values[binary.LittleEndian.Uint16(buffer[2*(i*l.subset()+j):])%lectureLevelCount])
			}
		}
		releaser := mech.NewReleaser(detrand.Noise(fmt.Sprintf("lecture %d, noise, ", l.Seed), uint64(r)))
		exact, private, kept := int64(0), int64(0), 0
		for from := 0; from+l.Group <= len(sums); from += l.Group {
			group := sums[from : from+l.Group]
			best := 0
			for i, s := range group {
				if s > group[best] {
					best = i
				}
			}
			noisy, err := releaser.Select(mech.Seal(group...), selector)
			if err != nil {
				return nil, err
			}
			exact, private, kept = exact+group[best], private+group[noisy], kept+1
		}
		whole := float64(kept * l.subset() * latticeUnit)
		out.Exact, out.Private = append(out.Exact, float64(exact)/whole), append(out.Private, float64(private)/whole)
		if progress != nil {
			progress(r+1, l.Repetitions)
		}
	}
	return out, nil
}

// A number that is normal is drawn on a lattice: unit steps are one standard deviation, and nothing
// is farther out than bound. So sums are exact, and a mean of numbers has a known sensitivity.
const (
	latticeUnit  = 1000
	latticeBound = 3 * latticeUnit
)

// normalLevels returns so many values of equal probability, an even number: the middle of each
// share of the normal distribution, stretched to variance 1, and moved. The signs are balanced, so
// the mean is exactly what it is moved by, where nothing is cut off.
func normalLevels(n int, shift int) []int32 {
	upper, square := make([]float64, n/2), 0.0
	for i := range upper {
		upper[i] = numeric.Quantile((float64(i) + 0.5) / float64(n))
		square += upper[i] * upper[i] / float64(n/2)
	}
	out := make([]int32, 0, n)
	for _, q := range upper {
		v := int(math.Round(q / math.Sqrt(square) * latticeUnit))
		out = append(out, int32(min(v+shift, latticeBound)), int32(max(shift-v, -latticeBound)))
	}
	return out
}

// attributeLevels are 256 levels around 0, for attributes: a byte makes one.
var attributeLevels = sync.OnceValue(func() []int32 { return normalLevels(256, 0) })

// lectureLevels are more levels, for the few numbers of the lecture: twelve bits make one.
var lectureLevels = sync.OnceValue(func() []int32 { return normalLevels(lectureLevelCount, 0) })

const lectureLevelCount = 1 << 12

// Figure is a mean over the repetitions, with the standard deviation of one.
type Figure struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"sd"`
}

// FigureOf is the mean of some numbers, and their standard deviation.
func FigureOf(all []float64) Figure {
	sum, square := 0.0, 0.0
	for _, x := range all {
		sum += x
	}
	mean := sum / float64(len(all))
	for _, x := range all {
		square += (x - mean) * (x - mean)
	}
	return Figure{mean, math.Sqrt(square / math.Max(1, float64(len(all)-1)))}
}
