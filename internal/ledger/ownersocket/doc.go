// Package ownersocket lets the owner work on a ledger in a file while a server has it open: over a
// Unix socket beside it, which has the rights of the ledger itself. A ledger in a file has one
// writer, so what the owner reads and enters goes through that one. Nothing else does: no charge is
// made this way, and none is answered.
//
// A signature is made where the key is. The server says what it is about to write, and the owner's
// side signs it only where that is what was asked for.
package ownersocket
