// Package lockstep asks one question of two neighbouring databases, with the same randomness, and
// compares everything that came of it. What differential privacy promises about a system is, short
// of the law of its noise, a statement about such pairs, and so it can be run:
//
//  1. The same errors, byte for byte.
//  2. The same calls of mechanisms in the same order: names, exact parameters,
//     sensitivities, lengths, and as much randomness drawn.
//  3. Exact values that differ by no more than the noise was calibrated to, in its
//     own norm; for a selection, each score by no more than was declared, and all
//     the same way where it was declared monotone. The comparison is exact.
//  4. A charge, the same on both sides, before the data is touched, and of at least
//     what the calls cost.
//  5. An answer of the same shape: columns, types, error bars of counts and sums,
//     and keys where rows do not depend on noisy values. Counts and sums are
//     exactly as far apart as the exact values, and where no exact value differs the answer
//     is the same, byte for byte: nothing but those values and the noise reaches it.
//  6. Noise that is not that of another question. In an empty database an answer is its noise.
//
// The laws of the noise are not looked at here. A replay is a search for
// counterexamples and no proof: it stands on the pairs that were tried, and these are made
// to be hard. [MakePair] makes people at their bounds and beyond, without values,
// with thousands of rows, in every group, alone and among their twins.
//
// # For an owner
//
// [Policy] does all of this for a policy of one's own. It reads the policy and never the data:
// the databases are made up from the columns that the policy declares. A command calls
//
//	findings, err := replay.Policy(ctx, "hospital.yaml", replay.Options{})
//	err = replay.Print(os.Stdout, findings)
//
// and fails where a finding does not stand.
package lockstep
