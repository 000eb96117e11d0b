package admission

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/ledger"
)

// outcome is what came of a question, in one word.
type outcome string

const (
	answered  outcome = "answered"
	free      outcome = "free" // answered, and nothing was charged
	priced    outcome = "priced"
	described outcome = "described"
	refused   outcome = "refused"
	disputed  outcome = "disputed" // refused, because two checks of ours do not agree about it
	exhausted outcome = "exhausted"
	limited   outcome = "limited"
	ending    outcome = "ending"
	opening   outcome = "opening"
	withdrawn outcome = "withdrawn"
	canceled  outcome = "canceled"
	timeout   outcome = "timeout"
	internal  outcome = "internal"
	closed    outcome = "closed" // no new answers before the owner has released it
	failed    outcome = "failed"
)

// outcomeOf names how a question ended that has no answer.
func outcomeOf(err error) outcome {
	var refusal *api.Refusal
	var budget *ledger.BudgetError
	var limit *LimitError
	var dispute *api.Disagreement
	var door *ledger.DoorError
	switch {
	case errors.As(err, new(*api.PriceError)):
		return priced
	case errors.As(err, &dispute):
		return disputed
	case errors.As(err, &refusal), errors.Is(err, ErrNoSession), errors.Is(err, api.ErrNoModel), errors.Is(err, ErrRevoked),
		errors.Is(err, ErrUnchecked):
		return refused
	case errors.As(err, &budget), errors.Is(err, api.ErrStreamPart):
		return exhausted
	case errors.As(err, &door):
		return closed
	case errors.As(err, &limit):
		return limited
	case errors.Is(err, ErrEnding):
		return ending
	case errors.Is(err, ErrOpening):
		return opening
	case errors.Is(err, ErrWithdrawn):
		return withdrawn
	case errors.Is(err, ErrCanceled):
		return canceled
	case errors.Is(err, ErrTimeout):
		return timeout
	case errors.Is(err, ErrInternal):
		return internal
	}
	return failed
}

// booksOf is what the ledger says where it cannot be written or is damaged, or nil. Its words name
// files and records, and nothing of the data; analysts get others.
func booksOf(err error) error {
	var damage *ledger.CorruptError
	var missing *ledger.MissingError
	var write *ledger.WriteError
	switch {
	case errors.As(err, &damage):
		return damage
	case errors.As(err, &missing):
		return missing
	case errors.As(err, &write):
		return write
	}
	return nil
}

// translate says that a question was stopped, where that is why it failed. An interrupted engine
// says only that it failed. What the text and the budget decide stays as it is.
func translate(ctx context.Context, e *entry, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	switch outcomeOf(err) {
	case refused, disputed, exhausted, internal, closed, priced:
		return err // of closed ones there are such that failed and such that did not, and no more may be told
	}
	if ended(err) {
		return err // which cannot be asked again
	}
	late := errors.Is(context.Cause(ctx), ErrTimeout)
	switch e.kind {
	case "ask", "train":
		if late {
			return ErrTimeout
		}
	case "open", "session":
		if late {
			return errTimeoutSession
		}
	default:
		if late {
			return errTimeoutFree
		}
		return errCanceledFree
	}
	return ErrCanceled
}
