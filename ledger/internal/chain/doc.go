// Package chain is what every ledger has in common, wherever it is stored: what follows from a
// chain of records, which record may come next, and what the next one is for a charge, an answer or
// an entry. It does no input or output.
//
// The layout of records is part of the package comment of ledger.
package chain
