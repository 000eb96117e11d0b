// Package privacyloss computes what many mechanisms lose together, from the distributions
// of their privacy losses, with a proven lower and upper bound around every number.
//
// # What is computed
//
// A mechanism is represented by a pair of distributions (P, Q) that dominates it on
// neighbouring databases; its privacy loss is L = ln(P/Q) under P ([Law]). The losses
// of several mechanisms add up ([Sum]), and the smallest delta at epsilon is
//
//	delta(epsilon) = E[(1 - exp(epsilon - S))+],   S = L_1 + ... + L_k.
//
// # How
//
// Usually every loss is put on a lattice and convolved, and each of the k roundings
// costs accuracy. Most laws have a generating function M(z) = E[exp(zL)] in closed
// form, though, so we put nothing on a lattice that need not be, and invert the
// product of the M at once. With K = sum of ln M, for any t > 0,
//
//	delta(epsilon) = exp(K(t) - t epsilon) E_t[g(S - epsilon)],
//	g(x) = exp(-t x) - exp(-(t+1) x) for x > 0, and 0 below,
//
// where E_t is under the tilted law, whose density is exp(ts - K(t)) times that of
// S. The tilt moves the mass of S to epsilon, so that the expectation is a number
// of ordinary size even where delta is 1e-15 or 1e-100: rounding errors are
// relative to delta, not to 1. With period W the expectation of g is replaced by
// that of the sum of g(x + mW) over all m, which has the Fourier series
//
//	1/W sum over j of phi(y_j) exp(-i y_j epsilon)/(z_j (z_j + 1)),
//	y_j = 2 pi j/W,   z_j = t + i y_j,   phi(y) = M(t+iy)/M(t).
//
// The errors, all of which are bounded and charged:
//
//  1. Other periods. The sum over m != 0 adds exactly
//     sum over m != 0 of exp(-t m W) delta(epsilon - m W), which is positive. For m >
//     0 delta is at most 1, for m < 0 it is at most peak(s) exp(K(s) - s(epsilon -
//     mW)) for every s > t. W is chosen to make it negligible; it is subtracted
//     from the lower bound.
//  2. The end of the series. |phi| <= 1, so the terms beyond J are at most W/(2 pi^2
//     J) together, times a bound on |phi| beyond y_J where the law has one.
//  3. Where all losses lie on one lattice (randomized response, discrete noise) the
//     series repeats itself and has a finite form, and nothing is cut off but what
//     is proven to be below 1e-34.
//  4. Rounding. Every value carries a bound on its error, from M to the sum. The
//     bounds rest on Go's elementary functions being within a few units in the
//     last place, and on the tails of package numeric being within 2^-48.
//  5. Laws without a closed form (Poisson sampling) are enclosed between two laws
//     on a lattice, one that dominates and one that is dominated; see enclose.
//     Each end of the bracket is computed from its own. Their mass beyond 1e-10 of
//     delta is moved to infinity for the upper end, and left out for the lower.
//
// The brackets are about 1e-9 wide for closed forms whose characteristic function decays, and for
// discrete laws on one lattice; about 1e-4 for few laws with atoms and for unlike ones on many
// lattices, and under sampling up to some 10,000 compositions. With rates of 1e-4 and below and
// little noise they are up to some percent wide, where epsilon is small beside the steps of the
// lattice; in the direction that is not the guarantee the lower end can be 0. They widen, and stay
// valid, where rounding or the limits on the work take over: at a million compositions under
// sampling, say, or next to the largest loss.
//
// # When it may be used
//
// For parameters that are fixed in advance. Which mechanism comes next may depend on
// earlier answers as long as its pair does not. Stopping when a computed curve
// crosses a budget is not valid (package account has filters for that).
package privacyloss
