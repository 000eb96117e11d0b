package account

import "github.com/discreet-dp/discreet/dp"

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
//     that sharpens an earlier one the same is true of both together: see mech.Sharpened.)
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
