package ledger

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/dp"
)

// Anchor is what is known elsewhere about a ledger. A ledger that does not hold the record with
// this position and hash is an older copy of itself, or another one, and is not opened.
type Anchor struct {
	// Identity is the hash of the ledger's identity, which itself is the owner's secret and stays
	// in the ledger.
	Identity string    `json:"identity"`
	Sequence uint64    `json:"sequence"`
	Hash     string    `json:"hash"`
	Time     time.Time `json:"time"`
	// Owner is the key whose signatures count, so that a ledger that was lost is not anybody's.
	Owner string `json:"owner,omitempty"`
	// Most is, for every account ever charged, the most that can have been spent until the next
	// anchor is written. The ledger writes the next one before it confirms a charge that goes
	// beyond, so this is what a lost ledger counts as.
	Most []Ceiling `json:"most"`
	// Trail is some of the earlier positions, the later the denser, by which an older copy is
	// recognised.
	Trail []Position `json:"trail"`
	// Checkpoint is the hash of the one checkpoint by which the ledger may be opened, where there
	// is one: who wrote the anchor had made it of what it had checked, or was opened by it. A note
	// in the chain says the same, but whoever can write the ledger's file can add a note behind the
	// anchored record.
	Checkpoint string `json:"checkpoint,omitempty"`
	// Protects are the notes that say whom the charges of datasets protect, in their order: a
	// ledger that lost them is told again. See [ProtectsNotes].
	Protects []ProtectsNote `json:"protects,omitempty"`
}

// ProtectsNote is a note that says whom the charges of a dataset protect.
type ProtectsNote struct {
	Dataset string `json:"dataset"`
	Says    string `json:"says"`
}

// AnchorNotes is the session whose note says that a ledger has an anchor, and where. From then on a
// place without one is no place that never had one: the ledger is not opened, because its volume
// may not be mounted, and the ledger be older than what is there. Neither is it opened where no
// place is named. See [UnanchoredError], and [GiveUpNotes] for how an owner takes it back.
const AnchorNotes = "anchor"

// giveUpNotes begins the names of sessions whose note says that a ledger has no anchor any more.
const giveUpNotes = "no anchor: "

// AnchorNotesIn is the session that says it in an era, in which those of earlier ones have ended.
func AnchorNotesIn(era string) string { return inEra(AnchorNotes, era) }

// GiveUpNotes is the session whose note says that a ledger has no anchor from here on, because its
// owner gave it up, and why: its name is in the chain, for auditors to read.
func GiveUpNotes(era, reason string) string { return inEra(giveUpNotes+reason, era) }

func inEra(session, era string) string {
	if era == "" {
		return session
	}
	return session + " (era " + era[:min(len(era), 16)] + ")"
}

// NotesAnchor returns what a note of a session says about whether the ledger has an anchor from
// here on, and false where it says nothing.
func NotesAnchor(session string) (anchored, says bool) {
	if session == AnchorNotes || strings.HasPrefix(session, AnchorNotes+" (era ") {
		return true, true
	}
	return false, strings.HasPrefix(session, giveUpNotes)
}

// Ceiling is the most that can have been spent in an account. Its JSON is exact, in units of 2^-40,
// unlike that of a [dp.Cost], which is for people and rounds.
type Ceiling struct {
	Account string
	Spent   dp.Cost
}

// ceiling is a Ceiling in JSON. The numbers are texts because many programs read numbers as floats.
type ceiling struct {
	Account string `json:"account"`
	Epsilon uint64 `json:"epsilon,string"`
	Rho     uint64 `json:"rho,string"`
	Delta   uint64 `json:"delta,string"`
}

func (c Ceiling) MarshalJSON() ([]byte, error) {
	return json.Marshal(ceiling{c.Account, uint64(c.Spent.Epsilon), uint64(c.Spent.Rho), uint64(c.Spent.Delta)})
}

func (c *Ceiling) UnmarshalJSON(text []byte) error {
	var j ceiling
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*c = Ceiling{j.Account, dp.Cost{Epsilon: dp.Amount(j.Epsilon), Rho: dp.Amount(j.Rho), Delta: dp.Amount(j.Delta)}}
	return nil
}

// Position is a place in a ledger.
type Position struct {
	Sequence uint64 `json:"sequence"`
	Hash     string `json:"hash"`
}

// Anchorage is the second place in which anchors are kept, such as a file on another volume. The
// package anchor has some.
type Anchorage interface {
	// Load returns the last anchor that was stored, and false where none ever was.
	Load(ctx context.Context) (Anchor, bool, error)
	// Store returns when the anchor is on stable storage. It keeps only the last one. After an
	// error it is not known which is stored, the new one or the one before.
	Store(ctx context.Context, a Anchor) error
	// String says where it is, for messages.
	String() string
}
