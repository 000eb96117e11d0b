// Package account adds up what mechanisms cost and converts between the ways of
// saying it.
//
// # Two currencies
//
// A budget is kept in one of two currencies, and both are sums:
//
//   - pure: the sum of epsilon ([PureFilter]);
//   - zero-concentrated: the sum of rho, with the sum of delta ([ZCDPFilter]).
//
// Both sums are privacy filters: they stay valid when analysts choose every
// next query, and its price, after reading all earlier answers. See [Filter].
//
// # Conversions
//
// An owner writes a budget as (epsilon, delta), because that is what people
// know. [Rho] says how much rho it buys and [Epsilon] says what an amount of
// rho is worth. Each rounds to the side that costs privacy nothing, and they
// agree:
//
//	Epsilon(Rho(e, d), d) <= e          for every e and every 0 < d < 1,
//	Epsilon(Rho(e, d) + 1 unit, d) > e  unless Rho is the largest amount there is.
//
// A budget of delta is shared: what the conversion uses up and what mechanisms
// are charged are added. A rho filter with delta d0 inside has, at the
// conversion's d1, the guarantee (Epsilon(rho, d1), d0 + d1).
package account
