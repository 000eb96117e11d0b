// Package chain is what every ledger has in common, wherever it is stored: what follows from a
// chain of records, which record may come next, and what the next one is for a charge, an answer or
// an entry. A [AnchorKeeper] ties a chain to its anchor elsewhere, and [Missing] says what to count
// where the chain came loose. Nothing here does input or output of its own.
//
// The layout of records is part of the package comment of ledger.
package chain
