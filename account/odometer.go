package account

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
)

// Odometer says what has been spent so far, and its readings hold at all times at
// once: an analyst who watches it, chooses every next mechanism and its price
// from all answers so far, and stops when it looks best, still has what it reads.
// (Rogers, Roth, Ullman, Vadhan 2016 define odometers, by tail bounds of the privacy
// loss. The promise below is what such a tail bound is wanted for.)
//
// # The promise
//
// Fix neighbours A and B and any analyst. Let T be any stopping time of the
// interaction, and R the reading at T, which depends on the prices so far and so
// on the answers. For every event S about the interaction up to T,
//
//	P_A[S]  <=  E_B[exp(R) 1_S] + delta,
//
// with delta fixed before the first answer. In particular P_A[S] <= exp(e)
// P_B[S] + delta for every S in which the reading is at most e. A and B change
// places. It follows from: outside of an event of probability delta under A, the
// privacy loss ln(P_A/P_B) of the transcript is at most the reading *at every
// step*. The proofs for the three kinds:
//
//   - [PureOdometer]: the loss of each answer is at most its epsilon, with
//     certainty, so the running sum bounds the running loss.
//   - [BasicOdometer]: each mechanism is replaced by leaky randomized response
//     (Kairouz, Oh, Viswanath 2015), which leaks with probability delta_i, and
//     whose loss is at most epsilon_i otherwise. The prices are random, but their
//     running sum is kept within delta, so E[sum of delta_i] <= delta bounds the
//     probability that anything ever leaks.
//   - [ZCDPOdometer]: see below.
//
// # Why the conversion at the time of stopping is no odometer
//
// Each answer's loss L_i under A is, for Gaussian noise, normal with mean rho_i and
// variance 2 rho_i; the running sum is a random walk. [Epsilon] at the rho spent
// and delta bounds that walk at a time that was fixed beforehand: about rho + 2
// sqrt(rho ln(1/delta)), some fixed number of standard deviations above the mean.
// By the law of the iterated logarithm the walk crosses every such curve, sooner
// or later, with probability 1. An analyst who knows what the two databases would
// have answered sees the walk, stops when it is above the curve, and has lost more
// than the curve says with probability far above delta, even where all prices are
// fixed. It is measured in the tests. The conversion is right for a limit that was
// fixed at the start, which is what a [Filter] has, and where both the prices and
// the moment were.
//
// # The zero-concentrated odometer
//
// Theorem. Let a > 1 and 0 < d < 1. If each mechanism, given all earlier answers, is
// rho_i-zCDP with rho_i chosen from them, then under A, with probability at least 1-d,
//
//	L_1 + ... + L_k  <=  a (rho_1 + ... + rho_k) + ln(1/d)/(a-1)   for all k at once.
//
// Proof. W_k = exp((a-1) sum L_i - (a-1) a sum rho_i) is positive, W_0 = 1, and
// E[exp((a-1) L_k) | answers before] = exp((a-1) D_a) <= exp((a-1) a rho_k), so
// E[W_k | answers before] <= W_(k-1): a supermartingale, since rho_k is known
// before the k-th answer. By Ville's inequality (1939) P[some W_k >= 1/d] <= d.
// Take logarithms. (With a delta_k, let W_k be 0 from the first leak on; leaks
// have probability at most the sum of delta_k in all, as above.)
//
// One a gives a line in the spent rho, best at rho = ln(1/d)/(a-1)^2, where it is
// rho + 2 sqrt(rho ln(1/d)): what Bun, Steinke 2016 (Proposition 1.3) say of one
// moment, now said of all. We take the lines that are best at the levels rho_j =
// first 2^j of a public grid, j = 0, 1, ..., with d_j = delta/((j+1)(j+2)), whose
// sum is at most delta, so that all lines hold at once; the reading is the lowest
// line. (Feldman, Zrnic 2021 make an odometer of levels; Whitehouse, Ramdas,
// Rogers, Wu 2023 stitch time-uniform bounds. Up to its level a line is never
// above the level's own bound.) Half way between two levels a line is 1.5 % above
// the root that it touches at its level. The price of watching is d_j in place of
// delta, ln((j+1)(j+2)) under the root.
//
// An Odometer may be used by many goroutines at once.
type Odometer struct {
	spending *Spending
	delta    dp.Amount
	lines    []line
}

