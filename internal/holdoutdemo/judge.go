package holdoutdemo

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/holdout"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/session"
)

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
		Key: key, Training: training, Holdout: func(context.Context) (mech.Exact, error) { return mech.Exactly(sum), nil },
	})
	if err != nil {
		return 0, err
	}
	f, _ := a.Score.Float64()
	return f, nil
}
