package admission

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/problem"
	"github.com/discreet-dp/discreet/ledger"
)

// How a question can end without an answer, besides what [discreet.DB.Ask] says.
var (
	// ErrEnding: the server takes no more questions. Nothing was charged.
	ErrEnding = problem.New(problem.Problem{Kind: problem.Ending, Spent: problem.Nothing, Retry: retrySoon,
		Detail: "the server is shutting down, and nothing was charged; ask again when it is back"})
	// ErrOpening: the data is not open yet. Nothing was charged.
	ErrOpening = problem.New(problem.Problem{Kind: problem.Opening, Spent: problem.Nothing, Retry: retrySoon,
		Detail: "the data is still being opened, and nothing was charged; ask again in a while"})
	// ErrRevoked: who was let in may not ask any more. Nothing was charged.
	ErrRevoked = problem.New(problem.Problem{Kind: problem.Revoked, Spent: problem.Nothing,
		Detail: "your account was revoked, or its password was changed; nothing was charged; ask the owner of the data"})
	// ErrUnchecked: nobody knows whether they may. Nothing was charged.
	ErrUnchecked = problem.New(problem.Problem{Kind: problem.Unchecked, Spent: problem.Nothing, Retry: retrySoon,
		Detail: "nobody can be admitted now, because the users cannot be read; nothing was charged; ask again in a while"})
	// ErrNoSession: there is none of this name, or it is somebody else's.
	ErrNoSession = problem.New(problem.Problem{Kind: problem.NoSession, Spent: problem.Nothing,
		Detail: "there is no such session; it may have ended, or the server may have been restarted"})
	// ErrWithdrawn: it was canceled, or its client went away, before it had its turn. Nothing was
	// charged.
	ErrWithdrawn = problem.New(problem.Problem{Kind: problem.Withdrawn, Spent: problem.Nothing,
		Detail: "canceled on the user's request before its turn came, and nothing was charged"})
	// ErrInternal: something is broken. What it was is not shown, because it could hold data.
	ErrInternal = problem.New(problem.Problem{Kind: problem.Internal,
		Detail: "an internal error; nothing about it is shown, because it could hold data. What was charged stays charged. " +
			"Please report the question to the owner"})
	// ErrTimeout and ErrCanceled: it was stopped. What was charged before stays charged.
	ErrTimeout error = &Stopped{late: true, text: "the question reached the server's time limit. If it was charged by then, the charge " +
		"stays, and it counts as a failure: if that closes the dataset to you, you get no new answers until its owner has released it. " +
		"Then the same request is answered without a second charge"}
	ErrCanceled error = &Stopped{text: problem.CanceledDetail}
	// These are told of what is asked of a session, and of what charges nothing. They are
	// ErrTimeout and ErrCanceled, too.
	errTimeoutSession = &Stopped{late: true, text: "the question reached the server's time limit. What was charged for the session stays " +
		"charged, and it counts as a failure: if that closes the dataset to you, you get no new answers until its owner has released it"}
	errTimeoutFree = &Stopped{late: true, Free: true, text: "this reached the server's time limit, and nothing was charged. Ask for " +
		"less, or ask again later: the server may be busy"}
	errCanceledFree = &Stopped{Free: true, text: "canceled on the user's request, and nothing was charged"}
)

// retrySoon is when to ask again what could not be taken.
const retrySoon = 5 * time.Second

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

// Problem implements [problem.Describer].
func (e *Stopped) Problem() problem.Problem {
	p := problem.Problem{Kind: problem.Canceled, Detail: e.text}
	if e.late {
		p.Kind = problem.Timeout
	}
	if e.Free {
		p.Spent = problem.Nothing
	}
	return p
}

// LimitError: too many questions, now or in this minute. Nothing was charged.
type LimitError struct {
	Reason string
	Wait   time.Duration // after which it is worth to try again
}

func (e *LimitError) Error() string { return e.Reason }

// Problem implements [problem.Describer].
func (e *LimitError) Problem() problem.Problem {
	return problem.Problem{Kind: problem.Limited, Spent: problem.Nothing, Detail: e.Reason, Retry: e.Wait}
}

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

// outcomes are how questions end that have no answer, by why; what is not here has failed.
var outcomes = map[problem.Kind]outcome{
	problem.Priced: priced, problem.Disputed: disputed,
	problem.Refused: refused, problem.NoSession: refused, problem.NoModel: refused, problem.Revoked: refused, problem.Unchecked: refused,
	problem.Budget: exhausted, problem.StreamPart: exhausted, problem.Closed: closed, problem.Limited: limited,
	problem.Ending: ending, problem.Opening: opening, problem.Withdrawn: withdrawn, problem.Canceled: canceled, problem.Timeout: timeout,
	problem.Internal: internal,
}

func outcomeOf(err error) outcome { return cmp.Or(outcomes[problem.Of(err).Kind], failed) }

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
