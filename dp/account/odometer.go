package account

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
)

// Odometer says what has been spent so far, and its readings hold at all times at once: an analyst
// who watches it, chooses every next mechanism and its price from all answers so far, and stops
// when it looks best, still has what it reads. (Rogers, Roth, Ullman, Vadhan 2016 define odometers,
// by tail bounds of the privacy loss. The promise below is what such a tail bound is wanted for.)
//
// # The promise
//
// Fix neighbours A and B and any analyst. Let T be any stopping time of the
// interaction, and R the reading at T, which depends on the prices so far and so
// on the answers. For every event S about the interaction up to T,
//
//	P_A[S]  <=  E_B[exp(R) 1_S] + delta,
//
// with delta fixed before the first answer. In particular P_A[S] <= exp(e) P_B[S] + delta for every
// S in which the reading is at most e. A and B change places. It follows from: outside of an event
// of probability delta under A, the privacy loss ln(P_A/P_B) of the transcript is at most the
// reading *at every step*. The proofs for the three kinds:
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
// Each answer's loss L_i under A is, for Gaussian noise, normal with mean rho_i and variance 2
// rho_i; the running sum is a random walk. [Epsilon] at the rho spent and delta bounds that walk at
// a time that was fixed beforehand: about rho + 2 sqrt(rho ln(1/delta)), some fixed number of
// standard deviations above the mean. By the law of the iterated logarithm the walk crosses every
// such curve, sooner or later, with probability 1. An analyst who knows what the two databases
// would have answered sees the walk, stops when it is above the curve, and has lost more than the
// curve says with probability far above delta, even where all prices are fixed. It is measured in
// the tests. The conversion is right for a limit that was fixed at the start, which is what a
// [Filter] has, and where both the prices and the moment were.
//
// # The zero-concentrated odometer
//
// Theorem. Let a > 1 and 0 < d < 1. If each mechanism, given all earlier answers, is
// rho_i-zCDP with rho_i chosen from them, then under A, with probability at least 1-d,
//
//	L_1 + ... + L_k  <=  a (rho_1 + ... + rho_k) + ln(1/d)/(a-1)   for all k at once.
//
// Proof. W_k = exp((a-1) sum L_i - (a-1) a sum rho_i) is positive, W_0 = 1, and E[exp((a-1) L_k) |
// answers before] = exp((a-1) D_a) <= exp((a-1) a rho_k), so E[W_k | answers before] <= W_(k-1): a
// supermartingale, since rho_k is known before the k-th answer. By Ville's inequality (1939) P[some
// W_k >= 1/d] <= d. Take logarithms. (With a delta_k, let W_k be 0 from the first leak on; leaks
// have probability at most the sum of delta_k in all, as above.)
//
// One a gives a line in the spent rho, best at rho = ln(1/d)/(a-1)^2, where it is rho + 2 sqrt(rho
// ln(1/d)): what Bun, Steinke 2016 (Proposition 1.3) say of one moment, now said of all. We take
// the lines that are best at the levels rho_j = first 2^j of a public grid, j = 0, 1, ..., with d_j
// = delta/((j+1)(j+2)), whose sum is at most delta, so that all lines hold at once; the reading is
// the lowest line. (Feldman, Zrnic 2021 make an odometer of levels; Whitehouse, Ramdas, Rogers, Wu
// 2023 stitch time-uniform bounds. Up to its level a line is never above the level's own bound.)
// Half way between two levels a line is 1.5 % above the root that it touches at its level. The
// price of watching is d_j in place of delta, ln((j+1)(j+2)) under the root.
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

// errOdometer is returned when an odometer is asked for that could read nothing.
var errOdometer = errors.New("an odometer needs deltas whose sum is above 0 and below 1, and a first level above 0")

// PureOdometer returns an odometer that reads the sum of epsilon. It takes no
// claim with a delta and none without an epsilon.
func PureOdometer() *Odometer {
	return &Odometer{spending: NewSpending(PureFilter(dp.Unbounded - 1))}
}

// BasicOdometer returns an odometer that reads the sum of epsilon at a delta, fixed now, within
// which the sum of deltas stays: what would take it beyond is refused.
func BasicOdometer(delta dp.Amount) (*Odometer, error) {
	if delta == 0 || delta >= dp.One {
		return nil, errOdometer
	}
	return &Odometer{spending: NewSpending(BasicFilter(dp.Unbounded-1, delta)), delta: delta}, nil
}

