package learn

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
)

// Evaluation is a private estimate of how well a model predicts the rows that it was trained on.
// New rows are predicted a little worse, the more so the less noise there is.
type Evaluation struct {
	// Wrong and Right are noisy: how many rows the model gets wrong and right, or for numbers how
	// much of their square is missed and met, in steps of which each row has Steps.
	Wrong int64 `json:"wrong"`
	Right int64 `json:"right"`
	Steps int64 `json:"steps"`
	// Error is the share of rows that the model gets wrong, or for numbers the root of the mean
	// square of the residual, in the target's own units; with a probability of 95 % it is from Low
	// to High.
	Error float64 `json:"error"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// evaluated calibrates the estimate. Each row has some steps, and each of its steps is wrong or
// right, so a row moves the two numbers by its steps together: m rows by l1 = m Steps, and 2 m
// Steps where other rows take their place. In l2 that is m Steps at most, and where others take
// their place the root of 2 times as much, because what leaves and what comes are at an angle of 90
// degrees at most.
func (p *Plan) evaluated() error {
	most, _ := p.mistakes()
	var err error
	if p.Spec.Budget.currency() == concentrated {
		square := new(big.Int).Mul(big.NewInt(int64(p.Group.MaxRows)), big.NewInt(most))
		square.Mul(square, square)
		if p.Group.Neighbours == dp.Substitute {
			square.Lsh(square, 1)
		}
		p.evaluation, err = mech.NewGaussian(dp.NewL2Squared(square), p.Spec.Evaluate)
	} else {
		p.evaluation, err = mech.NewLaplace(dp.NewL1(big.NewInt(p.differing()*most)), p.Spec.Evaluate)
	}
	if err != nil {
		return fmt.Errorf("%w: the estimate of the accuracy: %w", ErrSpec, err)
	}
	return nil
}

// evaluate counts what the model gets wrong and right, and releases both with noise.
func (p *Plan) evaluate(t *collected, m *Model, r *mech.Releaser) *Evaluation {
	most, count := p.mistakes()
	w := weights(m.Weights, m.Step)
	var wrong, right int64
	each(t.rows, nil, func(x []float32, target float64) {
		n := count(w, x, target)
		wrong, right = wrong+n, right+most-n
	})
	noisy := r.Release(mech.Exactly(wrong, right), p.evaluation)
	e := &Evaluation{Wrong: noisy[0], Right: noisy[1], Steps: most}
	const beta = 0.05
	total, err := mech.HalfWidthOfSum(beta/2, mech.Term{Mechanism: p.evaluation, Count: 2, Weight: 1})
	if err != nil {
		total = math.MaxInt64
	}
	share, half := mech.RatioInterval(
		mech.Noisy{Value: e.Wrong, HalfWidth: p.evaluation.HalfWidth(beta / 2)},
		mech.Noisy{Value: saturated(e.Wrong, e.Right), HalfWidth: total}, 0, 1)
	e.Error, e.Low, e.High = share, math.Max(0, share-half), math.Min(1, share+half)
	if p.Encoding.classes() == 0 {
		unit := p.Encoding.Target.half() * p.Encoding.Target.unit()
		for _, x := range []*float64{&e.Error, &e.Low, &e.High} {
			*x = 2 * math.Sqrt(*x) * unit
		}
	}
	return e
}

// saturated is a + b, or the nearest number that fits.
func saturated(a, b int64) int64 {
	switch s := a + b; {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	default:
		return s
	}
}
