package stream

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
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
	Currency mech.Currency
	// Budget is the most that the stream may cost, in epsilon or rho.
	Budget dp.Amount
	// Predictor is Auto, Halving, Ensemble, Weights or None, which is the exact-match cache.
	Predictor Kind
}

type Kind string

const (
	Auto     Kind = ""
	Halving  Kind = "halving"
	Ensemble Kind = "ensemble"
	Weights  Kind = "weights"
	None     Kind = "none"
)

const (
	// maxSize and mostSteps keep every sum of weights far inside of an int64.
	maxSize  = 1 << 40
	maxSteps = 1 << 16
	// maxQueries is more than anybody keeps the answers of.
	maxQueries = 1 << 40
)

// check refuses what is no stream, with what to write instead.
func (c Config) check() error {
	say := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...)
	}
	switch {
	case c.Domain == nil:
		return say("it has no domain; name the columns that its questions are about")
	case c.Size < 1 || c.Size > maxSize:
		return say("its size is %d; give the number of people that alpha is a share of, from 1 to 2^40", c.Size)
	case !(c.Alpha > 0 && c.Alpha < 1):
		return say("alpha is %v; give the share of people that answers may be off by, above 0 and below 1, such as 0.05", c.Alpha)
	case !(c.Beta > 0 && c.Beta < 1):
		return say("beta is %v; give the probability that any answer is further off, above 0 and below 1, such as 0.001", c.Beta)
	case c.Queries < 1 || c.Queries > maxQueries:
		return say("it is for %d questions; give how many different ones there may be, at least 1", c.Queries)
	case c.Steps < 1 || c.Steps > maxSteps:
		return say("one person weighs %d; give 1 for predicates, and at most 2^16", c.Steps)
	case c.Currency != mech.Pure && c.Currency != mech.Concentrated:
		return fmt.Errorf("%w: %w", ErrConfig, mech.ErrCurrency)
	case c.Neighbours != dp.AddRemove && c.Neighbours != dp.Substitute:
		return say("it has no neighbouring relation; choose add-remove or substitute")
	case c.Budget == 0:
		return say("its budget is 0; give the most that it may cost, such as 1")
	case c.Budget == dp.Unbounded:
		return say("its budget is unbounded; give the most that it may cost, such as 1")
	case c.errorSteps() < 1:
		return say("alpha %v of %d people is less than one; a count cannot be that exact, so choose an alpha of at least "+
			"%.3g", c.Alpha, c.Size,
			1/(float64(c.Size)*float64(c.Steps)))
	}
	switch c.Predictor {
	case Auto, Halving, Ensemble, Weights, None:
		return nil
	}
	return say("there is no predictor %q; write %q, %q, %q or %q, or nothing", string(c.Predictor), Ensemble, Weights, Halving, None)
}

// errorSteps is how far answers may be off, in weights. Rounded down, so that it promises no less
// than Alpha.
func (c Config) errorSteps() int64 {
	return int64(math.Floor(c.Alpha * float64(c.Size) * float64(c.Steps) * (1 + 0x1p-50)))
}

// amount is the claim of a cost that this stream counts.
func (c Config) amount(cost dp.Cost) dp.Amount {
	if c.Currency == mech.Pure {
		return cost.Epsilon
	}
	return cost.Rho
}

// Tariff is what a stream charges, known before it is opened.
type Tariff struct {
	Round dp.Cost // a round of tests with its one paid answer
	Plain dp.Cost // an answer that is paid for without a test
	// MostPaid is how many rounds fit into the budget, and MostPlain how many plain answers.
	MostPaid, MostPlain int
	Predictor           Kind
	// Mechanisms are spelled as in the ledger.
	RoundMechanisms, PlainMechanisms string
	// Error is how far answers may be off, in weights.
	Error int64
	// Cache is what the exact-match cache pays for each different question: an answer that is
	// within Error with probability 1 - Beta/Queries.
	Cache dp.Cost
	// Limit is the most that the stream spends, the smaller of its budget and 1.2 times what the
	// cache pays for all Queries.
	Limit dp.Amount
	// Threshold is what a prediction's distance is compared to, before noise, in weights.
	Threshold int64

	prices  prices
	queries int
	cache   dp.Amount // Cache, in what the stream counts
	above   *mech.AboveThreshold
	paid    mech.Mechanism
	plain   mech.Mechanism
	single  mech.Mechanism // for marginals of one attribute
	joint   mech.Mechanism // and of several
}

