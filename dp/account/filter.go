package account

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/dp"
)

// Filter is a privacy filter: the limit on what a sequence of mechanisms may cost when every next
// mechanism, its parameters included, is chosen after seeing all earlier answers. It keeps no
// state; what was spent is the ledger's to know, or that of a [Spending].
//
// Validity. Sums of pure epsilon, sums of epsilon with sums of delta, and sums of rho with sums of
// delta are valid stopping rules under fully adaptive choice: for (epsilon, delta) by Rogers, Roth,
// Ullman, Vadhan 2016 (Theorem 3.6; pure where delta is 0); for zCDP by Feldman, Zrnic 2021
// (Theorem 4.3 at every order) and Whitehouse, Ramdas, Rogers, Wu 2023 (Theorem 1, which has the
// deltas). A refused charge spends nothing and leaves the filter open for smaller ones.
//
// Either of two sums is a filter as well: see [EitherFilter].
//
// Sums are all that is here, on purpose. To stop when a curve of privacy loss
// distributions, of f-DP, or of advanced composition at the parameters used so
// far crosses a limit is not a filter: those theorems fix the parameters first.
type Filter struct{ limit dp.Cost }

// PureFilter returns the filter of a pure budget: the sum of epsilon stays within it,
// and nothing with a delta is admitted.
func PureFilter(epsilon dp.Amount) Filter {
	return Filter{dp.Cost{Epsilon: epsilon, Rho: dp.Unbounded, Delta: 0}}
}

// BasicFilter returns the filter of an (epsilon, delta) budget under basic composition: the sums of
// epsilon and of delta stay within it, and what was answered is (epsilon, delta)-differentially
// private, whatever was chosen when. With a delta of 0 it is [PureFilter].
//
// A delta of 1 or more promises nothing, and its filter admits nothing.
func BasicFilter(epsilon, delta dp.Amount) Filter {
	if delta >= dp.One {
		return Filter{}
	}
	return Filter{dp.Cost{Epsilon: epsilon, Rho: dp.Unbounded, Delta: delta}}
}

// ZCDPFilter returns the filter of a zero-concentrated budget: the sums of rho and of
// delta stay within it. Epsilon is not limited. A delta of 1 or more promises nothing,
// and its filter admits nothing.
func ZCDPFilter(rho, delta dp.Amount) Filter {
	if delta >= dp.One {
		return Filter{}
	}
	return Filter{dp.Cost{Epsilon: dp.Unbounded, Rho: rho, Delta: delta}}
}

// Limit returns the most that may be spent; Unbounded where a claim is not
// what this filter adds up.
func (f Filter) Limit() dp.Cost { return f.limit }

// Admits reports whether cost may be spent after spent.
func (f Filter) Admits(spent, cost dp.Cost) bool { return spent.Add(cost).Fits(f.limit) }

// Left returns what may still be spent after spent.
func (f Filter) Left(spent dp.Cost) dp.Cost { return f.limit.Sub(spent) }

