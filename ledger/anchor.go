package ledger

import (
	"context"
	"time"

	"github.com/discreet-dp/discreet/dp"
)

// Anchor is what is known elsewhere about a ledger. A ledger that does not hold the record with this position and
// hash is an older copy of itself, or another one, and is not opened.
type Anchor struct {
	Identity string    `json:"identity"` // of the ledger, from its first record
	Sequence uint64    `json:"sequence"`
	Hash     string    `json:"hash"`
	Time     time.Time `json:"time"`
	// Most is, for every account ever charged, the most that can have been spent until the next anchor is written.
	// The ledger writes the next one before it confirms a charge that goes beyond, so this is what a lost ledger counts as.
	Most []Ceiling `json:"most"`
	// Trail is some of the earlier positions, the later the denser, by which an older copy is recognised.
	Trail []Position `json:"trail"`
}

// Ceiling is the most that can have been spent in an account.
type Ceiling struct {
	Account string  `json:"account"`
	Spent   dp.Cost `json:"spent"`
}

// Position is a place in a ledger.
type Position struct {
	Sequence uint64 `json:"sequence"`
	Hash     string `json:"hash"`
}

// Anchorage is the second place in which anchors are kept, such as a file on another volume. The package anchor has some.
type Anchorage interface {
	// Load returns the last anchor that was stored, and false where none ever was.
	Load(ctx context.Context) (Anchor, bool, error)
	// Store returns when the anchor is on stable storage. It keeps only the last one.
	Store(ctx context.Context, a Anchor) error
	// String says where it is, for messages.
	String() string
}
