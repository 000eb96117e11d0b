package pgwire

import (
	"time"

	"github.com/discreet-dp/discreet/internal/grammar"
	"github.com/discreet-dp/discreet/internal/server/bytelimit"
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
	flushSize   = 32 << 10 // bytes that are sent at once
	idleBuffer  = 1 << 10  // bytes that are kept for what will be sent

	messageDeadline = time.Minute        // from the first byte of a message to its last
	writeDeadline   = bytelimit.Patience // for a client to take flushSize bytes

	maxStatements = 100 // of one message

	maxPrepared   = 1000     // statements that a session keeps
	maxPortals    = 200      // portals that it has open
	maxKept       = 8 << 20  // bytes of both and of temporary views: texts, trees, descriptions and values
	maxHeld       = 32 << 20 // bytes that a session holds in all: what it keeps, rows, and the message that it is at
	wordSize      = 512      // bytes that the tree of a text takes for each of its words, at most
	leastAnswer   = 16 << 10 // bytes that are taken before a question is asked, so that nobody pays who could not be answered
	maxCommand    = 4 << 10  // bytes of a statement that is neither SELECT nor EXPLAIN
	maxSavepoints = 100
	maxSetting    = 1 << 10 // bytes of the value of a setting
	maxName       = 256     // bytes of the name of a statement or a portal
	maxParameters = 1000    // values of one statement
)

// texts are the limits on the statements of one message, all together.
var texts = grammar.Limits{Bytes: 256 << 10, Words: 20_000, Depth: 100}