// EitherFilter returns the filter of an (epsilon, delta) budget that is kept by either of two
// theorems: it admits a charge as long as the sum of epsilon is within epsilon, or the sum of rho
// is within rho, of everything that was admitted; and the sum of delta within delta in both cases.
// A few questions are best paid for by the first, with Laplace noise, and many by the second, with
// Gaussian noise; which one a budget ends on need not be known when it begins.
//
// # The promise
//
// Let e be at least epsilon, and d the delta at which rho is worth at most e, so that
// e >= Epsilon(rho, d). Then all that is answered, whatever is chosen when, is
// (e, d + delta)-differentially private. So d is what the second side uses of the promise's delta,
// the first side uses none, and delta, which mechanisms claim themselves, is shared by both.
//
// Proof. Fix neighbours and an analyst. A transcript t has a probability P(t) with one of the two
// databases and Q(t) with the other. Both sums only grow, so once one of them is beyond its limit
// it stays there, and a charge is admitted only if the other is not. So at the end of every
// transcript one of the two is within its limit. Call t epsilon-final where the sum of epsilon is,
// and rho-final where it is not, and then the sum of rho is.
//
// First let no mechanism claim a delta.
//
//   - t is epsilon-final: each answer is at most exp(its epsilon) times as likely under P as under
//     Q, given what came before, so P(t) <= exp(sum of epsilon) Q(t) <= exp(e) Q(t). (Of an answer
//     that sharpens an earlier one the same is true of both together: see mech.NewSharper.)
//   - t is rho-final: change the interaction so that whatever would take the sum of rho beyond
//     rho is refused. This is [ZCDPFilter], so all of the changed interaction is rho-zCDP, and its
//     P'(t) - exp(e) Q'(t), added up where that is above 0, is at most d (the conversion of
//     [Epsilon]). Nothing of t is refused in it, because a sum that is within rho at the end was so
//     all along. So t has the same probabilities there: P'(t) = P(t) and Q'(t) = Q(t).
//
// So for every event S, P(S) - exp(e) Q(S) is at most the sum of the positive P(t) - exp(e) Q(t):
// none of the first kind is, and those of the second kind add up to at most d.
//
// Now let mechanism i claim delta_i, chosen like everything else from the answers before. Its
// answer is a mixture: with weight 1 - delta_i of a pair p_i, q_i that both of its claims are
// about ([dp.Cost] asks for that), and with weight delta_i of something else. Let p(t) be the
// part of P(t) in which every answer comes from p_i, and q(t) that of Q(t). Then p = w p' and q =
// w q', where w is the product of 1 - delta_i, the same on both sides because t decides it, and
// p' and q' are the probabilities of an interaction without deltas. The rest P - p is at most the
// probability that some answer is not from p_i, which is at most the mean of the sum of delta_i,
// and that is never above delta. So
//
//	P(S) - exp(e) Q(S)  <=  P(S) - p(S) + p(S) - exp(e) q(S)  <=  delta + d,
//
// because p(t) - exp(e) q(t) = w(t) (p'(t) - exp(e) q'(t)), with a w of at most 1, is not above 0
// where t is epsilon-final, and the positive ones of the others add up to at most d, as above.
//
// Sessions that are charged when they are opened ([Interleavable]) are covered: a pure one
// multiplies the ratio of the transcript by at most exp(its epsilon), whatever runs in between, and
// of a zero-concentrated one only the rho is claimed, which closes the first side.
//
// # What is not the same
//
// Two budgets beside each other, with epsilon for what is charged to the one and rho for what is
// charged to the other, are not this filter: their losses add up. Every charge counts on both
// sides. The tests compute what the best analyst gains from either rule.
func EitherFilter(epsilon, rho, delta dp.Amount) Filter {
	if delta >= dp.One {
		return Filter{}
	}
	return Filter{dp.Cost{Epsilon: epsilon, Rho: rho, Delta: delta}}
}

// errCharge is returned when a guarantee cannot be charged: it is not a guarantee (NaN, negative, a
// delta of 1 or more), it is larger than anything that is counted, or it is zero, which is what a
// guarantee looks like whose author forgot a field, and would be free for ever.
var errCharge = errors.New("this guarantee cannot be charged")

// Charge is what one request costs, in whole units, rounded up. It is made from
// a guarantee and from nothing else, so nobody writes down a price. The zero
// Charge claims nothing, and nothing admits it.
type Charge struct {
	cost dp.Cost
	made bool
}

// Cost returns the claims that the charge is made of; all of them unbounded for the zero Charge.
func (c Charge) Cost() dp.Cost {
	if !c.made {
		return dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Unbounded, Delta: dp.Unbounded}
	}
	return c.cost
}

func (c Charge) String() string { return c.Cost().String() }

// Claim is a guarantee that can be charged: [Pure], [Approx], [ZCDP],
// [ApproxZCDP] or [GDP], of a mechanism that answers once.
type Claim interface {
	Charge() (Charge, error)
}

// Charge returns epsilon, and the rho that every epsilon-differentially private
// mechanism has: see dp.RhoOfPure.
func (g Pure) Charge() (Charge, error) { return Approx{Epsilon: g.Epsilon}.Charge() }

// Charge returns epsilon and delta, and the rho of pure epsilon with the same delta.
//
// Every pair of outputs of an (epsilon, delta)-differentially private mechanism is a randomized
// function of the pair of outputs of one leaky randomized response (Kairouz, Oh, Viswanath 2015;
// Murtagh, Vadhan 2016 restate it): with probability delta, the same on both databases, it tells
// all, and otherwise it is randomized response at epsilon. Given that it does not tell all, which
// has probability 1 - delta on both sides, it is dp.RhoOfPure(epsilon)-zCDP, so the mechanism is
// delta-approximately so (Bun, Steinke 2016, Definition 8.1). One and the same event pays for both
// claims, which is why delta is charged once.
func (g Approx) Charge() (Charge, error) {
	if err := checkDelta(g.Delta); err != nil {
		return Charge{}, err
	}
	if err := checkLoss("epsilon", g.Epsilon, g.Delta); err != nil {
		return Charge{}, err
	}
	epsilon, err := ceil(g.Epsilon)
	if err != nil {
		return Charge{}, err
	}
	rho, err := ceil(dp.RhoOfPure(g.Epsilon))
	if err != nil {
		return Charge{}, err
	}
	return charge(epsilon, rho, g.Delta)
}

// Charge returns rho. Concentrated privacy has no epsilon of its own: Gaussian
// noise loses any amount with some probability.
func (g ZCDP) Charge() (Charge, error) { return ApproxZCDP{Rho: g.Rho}.Charge() }

