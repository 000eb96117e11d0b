// Package attack has, for tests, the stores that Discreet reads, each with a constructor, and what
// is hostile in them. A new store is one more constructor in [Stores]; then the questions and the
// attacks of package generate are put before it by
//
//   - internal/audit/neighbours, which holds its exact numbers against those of others,
//   - internal/audit/lockstep, which asks two neighbours with the same randomness,
//   - internal/server, which compares what both doors say, to the byte.
package attack
