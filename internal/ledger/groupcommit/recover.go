package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

type Recovered struct {
	// Problem is why the ledger was not the one that its anchor knows. It is empty where it was,
	// and nothing was changed.
	Problem string `json:"problem"`
	// Spent are the accounts that count as having spent more than before, with what they count as
	// having spent now.
	Spent []ledger.Balance `json:"spent"`
	// Counted says that an earlier recovery had counted the loss already, and only the anchor was
	// missing.
	Counted bool `json:"counted"`
	// Sequence and Hash are the head of the ledger, which is the anchor now.
	Sequence uint64 `json:"sequence"`
	Hash     string `json:"hash"`
}

func (r Recovered) String() string {
	switch {
	case r.Problem == "":
		return "the ledger is the one that its anchor knows; nothing was changed"
	case r.Counted:
		return fmt.Sprintf("what was lost had already been counted as spent; the anchor is now at record %d", r.Sequence)
	}
	return fmt.Sprintf("%s. What was lost counts as spent, in %d accounts; the anchor is now at record %d", r.Problem,
		len(r.Spent), r.Sequence)
}

// CheckRecover returns an error where a ledger cannot be recovered from this place, or not for this
// reason.
func CheckRecover(ctx context.Context, place ledger.Anchorage, path, reason string) error {
	if place == nil {
		return &ledger.InvalidError{Field: "place of the anchor",
			Problem: "is missing: without an anchor nothing is known about what was lost"}
	}
	if err := (ledger.Recovery{Reason: reason}).Validate(); err != nil {
		return err
	}
	_, found, err := place.Load(ctx)
	if err != nil {
		return fmt.Errorf("the anchor could not be read: %w", err)
	}
	if !found {
		return fmt.Errorf("there is no anchor in %s, so it is not known what the ledger %s might have lost. Nothing was changed",
			place, path)
	}
	return nil
}

// Recovery sees to a ledger that is not the one that its anchor knows, for a reason of the owner's.
type Recovery struct {
	Committer *Committer
	Keeper    *chain.AnchorKeeper // the committer has none yet
	Reason    string
}

// Recover counts everything that can have been released and is not in the ledger as spent, and
// anchors the result. The records are all of the ledger's. Killed in
// between, it leaves a ledger that is refused as before, and that knows what it counted. Missing
// says that there was no ledger, and this one is new.
func (r Recovery) Recover(ctx context.Context, missing bool, records iter.Seq2[*ledger.Record, error]) (Recovered, error) {
	c := r.Committer
	c.Lock()
	a, found, err := r.Keeper.Check(ctx, c.Path, c.State, c.HashAt)
	state := c.State.Clone()
	c.Unlock()
	var refused *ledger.AnchorError
	switch {
	case err == nil && found:
		sequence, hash := state.Head()
		return Recovered{Sequence: sequence, Hash: hash}, nil
	case err == nil:
		return Recovered{}, errors.New("the anchor was removed in the meantime")
	case !errors.As(err, &refused):
		return Recovered{}, err
	}
	loss, err := chain.FindLoss(a, state, records)
	if err != nil {
		return Recovered{}, err
	}
	if !loss.Counted {
		// What counts as spent was added to what is spent here, which must not change meanwhile.
		if _, err := c.enterAt(ctx, state, ledger.Recovery{Anchor: a, Spent: loss.Spent, Reason: r.Reason}); err != nil {
			return Recovered{}, err
		}
	}
	if err := r.noteProtects(ctx, a.Protects); err != nil {
		return Recovered{}, err
	}
	out, err := r.adopt(ctx)
	out.Problem, out.Spent, out.Counted = refused.Problem, loss.Spent, loss.Counted
	if missing {
		out.Problem = fmt.Sprintf("the ledger was missing, and had %d records", a.Sequence)
	}
	return out, err
}

