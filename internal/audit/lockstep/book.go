package lockstep

import (
	"context"
	"strings"

	"github.com/discreet-dp/discreet/internal/ledger/scratch"
	"github.com/discreet-dp/discreet/ledger"
)

// recordingLedger is a ledger in memory that writes down what it is asked to do. That a charge survives a
// crash is tested where it is implemented, and a replay makes thousands of them. One question at a
// time is asked of it.
type recordingLedger struct {
	*scratch.Ledger
	seen *outcome
}

func newRecordingLedger(seen *outcome) *recordingLedger { return &recordingLedger{scratch.New(), seen} }

func (b *recordingLedger) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	b.seen.event("charge")
	b.seen.charges = append(b.seen.charges, c)
	return b.Ledger.Charge(ctx, c)
}

func (b *recordingLedger) Keep(ctx context.Context, sequence uint64, key string, answer []byte) error {
	b.seen.event("keep")
	return b.Ledger.Keep(ctx, sequence, key, answer)
}

func (b *recordingLedger) Note(ctx context.Context, session string, entry []byte) error {
	b.seen.event("note")
	return b.Ledger.Note(ctx, session, entry)
}

func (b *recordingLedger) NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error {
	err := b.Ledger.NoteIf(ctx, session, entry, p)
	// Whom the policy protects is noted once, whatever is asked first, and is about the policy
	// alone.
	if err != ledger.ErrBehind && !strings.HasPrefix(session, "protects ") {
		b.seen.event("note")
	}
	return err
}

func (b *recordingLedger) Enter(ctx context.Context, e ledger.Entry) (ledger.Receipt, error) {
	b.seen.event("enter")
	return b.Ledger.Enter(ctx, e)
}
