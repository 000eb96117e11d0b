// Package chain is what every ledger has in common, wherever it is stored: how a
// record is written, how it is bound to the one before, and what follows from a
// chain of them. It does no input or output.
//
// The layout of records is part of the package comment of ledger.
package chain
