// Package account adds up what mechanisms cost and converts between the ways of saying it.
//
// # Currencies
//
// A budget is kept in one of three currencies, and all are sums:
//
//   - pure: the sum of epsilon ([PureFilter]);
//   - basic: the sums of epsilon and of delta ([BasicFilter]);
//   - zero-concentrated: the sum of rho, with the sum of delta ([ZCDPFilter]).
//
// The sums are privacy filters: they stay valid when analysts choose every next query, and its
// price, after reading all earlier answers. See [Filter]. [Spending] is a filter in use. What a
// request costs is a [Charge], made from the guarantee of its mechanism; a mechanism that answers
// many times is a session, and [Interleavable] says which guarantees can pay for one.
//
// A filter says at the end what was fixed at the start. What was spent *so far*,
// read at a moment that the analyst chooses, is for an [Odometer] to say: the
// conversion of the rho spent so far is not valid then.
//
// # Conversions of budgets
//
// An owner writes a budget as (epsilon, delta), because that is what people know. [Rho] says how
// much rho it buys and [Epsilon] says what an amount of rho is worth. Each rounds to the side that
// costs privacy nothing, and they agree:
//
//	Epsilon(Rho(e, d), d) <= e          for every e and every 0 < d < 1,
//	Epsilon(Rho(e, d) + 1 unit, d) > e  unless Rho is the largest amount there is.
//
// A budget of delta is shared: what the conversion uses up and what mechanisms
// are charged are added. A rho filter with delta d0 inside has, at the
// conversion's d1, the guarantee (Epsilon(rho, d1), d0 + d1).
//
// # Guarantees
//
// For planning, in floating point, there is one type for each way of stating privacy. An arrow is a
// conversion that is a theorem; where there is no arrow there is no method:
//
//	Pure -> Approx, ZCDP, RDP, GDP
//	Approx -> ApproxZCDP
//	GDP -> ZCDP, RDP, Approx at a delta
//	ZCDP -> ApproxZCDP, RDP, Approx at a delta
//	ApproxZCDP, RDP, PLD -> Approx at a delta
//
// Each is a [Guarantee], which can be asked for its epsilon at a delta and for its delta at an
// epsilon. Each composes with others of its kind (Compose, and Parallel for disjoint parts of fixed
// data) and, where there is a theorem, covers groups of units (Group). Every number is rounded so
// that no claim comes out stronger than the theorem makes it.
//
// # Composition of claims
//
// Of mechanisms nothing may be known but their claims ([Repeated]). Then there are three theorems:
// [Basic], [AdvancedEpsilon] and [OptimalEpsilon], which is never worse than the others. The last
// two return brackets that hold the theorem's value for certain; the upper end is the claim to
// make. Those two are no filters: they hold for claims that are fixed beforehand.
package account