// Charge returns rho and delta, and no epsilon. (With delta above zero there is an epsilon at every
// larger delta; converting is for the caller, who knows the delta: see [Epsilon].)
func (g ApproxZCDP) Charge() (Charge, error) {
	if err := checkDelta(g.Delta); err != nil {
		return Charge{}, err
	}
	if err := checkLoss("rho", g.Rho, g.Delta); err != nil {
		return Charge{}, err
	}
	rho, err := ceil(g.Rho)
	if err != nil {
		return Charge{}, err
	}
	return charge(dp.Unbounded, rho, g.Delta)
}

// Charge returns rho = mu^2/2, computed exactly and then rounded up. A mu-GDP mechanism is a
// randomized function of the Gaussian mechanism with shift mu (Blackwell 1953; Dong, Roth, Su 2022,
// Theorem 2.10), whose divergence of order a is a mu^2/2.
func (g GDP) Charge() (Charge, error) {
	if err := checkLoss("mu", g.Mu, 0); err != nil {
		return Charge{}, err
	}
	mu := new(big.Rat).SetFloat64(g.Mu)
	rho, err := dp.Ceil(mu.Mul(mu, mu).Quo(mu, big.NewRat(2, 1)))
	if err != nil {
		return Charge{}, fmt.Errorf("%w: its rho is %w", errCharge, err)
	}
	return charge(dp.Unbounded, rho, 0)
}

// charge puts the claims together. A loss of zero beside a delta is charged as
// one unit: a larger claim is still true, and ledgers refuse claims of zero.
func charge(epsilon, rho dp.Amount, delta float64) (Charge, error) {
	d, err := ceil(delta)
	if err != nil {
		return Charge{}, err
	}
	return Charge{dp.Cost{Epsilon: max(1, epsilon), Rho: max(1, rho), Delta: d}, true}, nil
}

// ceil rounds the exact value of a float64 up to whole units.
func ceil(f float64) (dp.Amount, error) {
	a, err := dp.CeilFloat(f)
	if err != nil {
		return 0, fmt.Errorf("%w: %v is %w", errCharge, f, err)
	}
	return a, nil
}

func checkDelta(delta float64) error {
	if !(delta >= 0 && delta < 1) {
		return fmt.Errorf("%w: delta is %v; write a probability such as 1e-6, or 0", errCharge, delta)
	}
	return nil
}

// checkLoss refuses what is no loss, and a loss of nothing at all.
func checkLoss(name string, loss, delta float64) error {
	if !(loss >= 0) || math.IsInf(loss, 1) {
		return fmt.Errorf("%w: %s is %v; write a positive number such as 0.5", errCharge, name, loss)
	}
	if loss == 0 && delta == 0 {
		return fmt.Errorf("%w: %s is 0, which would be free; an answer that does not depend on the data need not be "+
			"charged", errCharge, name)
	}
	return nil
}

// Spending is a filter in use: what was spent so far, and whether the next
// charge is admitted. Charge first and answer afterwards: an answer whose charge
// was refused must not be computed, let alone shown. It keeps its state in
// memory only; what has to survive a crash is charged to a ledger.
//
// A Spending may be used by many goroutines at once. A charge is admitted and
// added in one step, so no two can spend the same remainder.
type Spending struct {
	mu     sync.Mutex
	filter Filter
	spent  dp.Cost
}

// NewSpending returns a filter from which nothing was spent yet.
func NewSpending(f Filter) *Spending { return &Spending{filter: f} }

// Spend charges for one answer of a mechanism that answers once. A charge that the filter does not
// admit is a [*RefusedError], is free, and leaves the filter open for smaller ones.
//
// A mechanism that keeps private state between answers is a session, and is
// charged by [Spending.Open].
func (s *Spending) Spend(claim Claim) error {
	if claim == nil {
		return fmt.Errorf("%w: it is nil", errCharge)
	}
	c, err := claim.Charge()
	if err != nil {
		return err
	}
	return s.admit(c)
}

