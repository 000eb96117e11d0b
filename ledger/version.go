package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Version is a state of a dataset's data, as a ledger knows it.
type Version struct {
	// ID is a keyed hash of the state, and Label the owner's name for it, or empty.
	ID, Label string
	// Number counts the different versions of the dataset in the order in which they were first
	// charged for, from 1. It is 0 where nothing was charged for this one yet. Data that is again
	// what it was has the number that it had.
	Number uint64
	// Since is the position of the dataset's last record of kind version, of whichever version; 0
	// where there is none.
	Since uint64
	// Current says that it is the version of the dataset's last charge. Window is the dataset's
	// window when this was found out. A ledger may leave both out.
	Current bool
	Window  uint64
}

// String is how a version is recorded.
func (v Version) String() string {
	if v.Label == "" {
		return v.ID
	}
	return v.ID + " " + v.Label
}

// VersionID names a state of the data by a hash with a key, which is the ledger's identity.
//
// A plain hash of the contents would be an oracle. The version is in a record, the record is in the
// chain, and an analyst gets the hash of the chain with every receipt. Who pays twice in a row
// knows everything else that is hashed in between, and could try one guess of the whole data after
// the other without asking. With a key of 128 random bits that only the owner's files have there is
// nothing to try.
func VersionID(identity, dataset, state string) string {
	h := hmac.New(sha256.New, []byte(identity))
	fmt.Fprintf(h, "discreet data version\n%d:%s\n%s", len(dataset), dataset, state)
	// Half of it is enough to tell versions apart, and leaves room for a label.
	return hex.EncodeToString(h.Sum(nil)[:16])
}