// ZCDPOdometer returns an odometer that adds up rho and reads epsilon. The first level of its grid
// is the rho from which on readings should be good; below it they stay valid and are about what
// they are at the first level. The delta of the conversion and the most that the deltas of
// mechanisms add up to are fixed now; readings are at their sum.
func ZCDPOdometer(first, conversion, mechanisms dp.Amount) (*Odometer, error) {
	delta := conversion.Add(mechanisms)
	if first == 0 || first == dp.Unbounded || conversion == 0 || delta >= dp.One {
		return nil, errOdometer
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
		return Reading{}, errUnbounded
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

// ClaimOfRaisedLimit returns what a limit of rho promises that is another by now than the first,
// which was fixed before the first answer. An owner who tops up, or changes the policy, because of
// what analysts found chooses the limit from the answers, and [Epsilon] is right for a limit that
// was fixed beforehand only: 20 raises of epsilon 0.2 on (1, 1e-6), chosen in the worst way, are
// worth a delta of 1.97e-6, and 90 of 0.1 one of 3.3e-6 (measured in the tests). The delta is that
// of the conversion, without those that mechanisms claim.
//
// # The promise
//
// Fix neighbours A and B, any analyst and any owner. Let the public levels be g_0 = first and
// g_(i+1) = 5/4 g_i, rounded up, with delta_0 = delta and delta_i = delta/(i(i+1)) for i >= 1.
// Whatever limits the owner sets and when, for every event S in which, at the end, the limit and
// what was spent are at most g_i,
//
//	P_A[S]  <=  exp(e_0) P_B[S and level 0] + ... + exp(e_i) P_B[S and level i] + delta_0 + ... + delta_i,
//
// where e_i = Epsilon(g_i, delta_i), and level j is the event that g_j is the lowest level above
// the limit and what was spent. So P_A[S] <= exp(max e_j) P_B[S] + 2 delta: the sum of 1/(i(i+1))
// is 1. A and B change places.
//
// Proof. Take an event S_j within level j. Change the interaction so that whatever would take the
// sum of rho beyond g_j is refused, whatever limit the owner has set: a filter whose limit was
// fixed before the first answer, so that all of it is g_j-zCDP (see [Filter]). Within level j
// nothing was refused that was not refused before, so S_j has the same probability under A as it
// had, and under B, and P_A[S_j] <= exp(e_j) P_B[S_j] + delta_j. Add up over j. How often limits
// were changed, and by how much, is in no sum: levels are.
//
// It is the union bound of [ZCDPOdometer] with a delta that is whole for the first level, so that a
// limit that nobody changes promises what it always did. A limit that is lowered below the first
// promises no less than the first.
func ClaimOfRaisedLimit(first, limit, delta dp.Amount) (Reading, error) {
	level, i := first, 0
	for ; level < limit; i++ {
		if level == 0 || level > dp.Unbounded/2 {
			return Reading{}, errUnbounded
		}
		level += (level + 3) / 4
	}
	if i == 0 {
		e, err := Epsilon(first, delta)
		return Reading{e, delta}, err
	}
	e, err := atLevel(level, delta, i*(i+1))
	return Reading{e, delta.Add(delta)}, err
}

// minLevel is where the levels of [Unfixed] begin: about epsilon 0.2 at a delta of 1e-6. It is
// written here, so that nobody who has seen an answer has chosen it.
const minLevel = dp.One >> 10

// ClaimOfUnknownFirstLimit returns what a limit of rho promises where nothing is known of the limit
// that was fixed before the first answer: a budget that was pure then, or one whose first charges
// are among what a ledger has lost. The levels of [Raised] begin at the first limit. Levels that
// follow from the limit of today are chosen with it, from the answers: with some that ended there,
// as there were once, an owner who raises from epsilon 0.4 to 46 in small steps, and stops when it
// looks best, has a delta of 3.3e-6 where 2e-6 was stated (measured in the tests of package
// budgets).
//
// The levels here are g_0 = 2^-10 and g_(i+1) = 5/4 g_i, rounded up, with delta_i =
// delta/((i+1)(i+2)) for i >= 0. They and their parts are the same for everybody, whatever was
// asked and answered, so the proof at [Raised] holds as it stands: for every event S in which, at
// the end, the limit and what was spent are at most g_i, P_A[S] <= exp(e_i) P_B[S] + delta, where
// e_i = Epsilon(g_i, delta_i), which grows with i. The sum of the parts is delta: no level has
// all of it, as the first limit has at [Raised], because none is known to be that.
func ClaimOfUnknownFirstLimit(limit, delta dp.Amount) (Reading, error) {
	level, i := minLevel, 0
	for ; level < limit; i++ {
		if level > dp.Unbounded/2 {
			return Reading{}, errUnbounded
		}
		level += (level + 3) / 4
	}
	e, err := atLevel(level, delta, (i+1)*(i+2))
	return Reading{e, delta}, err
}

// atLevel converts a level at one of so many parts of delta.
func atLevel(level, delta dp.Amount, parts int) (dp.Amount, error) {
	if delta == 0 || delta.Add(delta) >= dp.One {
		return 0, errDelta
	}
	// In floating point, because a part of a small delta is no multiple of its unit. The division
	// is rounded down.
	at, err := ZCDP{Rho: level.Float()}.EpsilonAt(down(delta.Float() / float64(parts)))
	if err != nil {
		return 0, err
	}
	e, err := dp.CeilFloat(at)
	if err != nil {
		return 0, errUnbounded
	}
	return e, nil
}
