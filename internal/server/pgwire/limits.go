package pgwire

import (
	"time"

	"github.com/discreet-dp/discreet/internal/grammar"
)

// What one connection can have of the server. Those that an owner may want to change are in
// Options.
const (
	startupSize = 8 << 10 // bytes of a packet before login
	// handshakeSize is for TLS, whose messages Go would take up to 64 KiB. A client's are some 2
	// KiB, with keys against quantum computers.
	handshakeSize = 16 << 10

	earlyBuffer = 2 << 10  // bytes that are read ahead, before login
	lateBuffer  = 16 << 10 // and after it
	flushSize   = 32 << 10 // bytes of rows that are sent at once

	messageDeadline = time.Minute      // from the first byte of a message to its last
	writeDeadline   = 30 * time.Second // for a client to take flushSize bytes

	maxStatements = 100 // of one message

	maxPrepared   = 1000     // statements that a session keeps
	maxPortals    = 200      // portals that it has open
	maxKept       = 8 << 20  // bytes of both: texts, trees and values
	maxHeld       = 32 << 20 // bytes of rows that suspended portals hold, in a session
	maxHeldByUser = 64 << 20 // and in all sessions of a user
	maxCommand    = 4 << 10  // bytes of a statement that is neither SELECT nor EXPLAIN
	maxSavepoints = 100
	maxSetting    = 1 << 10 // bytes of the value of a setting
	maxName       = 256     // bytes of the name of a statement or a portal
	maxParameters = 1000    // values of one statement
)

// texts are the limits on the statements of one message, all together.
var texts = grammar.Limits{Bytes: 256 << 10, Words: 20_000, Depth: 100}