// Reading is the guarantee of everything up to now. See [Odometer] for what it
// promises when the moment of reading is chosen by the analyst.
type Reading struct{ Epsilon, Delta dp.Amount }

func (r Reading) String() string { return fmt.Sprintf("epsilon %v, delta %v", r.Epsilon, r.Delta) }

// ErrOdometer is returned when an odometer is asked for that could read nothing.
var ErrOdometer = errors.New("an odometer needs deltas that are together above 0 and below 1, and a first level above 0")

// PureOdometer returns an odometer that reads the sum of epsilon. It takes no
// claim with a delta and none without an epsilon.
func PureOdometer() *Odometer {
	return &Odometer{spending: NewSpending(PureFilter(dp.Unbounded - 1))}
}

// BasicOdometer returns an odometer that reads the sum of epsilon at a delta,
// fixed now, within which the sum of deltas stays: what would take it beyond is
// refused.
func BasicOdometer(delta dp.Amount) (*Odometer, error) {
	if delta == 0 || delta >= dp.One {
		return nil, ErrOdometer
	}
	return &Odometer{spending: NewSpending(BasicFilter(dp.Unbounded-1, delta)), delta: delta}, nil
}

// ZCDPOdometer returns an odometer that adds up rho and reads epsilon. The first
// level of its grid is the rho from which on readings should be good; below it
// they stay valid and are about what they are at the first level. The delta of the
// conversion and the most that the deltas of mechanisms add up to are fixed now;
// readings are at their sum.
func ZCDPOdometer(first, conversion, mechanisms dp.Amount) (*Odometer, error) {
	delta := conversion.Add(mechanisms)
	if first == 0 || first == dp.Unbounded || conversion == 0 || delta >= dp.One {
		return nil, ErrOdometer
	}
	o := &Odometer{spending: NewSpending(ZCDPFilter(dp.Unbounded-1, mechanisms)), delta: delta}
	for j := 0; ; j++ {
		o.lines = append(o.lines, newLine(math.Ldexp(first.Float(), j), conversion.Float(), j))
		if first > (dp.Unbounded-1)>>(j+1) {
			return o, nil // no sum of rho is beyond the next level
		}
	}
}

// Spend records one answer, before it is given. A claim of a kind that this
// odometer cannot read, or whose delta it has no room for, is refused as by
// [Spending.Spend]: nothing is recorded, and the answer must not be given.
func (o *Odometer) Spend(claim Claim) error { return o.spending.Spend(claim) }

// Open records a session, in full, when it is opened.
func (o *Odometer) Open(session Interleavable) error { return o.spending.Open(session) }

// Read returns the reading, rounded up.
func (o *Odometer) Read() (Reading, error) {
	spent := o.spending.Spent()
	e := spent.Epsilon
	if o.lines == nil || spent.Rho == 0 {
		return Reading{e, o.delta}, nil
	}
	best := math.Inf(1)
	for _, l := range o.lines {
		best = math.Min(best, l.at(spent.Rho.Float()))
	}
	// Where every claim has an epsilon, their sum is a bound too, and on the
	// same event: one leak pays for epsilon and for rho (see Approx.Charge).
	if a, err := dp.CeilFloat(best); err == nil {
		e = min(e, a)
	}
	if e == dp.Unbounded {
		return Reading{}, ErrUnbounded
	}
	return Reading{e, o.delta}, nil
}

// line is a bound that holds for all times at once: rho + rho slope +
// logOdds/slope, where slope is a-1 and logOdds is ln(1/d_j).
type line struct{ slope, logOdds float64 }

// newLine returns the line that is best at a level. Any positive slope is
// valid, so only logOdds needs care; at takes care of it.
func newLine(level, delta float64, j int) line {
	logOdds := math.Log(float64(j+1)*float64(j+2)) - math.Log(delta)
	return line{slope: math.Sqrt(logOdds / level), logOdds: logOdds}
}

// at bounds the line from above. All terms are positive and made of at most six
// operations, each within one unit in the last place; the margin is 32.
func (l line) at(rho float64) float64 {
	return (rho + rho*l.slope + l.logOdds/l.slope) * (1 + 0x1p-48)
}