func (s *Spending) admit(c Charge) error {
	if !c.made {
		return fmt.Errorf("%w: it was not made from a guarantee", errCharge)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cost := c.Cost()
	if !s.filter.Admits(s.spent, cost) {
		return &RefusedError{Want: cost, Left: s.filter.Left(s.spent)}
	}
	s.spent = s.spent.Add(cost)
	return nil
}

// Spent returns the sums of all claims of what was admitted.
func (s *Spending) Spent() dp.Cost {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent
}

// Left returns what may still be spent. Another goroutine may spend it first.
func (s *Spending) Left() dp.Cost {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.filter.Left(s.spent)
}

// RefusedError is returned when a filter does not cover a charge. Nothing was
// spent. Left is unbounded where the filter has no limit.
type RefusedError struct{ Want, Left dp.Cost }

func (e *RefusedError) Error() string {
	limitsEpsilon := e.Left.Epsilon != dp.Unbounded
	limitsRho := e.Left.Rho != dp.Unbounded
	if limitsEpsilon && limitsRho { // one of the two is enough, and neither was
		limitsEpsilon, limitsRho = false, false
	}
	switch {
	case limitsEpsilon && e.Want.Epsilon == dp.Unbounded:
		return "this budget adds up epsilon, and concentrated or Gaussian privacy has no epsilon of its own, so it is refused and " +
			"nothing was spent: " +
			"use Laplace noise, or keep the budget in rho (ZCDPFilter), or, if the budget has a delta, charge the answer as the Approx " +
			"that it converts to at a delta"
	case limitsRho && e.Want.Rho == dp.Unbounded:
		return "this budget adds up rho, and the request has no rho, so it is refused and nothing was spent: charge the guarantee of " +
			"its mechanism"
	case e.Want.Delta > 0 && e.Left.Delta == 0 && limitsEpsilon:
		return fmt.Sprintf("this budget is pure, or its delta is used up, and the request wants delta %v, so it is refused and "+
			"nothing was spent: "+
			"use a mechanism without a delta, or keep the budget with one (BasicFilter, ZCDPFilter)", e.Want.Delta)
	}
	var want, left, most []string
	for _, c := range []struct {
		name       string
		want, left dp.Amount
	}{
		{"epsilon", e.Want.Epsilon, e.Left.Epsilon},
		{"rho", e.Want.Rho, e.Left.Rho},
		{"delta", e.Want.Delta, e.Left.Delta},
	} {
		if c.left == dp.Unbounded || c.want == 0 && c.left == 0 {
			continue
		}
		want = append(want, c.name+" "+c.want.String())
		left = append(left, c.name+" "+c.left.String())
		if c.want > c.left {
			most = append(most, c.name)
		}
	}
	return fmt.Sprintf("wanted %s, left %s, so it is refused and nothing was spent: ask for at most the %s that is left, "+
		"or stop here",
		strings.Join(want, ", "), strings.Join(left, ", "), strings.Join(most, " and "))
}

// Interleavable is a guarantee that may be charged for a session: an interactive mechanism, such as
// the sparse vector, that keeps private state between its answers, while other sessions and other
// answers run in between, in an order and with prices that the analyst chooses after every message.
//
// Only [Pure] and [ZCDP] implement it, and nothing outside of this package can: the charge is made
// by a method that others cannot name, so a type that embeds one of the two is charged for the one
// that it embeds, whatever it says of itself. A session with a delta does not compile.
//
// # Why these two
//
// Pure: an interactive epsilon-differentially private mechanism is an interactive function of one
// randomized response (Vadhan, Wang 2021), which is drawn when the session is opened and asked
// nothing later, so the session is a single answer as far as accounts go. The same reduction gives
// its rho.
//
// zCDP: Lyu 2022, and more simply Vadhan, Zhang 2023, for Renyi divergences of every fixed order;
// Haney et al. 2023 when the parameters are chosen as one goes. The argument is short. Fix the
// order a. For a session that is open, let V be the supremum, over all ways of going on with it
// alone, of E exp((a-1) its further privacy loss) on the first database, given its transcript. V >=
// 1, because one may stop; V <= exp((a-1) a rho) when it is opened, because it is rho-zCDP.
// Whatever message is sent next, exp((a-1) loss so far) V falls on average or stays: it is the
// value of a game. Sessions have independent coins, so given all transcripts a message changes one
// factor of the product over the sessions, and the product W' of
//
//	exp((a-1) loss so far) V exp(-(a-1) a rho)
//
// is a supermartingale that starts at 1. W' is at least the W of [Odometer],
// because V >= 1, so everything that is said there of W holds with sessions.
//
// # Why no delta
//
// Interactive (epsilon, delta)-mechanisms do compose concurrently (Lyu 2022;
// Vadhan, Zhang 2023), but as (epsilon, delta) or f-DP claims. Here one charge is
// read in epsilon and in rho, by different filters, and we know of no theorem for
// delta-approximate zCDP of interactive mechanisms: the event that has
// probability delta would have to be fixed before the analyst's first message.
//
// A session is charged in full when it is opened. That it was closed early is
// something that private data had a say in, so nothing is given back.
type Interleavable interface {
	Claim
	interleavable() (Charge, error)
}

func (g Pure) interleavable() (Charge, error) { return g.Charge() }
func (g ZCDP) interleavable() (Charge, error) { return g.Charge() }

// Open charges for a session, in full. It is refused as [Spending.Spend] refuses.
func (s *Spending) Open(session Interleavable) error {
	if session == nil {
		return fmt.Errorf("%w: it is nil", errCharge)
	}
	c, err := session.interleavable()
	if err != nil {
		return err
	}
	return s.admit(c)
}
