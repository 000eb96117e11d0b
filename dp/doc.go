// Package dp is the vocabulary of Discreet: amounts of privacy, what a mechanism costs, how far one
// person can move a result, and which databases are neighbours. It draws nothing, computes no bound
// and imports nothing of this project, so that every other package can speak it.
//
// # Units
//
// Privacy is counted in whole units of 2^-40 ([Amount]). Floating point never
// adds up a budget: ten charges of a tenth are exactly the ten charges that were
// made, in any order, on any machine. Rounding has one rule, which side pays:
//
//   - what a mechanism costs is rounded up ([Ceil]);
//   - what somebody asks for, or may spend, is rounded down ([Floor]), and the
//     noise is then calibrated to the rounded number, so that the charge is exact.
package dp
