package account

import "github.com/discreet-dp/discreet/dp"

// Raised returns what a limit of rho promises that is another by now than the first, which was
// fixed before the first answer. An owner who tops up, or changes the policy, because of what
// analysts found chooses the limit from the answers, and [Epsilon] is right for a limit that was
// fixed beforehand only: 20 raises of epsilon 0.2 on (1, 1e-6), chosen in the worst way, are worth
// a delta of 1.97e-6, and 90 of 0.1 one of 3.3e-6 (measured in the tests). The delta is that of the
// conversion, without those that mechanisms claim.
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
func Raised(first, limit, delta dp.Amount) (Reading, error) {
	level, i := first, 0
	for ; level < limit; i++ {
		if level == 0 || level > dp.Unbounded/2 {
			return Reading{}, ErrUnbounded
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

// leastLevel is where the levels of [Unfixed] begin: about epsilon 0.2 at a delta of 1e-6. It is
// written here, so that nobody who has seen an answer has chosen it.
const leastLevel = dp.One >> 10

// Unfixed returns what a limit of rho promises where nothing is known of the limit that was fixed
// before the first answer: a budget that was pure then, or one whose first charges are among what a
// ledger has lost. The levels of [Raised] begin at the first limit. Levels that follow from the
// limit of today are chosen with it, from the answers: with some that ended there, as there were
// once, an owner who raises from epsilon 0.4 to 46 in small steps, and stops when it looks best,
// has a delta of 3.3e-6 where 2e-6 was stated (measured in the tests of package books).
//
// The levels here are g_0 = 2^-10 and g_(i+1) = 5/4 g_i, rounded up, with delta_i =
// delta/((i+1)(i+2)) for i >= 0. They and their parts are the same for everybody, whatever was
// asked and answered, so the proof at [Raised] holds as it stands: for every event S in which, at
// the end, the limit and what was spent are at most g_i, P_A[S] <= exp(e_i) P_B[S] + delta, where
// e_i = Epsilon(g_i, delta_i), which grows with i. The sum of the parts is delta: no level has
// all of it, as the first limit has at [Raised], because none is known to be that.
func Unfixed(limit, delta dp.Amount) (Reading, error) {
	level, i := leastLevel, 0
	for ; level < limit; i++ {
		if level > dp.Unbounded/2 {
			return Reading{}, ErrUnbounded
		}
		level += (level + 3) / 4
	}
	e, err := atLevel(level, delta, (i+1)*(i+2))
	return Reading{e, delta}, err
}

// atLevel converts a level at one of so many parts of delta.
func atLevel(level, delta dp.Amount, parts int) (dp.Amount, error) {
	if delta == 0 || delta.Add(delta) >= dp.One {
		return 0, ErrDelta
	}
	// In floating point, because a part of a small delta is no multiple of its unit. The division
	// is rounded down.
	at, err := ZCDP{Rho: level.Float()}.EpsilonAt(down(delta.Float() / float64(parts)))
	if err != nil {
		return 0, err
	}
	e, err := dp.CeilFloat(at)
	if err != nil {
		return 0, ErrUnbounded
	}
	return e, nil
}
