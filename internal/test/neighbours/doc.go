// Package neighbours searches for privacy bugs in planners and engines. It makes up a question, a
// database and its neighbour, in which one person is not there or somebody else is, lets an engine
// compute the private part of the question on both, and compares. One person must not move more
// than the noise is calibrated to:
//
//  1. Each vector of a measure moves by at most [tree.Query.Sensitivity], in both norms. Where
//     private keys are found in one database only, they are zero in the other.
//  2. The people in a combination of private keys change by one, in at most MaxGroups combinations.
//  3. The values that quantiles are of change by at most MaxRows, in at most MaxGroups groups.
//  4. The score of a selection changes by at most one person's interval times its weight, in every
//     group.
//  5. With public keys the shape of a result is that of the question.
//  6. What a planner claims of a relation is so, where the engine can tell (Check): nobody has two
//     rows in one that is Single, and every number lies in its interval.
//
// Under substitution all of these are what one vector replaced by another can do: see Sensitivity.
//
// TestNight does the same with sharper questions, in DuckDB and in the reference at once;
// docs/testing.md says how to run it for a night.
//
// It stands on the pairs that were tried and proves nothing. It found what is listed in its tests,
// and each of its checks is shown there to find a planted bug. Everything is compared exactly, and
// nothing but distances leaves the sealed vectors. A distance is private as well, so all of this is
// for made-up data.
package neighbours