// prices are what noise is calibrated to: all that a tariff is made of besides its Config. A
// journal keeps them, so that a stream that is opened again by a later version with other prices
// goes on with its own.
type prices struct {
	Cache, Plain     dp.Amount
	Limit            dp.Amount
	First, Each, Pay dp.Amount // for a round: its threshold, its questions, its answer
	Threshold        int64
	Predictor        Kind
}

// Price checks a configuration and prices it. Nothing is drawn or charged.
func Price(c Config) (*Tariff, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := c.checkPredictorFits(); err != nil {
		return nil, err
	}
	p, err := calibrate(c)
	if err != nil {
		return nil, err
	}
	return p.tariff(c)
}

// tariff makes the mechanisms.
func (p prices) tariff(c Config) (*Tariff, error) {
	t := &Tariff{prices: p, queries: c.Queries, Limit: p.Limit, Error: c.errorSteps(), Threshold: p.Threshold, Predictor: p.Predictor}
	var err error
	if t.plain, err = c.answer(p.Plain); err != nil {
		return nil, err
	}
	cache, err := c.answer(p.Cache)
	if err != nil {
		return nil, err
	}
	t.Cache, t.Plain = cache.Cost(), t.plain.Cost()
	t.cache = c.amount(t.Cache)
	t.PlainMechanisms = spellMechanism(t.plain)
	t.MostPlain = wholeTimes(p.Limit, p.Plain)
	if p.First == 0 {
		return t, nil // a cache has no rounds
	}
	t.above, err = mech.NewAboveThreshold(mech.AboveThresholdConfig{
		Sensitivity: c.sensitivity(dp.L1), Threshold: p.First, Question: p.Each, OneSided: true})
	if err != nil {
		return nil, err
	}
	if t.paid, err = c.answer(p.Pay); err != nil {
		return nil, err
	}
	if t.single, err = c.marginal(p.Plain); err != nil {
		return nil, err
	}
	if t.joint, err = c.marginal(2 * p.Plain); err != nil {
		return nil, err
	}
	t.Round = t.above.Cost().Add(t.paid.Cost())
	z, n := t.above.Parameters()
	t.RoundMechanisms = fmt.Sprintf("above(geometric b=%s, geometric b=%s, threshold %d) + %s", z.RatString(), n.RatString(),
		p.Threshold, spellMechanism(t.paid))
	t.MostPaid = wholeTimes(p.Limit, c.amount(t.Round))
	return t, nil
}

// wholeTimes is how often a price fits into a limit.
func wholeTimes(limit, price dp.Amount) int { return int(min(uint64(limit)/uint64(price), 1<<31)) }

func spellMechanism(m mech.Mechanism) string {
	parameter := "b"
	if m.Norm() == dp.L2 {
		parameter = "sigma2"
	}
	return fmt.Sprintf("%s %s=%s", m.Name(), parameter, m.Parameter().RatString())
}

// sensitivity is how far one person moves the answer of one query: a weight is from 0 to Steps, so
// to add, to remove and to exchange one person moves it by Steps at most.
func (c Config) sensitivity(n dp.Norm) dp.Sensitivity {
	d := big.NewInt(c.Steps)
	if n == dp.L1 {
		return dp.NewL1(d)
	}
	return dp.NewL2Squared(d.Mul(d, d))
}

// answer returns the noise of one answer that costs an amount.
func (c Config) answer(price dp.Amount) (mech.Mechanism, error) {
	if c.Currency == mech.Pure {
		return mech.NewLaplace(c.sensitivity(dp.L1), price)
	}
	return mech.NewGaussian(c.sensitivity(dp.L2), price)
}

// marginal returns the noise of a whole marginal that costs an amount. People have one value each
// of every attribute, so one person who comes or goes moves one count by one, and one who is
// exchanged moves two, each by one.
func (c Config) marginal(price dp.Amount) (mech.Mechanism, error) {
	moved := big.NewInt(1)
	if c.Neighbours == dp.Substitute {
		moved = big.NewInt(2)
	}
	if c.Currency == mech.Pure {
		return mech.NewLaplace(dp.NewL1Each(moved, big.NewInt(1)), price)
	}
	return mech.NewGaussian(dp.NewL2Squared(moved), price)
}

// Allowance is the most that the stream may have spent, in what it counts, when so many different
// questions were asked: never more than its Limit, nor than 1.2 times what the exact-match cache
// pays for them.
func (t *Tariff) Allowance(different int) dp.Amount {
	high, low := bits.Mul64(6*uint64(min(different, t.queries)), uint64(t.cache))
	if high >= 5 {
		return t.Limit // the quotient is beyond 64 bits
	}
	most, _ := bits.Div64(high, low, 5)
	return min(t.Limit, dp.Amount(most))
}
