package admission

import (
	"context"
	"errors"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/ledger"
)

// How a question can end without an answer, besides what [discreet.DB.Ask] says.
var (
	// ErrEnding: the server takes no more questions. Nothing was charged.
	ErrEnding = errors.New("the server is shutting down, and nothing was charged; ask again when it is back")
	// ErrWithdrawn: it was canceled, or its client went away, before it had its turn. Nothing was
	// charged.
	ErrWithdrawn = errors.New("canceled on the user's request before its turn came, and nothing was charged")
	// ErrTimeout and ErrCanceled: it was stopped. What was charged before stays charged.
	ErrTimeout error = &Stopped{late: true, text: "the question reached the server's limit of time. Where it was charged by then, the " +
		"charge stays, and that is a failure: where the door is closed by it, this dataset gives you no new answers until its owner has " +
		"released it. Then the same request is answered without a second charge"}
	ErrCanceled error = &Stopped{text: "canceled on the user's request. What was charged stays charged; where the answer is kept the " +
		"same question gets it free, and named by the same request it is never charged twice"}
	// These are told of what is asked of a session, and of what charges nothing. They are
	// ErrTimeout and ErrCanceled, too.
	errTimeoutSession = &Stopped{late: true, text: "the question reached the server's limit of time. What was charged for the session " +
		"stays charged, and that is a failure: where the door is closed by it, this dataset gives you no new answers until its owner has " +
		"released it"}
	errTimeoutFree = &Stopped{late: true, Free: true, text: "this reached the server's limit of time, and nothing was charged. Ask for " +
		"less, or ask again later: the server may be busy"}
	errCanceledFree = &Stopped{Free: true, text: "canceled on the user's request, and nothing was charged"}
	// ErrInternal: something is broken. What it was is not shown, because it could hold data.
	ErrInternal = errors.New("an internal error; nothing about it is shown, because it could hold data. What was charged stays charged. " +
		"Please report the question to the owner")
)

// Stopped is how a question ends that was stopped, by the owner's limit of time or by who asked. If
// the limit stops it after the charge it has failed, and that is an incident.
type Stopped struct {
	Free bool // it charges nothing, whatever comes of it
	late bool // by the limit
	text string
}

func (e *Stopped) Error() string { return e.text }

// Is says that all that the limit stops is ErrTimeout, and all else ErrCanceled.
func (e *Stopped) Is(target error) bool {
	other, ok := target.(*Stopped)
	return ok && e.late == other.late || e.late && target == api.ErrTimeLimit
}

// LimitError: too many questions, now or in this minute. Nothing was charged.
type LimitError struct {
	Reason string
	Wait   time.Duration // after which it is worth to try again
}

func (e *LimitError) Error() string { return e.Reason }

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
	var lockout *ledger.LockoutError
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
	case errors.As(err, &lockout):
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

// ledgerProblem is what the ledger says where it cannot be written or is damaged, or nil. Its words
// name files and records, and nothing of the data; analysts get others.
func ledgerProblem(err error) error {
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
	if endsSession(err) {
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
