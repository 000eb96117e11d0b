package curator

import (
	"context"

	"github.com/discreet-dp/discreet/internal/pace"
	"github.com/discreet-dp/discreet/ledger"
)

// paced is a ledger that is written on ticks by questions that have looked at data.
type paced struct{ ledger.Ledger }

func (l paced) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	pace.Settle(ctx)
	return l.Ledger.Charge(ctx, c)
}

func (l paced) Keep(ctx context.Context, sequence uint64, key string, answer []byte) error {
	pace.Settle(ctx)
	return refused(ctx, l.Ledger.Keep(ctx, sequence, key, answer))
}

func (l paced) Note(ctx context.Context, session string, entry []byte) error {
	pace.Settle(ctx)
	return refused(ctx, l.Ledger.Note(ctx, session, entry))
}

func (l paced) NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error {
	pace.Settle(ctx)
	return refused(ctx, l.Ledger.NoteIf(ctx, session, entry, p))
}

// Fail implements [ledger.Ledger]. Behind a closed door what fails and what does not are told the
// same, and neither is written; how long it takes to find that out may differ, so neither leaves
// before another tick.
func (l paced) Fail(ctx context.Context, i ledger.Incident) (tell bool, err error) {
	pace.Settle(ctx)
	defer pace.Looks(ctx)
	return l.Ledger.Fail(ctx, i)
}

// refused lets a question wait for another tick where nothing was written; see Fail.
func refused(ctx context.Context, err error) error {
	if err != nil {
		pace.Looks(ctx)
	}
	return err
}
