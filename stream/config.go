package stream

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/stream/linear"
	"github.com/discreet-dp/discreet/mech"
)

// ErrConfig is returned when a stream is declared that does not exist.
var ErrConfig = errors.New("not a stream")

// Config declares a stream. All of it is public.
type Config struct {
	Domain *linear.Domain
	// Size is the public number of people that Alpha is a share of, exact under substitution and
	// nominal under add-remove.
	Size       int64
	Neighbours dp.Neighbours
	// Alpha is how far answers may be off, as a share of Size, and Beta the probability that any of
	// them is further off.
	Alpha, Beta float64
	// Queries is for how many different questions Beta holds.
	Queries int
	// Steps is the weight that counts as one person; 1 for predicates.
	Steps int64
	// Pure or Concentrated.
	Currency mech.Budget
	// Budget is the most that the stream may cost, in epsilon or rho.
	Budget dp.Amount
	// Predictor is Auto, Halving, Ensemble, Weights or None, which is the exact-match cache.
	Predictor Kind
}

// Kind names a predictor.
type Kind string

const (
	Auto     Kind = ""
	Halving  Kind = "halving"
	Ensemble Kind = "ensemble"
	Weights  Kind = "weights"
	None     Kind = "none"
)

const (
	// mostSize and mostSteps keep every sum of weights far inside of an int64.
	mostSize  = 1 << 40
	mostSteps = 1 << 16
	// mostQueries is more than anybody keeps the answers of.
	mostQueries = 1 << 40
)

// check refuses what is no stream, with what to write instead.
func (c Config) check() error {
	say := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...)
	}
	switch {
	case c.Domain == nil:
		return say("it has no domain; name the columns that its questions are about")
	case c.Size < 1 || c.Size > mostSize:
		return say("its size is %d; give the number of people that alpha is a share of, from 1 to 2^40", c.Size)
	case !(c.Alpha > 0 && c.Alpha < 1):
		return say("alpha is %v; give the share of people that answers may be off by, above 0 and below 1, such as 0.05", c.Alpha)
	case !(c.Beta > 0 && c.Beta < 1):
		return say("beta is %v; give the probability that any answer is further off, above 0 and below 1, such as 0.001", c.Beta)
	case c.Queries < 1 || c.Queries > mostQueries:
		return say("it is for %d questions; give how many different ones there may be, at least 1", c.Queries)
	case c.Steps < 1 || c.Steps > mostSteps:
		return say("one person weighs %d; give 1 for predicates, and at most 2^16", c.Steps)
	case c.Currency != mech.Pure && c.Currency != mech.Concentrated:
		return fmt.Errorf("%w: %w", ErrConfig, mech.ErrBudget)
	case c.Neighbours != dp.AddRemove && c.Neighbours != dp.Substitute:
		return say("it has no neighbouring relation; choose add-remove or substitute")
	case c.Budget == 0:
		return say("its budget is 0; give the most that it may cost, such as 1")
	case c.Budget == dp.Unbounded:
		return say("its budget is unbounded; give the most that it may cost, such as 1")
	case c.error() < 1:
		return say("alpha %v of %d people is less than one; a count cannot be that exact, take an alpha of at least %.3g", c.Alpha, c.Size,
			1/(float64(c.Size)*float64(c.Steps)))
	}
	switch c.Predictor {
	case Auto, Halving, Ensemble, Weights, None:
		return nil
	}
	return say("there is no predictor %q; write %q, %q, %q or %q, or nothing", string(c.Predictor), Ensemble, Weights, Halving, None)
}

// error is how far answers may be off, in weights. Rounded down, so that it promises no less than
// Alpha.
func (c Config) error() int64 {
	return int64(math.Floor(c.Alpha * float64(c.Size) * float64(c.Steps) * (1 + 0x1p-50)))
}

// amount is the claim of a cost that this stream counts.
func (c Config) amount(cost dp.Cost) dp.Amount {
	if c.Currency == mech.Pure {
		return cost.Epsilon
	}
	return cost.Rho
}
