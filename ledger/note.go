package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MaxNote is how many bytes a note of a session may have.
const MaxNote = 1 << 20

// NoteSalt is how many random bytes stand before a note where it is stored. The hash of a note is
// in the chain, which auditors get; without salt the hash of a small secret, such as the noise of a
// threshold, would tell it to whoever tries all that it can be.
const NoteSalt = 16

// ErrEra is returned when the ledger was recovered since a session began. What the session noted
// last may be among what was lost, so it must not go on: it would release for a charge what was
// released for it already. See [Ledger.Era].
var ErrEra = errors.New("the ledger was recovered since this session began, and may have lost some of its notes: begin another session")

// Provided is what has to hold for a note to be written. Nothing in it asks for nothing.
type Provided struct {
	// Dataset is one whose window is Window still, where that is not 0, for a session that is paid
	// for window by window: no renewal lies between what was paid for and what is told. Where it is
	// another there is a [*LapsedError].
	Dataset string
	Window  uint64
	// Analyst is one whom Dataset is not closed to; else there is a [*LockoutError].
	Analyst string
	// After, where it is not nil, is how many notes the session has. Who has read that many and
	// decided by them writes the next one, or gets [ErrBehind]: somebody else, perhaps another
	// server with the same ledger, has written since.
	After *int
}

// After is for the note that comes after so many.
func After(notes int) Provided { return Provided{After: &notes} }

// ErrBehind is returned when a session has more notes than whoever writes the next one has read.
// Nothing was written, and what was drawn for it must not be told.
var ErrBehind = errors.New("somebody else has continued this session in the meantime: ask again")

// chargeNotes begins the names of sessions that one charge pays for.
const chargeNotes = "charge "

// ChargeNotes names the session that the charge with this sequence pays for, all of it, such as one
// of the sparse vector. Its notes are what it has told, written before anybody is told. The ledger
// takes none of them once the window of the charge has ended, and returns a [*LapsedError], nor
// while its dataset is closed to whoever made the charge, and returns a [*LockoutError]; for what
// is no charge it returns [ErrUnpaid].
func ChargeNotes(sequence uint64) string { return chargeNotes + strconv.FormatUint(sequence, 10) }

// NotesCharge returns the charge that pays for a session, and false where that is not in its name.
func NotesCharge(session string) (sequence uint64, ok bool) {
	digits, ok := strings.CutPrefix(session, chargeNotes)
	if !ok {
		return 0, false
	}
	sequence, err := strconv.ParseUint(digits, 10, 64)
	return sequence, err == nil
}

// Began names the notes by which a process says that it lets questions of sessions about a dataset
// reach the engine: one before the first of them. A charge that pays for a session never has an
// answer, and most questions of sessions make no charge, so this is how a process that died in one
// is told from one that lost its power; see [PaysForSession].
func Began(dataset, era string) string { return "began " + Hash(era+" "+dataset) }

// Reruns names the notes by which a process says that it computes anew what a charge without an
// answer pays for: one before each time. It may be another process than the one that charged, and
// so the only trace of what it was doing when it died.
func Reruns(charge uint64) string { return "rerun " + strconv.FormatUint(charge, 10) }

// CheckpointNotes names the notes that hold the hashes of checkpoints: what a ledger has to know of
// its records, kept beside it, so that it opens without reading them all. Those of each era are a
// session of their own, because a session ends with its era.
func CheckpointNotes(era string) string { return "checkpoint " + Hash(era) }

// protectsNotes begins the names of sessions that say whom the charges of a dataset protect.
const protectsNotes = "protects "

// ProtectsNotes names the sessions of one note each, counted from 0, that say whom the charges of a
// dataset protect: who a person is, whose the rows of each table are, and which databases are
// neighbours. They are written with the first charge that needs them, and are read in every era: a
// recovery takes back nothing of what was promised to whom.
func ProtectsNotes(dataset string, n int) string {
	return protectsNotes + dataset + " " + strconv.Itoa(n)
}

// NotesProtected returns the dataset that a session says this about, and false where it says
// something else.
func NotesProtected(session string) (dataset string, ok bool) {
	rest, ok := strings.CutPrefix(session, protectsNotes)
	dataset, _, found := strings.Cut(rest, " ")
	return dataset, ok && found
}

// PaysForSession reports whether a charge pays for a session, by which it never has an answer of
// its own.
func PaysForSession(r *Record) bool {
	return strings.HasPrefix(r.Request, "session ") || strings.HasPrefix(r.Mechanisms, "sparse(")
}

// ValidateNote returns an [*InvalidError] unless the bytes can be a note of the session.
func ValidateNote(session string, entry []byte) error {
	if err := validText("session", session, 1, MaxName); err != nil {
		return err
	}
	switch {
	case len(entry) == 0:
		return &InvalidError{"note", "is missing"}
	case len(entry) > MaxNote:
		return &InvalidError{"note", fmt.Sprintf("is %d bytes long; the most is %d", len(entry), MaxNote)}
	}
	return nil
}

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

// between stands between the keys of an answer that has several.
const between = " | "

// JoinKeys makes one key of several. An answer that is kept under it is found under each of them,
// and under all together: what one charge paid for can be asked for in parts.
func JoinKeys(keys ...string) string { return strings.Join(keys, between) }

// Keys returns everything under which an answer is found that was kept under a key.
func Keys(key string) []string {
	parts := strings.Split(key, between)
	if len(parts) == 1 {
		return parts
	}
	return append(parts, key)
}
