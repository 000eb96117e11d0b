package holdout

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/mech"
)

// Config declares a holdout. All of it is public.
type Config struct {
	// Size is n, the public number of people (or rows) that scores are means over.
	Size int64
	// Steps is the weight of a score of 1: values are whole numbers from 0 to Steps. 1 where every
	// person is right or wrong.
	Steps int64
	// Threshold is T, and Noise is s, both in units of a score.
	Threshold, Noise *big.Rat
	// Answers is B: how many answers come from the holdout.
	Answers int
	// Currency is Pure or Concentrated: which claim of a charge its account counts. The noise is
	// the same.
	Currency mech.Budget
}

const (
	// MostAnswers is the largest number of answers from one holdout.
	MostAnswers = 1 << 30
	// largestSum bounds the sum of values, so that it and its noise are far from the ends of an
	// int64.
	largestSum = 1 << 60
)

// check refuses what is no holdout.
func (c Config) check() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrConfig, fmt.Sprintf(format, args...))
	}
	one := big.NewRat(1, 1)
	switch {
	case c.Size < 1:
		return refuse("its size is %d; say how many people scores are means over", c.Size)
	case c.Steps < 1:
		return refuse("it has %d steps; write 1 where every person is right or wrong", c.Steps)
	case c.Size > largestSum/c.Steps:
		return refuse("size times steps is above 2^60; take fewer steps")
	case c.Threshold == nil || c.Threshold.Sign() < 0 || c.Threshold.Cmp(one) > 0:
		return refuse("the threshold must be from 0 to 1, such as 0.04")
	case c.Noise == nil || c.Noise.Sign() <= 0 || c.Noise.Cmp(one) > 0:
		return refuse("the noise must be above 0 and at most 1, such as 0.01")
	case c.Answers < 1 || c.Answers > MostAnswers:
		return refuse("it has %d answers; write a number from 1 to 2^30", c.Answers)
	case c.Currency != mech.Pure && c.Currency != mech.Concentrated:
		return fmt.Errorf("%w: %w", ErrConfig, mech.ErrBudget)
	}
	return nil
}

// whole is the sum of values where every person has a score of 1.
func (c Config) whole() *big.Int { return new(big.Int).Mul(big.NewInt(c.Size), big.NewInt(c.Steps)) }

// onLattice is the step nearest to a score, of two the higher. The score is from 0 to 1, so it
// fits.
func (c Config) onLattice(score *big.Rat) int64 {
	x := new(big.Rat).Mul(score, new(big.Rat).SetInt(c.whole()))
	x.Add(x, big.NewRat(1, 2))
	return new(big.Int).Quo(x.Num(), x.Denom()).Int64()
}

// score is the score of a sum, clamped to 0 and 1.
func (c Config) score(sum int64) *big.Rat {
	whole := c.whole()
	return new(big.Rat).SetFrac(big.NewInt(min(max(sum, 0), whole.Int64())), whole)
}
