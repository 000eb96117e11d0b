// Package holdoutsession runs the holdouts of a policy (package holdout): scores of what analysts
// have fitted elsewhere, on data that is held out. A holdout is shared by all analysts of the
// dataset and charged round by round, by the first question of each; the noise of an open round,
// every answer and the board are notes of the ledger, so that it outlives the process.
package holdoutsession