// noteProtects writes down what an anchor knows about whom charges protect and the ledger does not.
// Where the two do not agree, both stay, and no policy can go on with that dataset: its charges
// protect different people.
func (r Recovery) noteProtects(ctx context.Context, known []ledger.ProtectsNote) error {
	for _, k := range known {
		for n := 0; ; n++ {
			session := ledger.ProtectsNotes(k.Dataset, n)
			says, found, err := r.protectsNote(ctx, session)
			if err == nil && !found {
				err = r.Committer.Note(ctx, session, []byte(k.Says))
			}
			if err != nil {
				return err
			}
			if !found || says == k.Says {
				break
			}
		}
	}
	return nil
}

// protectsNote returns what the one note of a session says about whom charges protect.
func (r Recovery) protectsNote(ctx context.Context, session string) (says string, found bool, err error) {
	if err := r.Committer.LockForRead(ctx); err != nil {
		return "", false, err
	}
	defer r.Committer.Unlock()
	sequences, err := r.Committer.State.Notes.Of(session)
	if err != nil || len(sequences) == 0 {
		return "", false, err
	}
	note, err := r.Committer.ProtectsAt(sequences[0])
	return note.Says, true, err
}

// CheckBeginAnchor returns an error where no anchor can be begun in this place, or not for this
// reason.
func CheckBeginAnchor(ctx context.Context, place ledger.Anchorage, reason string) error {
	if place == nil {
		return &ledger.InvalidError{Field: "place of the anchor", Problem: "is missing"}
	}
	if err := (ledger.Recovery{Reason: reason}).Validate(); err != nil {
		return err
	}
	if _, found, err := place.Load(ctx); err != nil {
		return fmt.Errorf("the anchor could not be read: %w", err)
	} else if found {
		return fmt.Errorf("there is an anchor in %s already, and it is not replaced. Nothing was changed", place)
	}
	return nil
}

// BeginAnchor stores a first anchor for a ledger whose anchor is lost. The owner says with a reason
// that this is the ledger to go on with, which is written down as a recovery that counts nothing:
// nobody knows what was lost, if anything, so all sessions from before are over, and charges
// without an answer get none.
func (r Recovery) BeginAnchor(ctx context.Context) (Recovered, error) {
	if _, err := r.Committer.Enter(ctx, ledger.Recovery{Reason: r.Reason}); err != nil {
		return Recovered{}, err
	}
	return r.adopt(ctx)
}

func (r Recovery) adopt(ctx context.Context) (Recovered, error) {
	c := r.Committer
	c.Lock()
	defer c.Unlock()
	r.Keeper.SetNoteReader(c.ProtectsAt)
	if err := r.Keeper.Adopt(ctx, c.State, c.HashAt); err != nil {
		return Recovered{}, &ledger.WriteError{Path: c.Path, Err: err}
	}
	sequence, hash := c.State.Head()
	return Recovered{Sequence: sequence, Hash: hash}, nil
}

// CheckGiveUpAnchor returns an error where a ledger cannot give its anchor up, or not for this
// reason.
func CheckGiveUpAnchor(place ledger.Anchorage, reason string) error {
	if place == nil {
		return &ledger.InvalidError{Field: "place of the anchor",
			Problem: "is missing: a ledger gives up its anchor while it is still compared with it"}
	}
	if err := (ledger.Recovery{Reason: reason}).Validate(); err != nil {
		return err
	}
	if len(reason) > maxGiveUp {
		return &ledger.InvalidError{Field: "reason", Problem: fmt.Sprintf("is %d bytes long; the most is %d", len(reason), maxGiveUp)}
	}
	return nil
}

// maxGiveUp is how many bytes of a reason the name of a session has room for.
const maxGiveUp = 200

// GiveUpAnchor writes down that the ledger has no anchor from here on.
func (r Recovery) GiveUpAnchor(ctx context.Context) error {
	era, err := r.Committer.Era(ctx)
	if err != nil {
		return err
	}
	return r.Committer.Note(ctx, ledger.GiveUpNotes(era, r.Reason), []byte(r.Reason))
}
